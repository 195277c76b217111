"""Similarities with latent variables: the best match over the variants of an exemplar and of a sample."""

from abc import abstractmethod
from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import clone

from besvm._support.parameters import shown
from besvm._support.rows import SETTLE_ROWS, evenly_spaced, items, n_rows
from besvm._support.sizes import some_described
from besvm._support.validation import check_block, described
from besvm.similarities.contract import Similarity, diagonal, name_of
from besvm.similarities.lookup import TunableSimilarity, resolve
from besvm.similarities.match import Match
from besvm.similarities.variants import (
    Variants,
    Worth,
    column_apart,
    together,
    total,
    totals,
    variant_groups,
    variants_of,
)

GROUP_BYTES = 1 << 26  # of variants, by which a block of samples is cut: there may be dozens of each sample

Update = Callable[[np.ndarray, Worth, Worth], None]  # (K_I, worth of the exemplars, worth of the samples)


@dataclass(frozen=True, eq=False)
class LatentAlignment:
    """Which variants of a sample x and an exemplar y were compared: what the maximum chose.

    Attributes
    ----------
    score : float
        The similarity, s(x, y).
    exemplar_variant : int
        z_b, the place of the chosen one among the exemplar's variants.
    sample_variant : int
        z_x, the same for the sample's.
    inner : Alignment, LatentAlignment or None
        How the inner similarity laid the one over the other, where it can tell.

    Examples
    --------
    >>> import numpy as np
    >>> from besvm.similarities import Latent
    >>> forwards_or_backwards = Latent("linear", exemplar_variants=lambda v: [v, v[::-1]])
    >>> forwards_or_backwards.alignment(np.array([3.0, 0.0]), np.array([1.0, 2.0])).exemplar_variant
    1
    """

    score: float
    exemplar_variant: int
    sample_variant: int
    inner: Any


class VariantSimilarity(TunableSimilarity, Similarity):
    """Abstract: an inner similarity K_I of the variants that K_I + worth(z_b) + worth(z_x) is largest for.

    The variants are made of the raw items; the features of a Measure (:meth:`behind`) come after them. Samples that
    have no variants come to :meth:`against` with their features already computed, which other measures then share.
    """

    raw_exemplars = True
    column_: Any = None  # what chooses the column of a record that the variants are made of
    features_: Any = None  # what describes the variants
    worth_counts: ClassVar[bool] = True  # whether the similarity is K_I and the worth of the variants, or K_I alone

    def __init__(
        self, similarity: Any, *, exemplar_variants: Variants | None = None, sample_variants: Variants | None = None
    ) -> None:
        self.similarity = similarity
        self.exemplar_variants = exemplar_variants
        self.sample_variants = sample_variants

    @abstractmethod
    def _worth(self, side: str, inner: Similarity, variants: Any, order: np.ndarray) -> Worth:
        """Return what choosing each of ``variants`` adds; ``order`` says which variant of its item each one is."""

    @abstractmethod
    def _update(self, out: np.ndarray) -> Update:
        """Return the function that takes K_I of one more pair of variants into account in ``out``."""

    @property
    def symmetric(self) -> bool:  # type: ignore[override]
        """Whether s(b, x) = s(x, b): if the inner similarity is, and both sides have the same variants."""
        return resolve(self.similarity).symmetric and self._same_sides()

    @property
    def psd(self) -> bool:  # type: ignore[override]
        """Whether every Gram matrix is positive semi-definite: not as soon as there is something to choose."""
        return resolve(self.similarity).psd and self._no_choice()

    @property
    def label(self) -> str:
        """The inner label, the exemplar's variants and, behind another bar, the sample's: "rigid|mirror"."""
        both = self.exemplar_variants, self.sample_variants
        names = ["" if make is None else name_of(make, "variants").lower() for make in both]
        return "|".join([resolve(self.similarity).label, *names]).rstrip("|")

    @property
    def raw_samples(self) -> bool:  # type: ignore[override]
        return self.sample_variants is not None

    @property
    def settles_on_sources(self) -> bool:  # type: ignore[override]
        behind = self.features_ is not None
        return self.column_ is None and (behind or self._inner(fitted=False).settles_on_sources)

    def behind(self, features: Any) -> Self:
        bound = copy(self)
        bound.column_, bound.features_ = column_apart(features)
        return bound

    def column_of(self, X: Any) -> Any:
        """Return what of the raw items the variants are made of: the column of records, or all of them."""
        return X if self.column_ is None else described(self.column_, X)

    def bytes_a_row(self, sample: int, n_exemplars: int) -> int | None:
        if self.raw_samples:
            return None  # who knows how many variants there are
        inner = self._inner().bytes_a_row(sample, n_exemplars)
        return None if inner is None else inner + 24 * n_exemplars

    def fit(self, X: Any) -> Self:
        """Fit the inner similarity on the unmodified samples X, as the features describe them."""
        inner = self._inner(fitted=False)
        if inner.settles:
            X = self.column_of(X)
            some = X if self.features_ is None else some_described(self.features_, X)
            inner = clone(inner).fit(some)
        self.similarity_ = inner
        return self

    def __call__(self, A: Any, B: Any) -> np.ndarray:
        if not self.raw_samples:
            A = self.column_of(A)
            A = A if self.features_ is None else described(self.features_, A)
        return self.against(B)(A)

    def against(self, basis: Any) -> Callable[[Any], np.ndarray]:
        """Return the function that compares samples with the raw basis, whose variants are made and packed once."""
        inner = self._inner()
        packed = [
            (inner.against(variants), worth)
            for _, choices in variant_groups(self.column_of(basis), self.exemplar_variants, "exemplar_variants", np.inf)
            for variants, worth in (self._described("exemplar", *choice, inner, self.features_) for choice in choices)
        ]
        features = self.features_ if self.raw_samples else None
        n_basis = n_rows(basis)

        def similarities(A: Any) -> np.ndarray:
            out: np.ndarray | None = None
            A = self.column_of(A) if self.raw_samples else A
            for rows, choices in variant_groups(A, self.sample_variants, "sample_variants", GROUP_BYTES):
                update: Update | None = None
                for variants, worth in (self._described("sample", *choice, inner, features) for choice in choices):
                    for compare, exemplar_worth in packed:
                        K = check_block(compare(variants), (rows.stop - rows.start, n_basis), "the inner similarity")
                        if out is None:  # only now is it known how exact K_I is
                            out = np.empty((n_rows(A), n_basis), dtype=np.result_type(K, np.float32))
                        update = update or self._update(out[rows])
                        update(K, exemplar_worth, worth)
                        del K  # else there would be three matrices while the next one is computed
            assert out is not None, "there is always a group of rows, and a variant in it"
            return out

        return similarities

    def alignment(self, x: Any, y: Any) -> LatentAlignment:
        """Return which variants of the sample x and of the exemplar y are compared; of equally good ones, the first.

        Where a measure compares a column of records, x and y are values of that column.
        """
        inner = self._inner()

        def varied(item: Any, side: str) -> tuple[Any, Worth]:
            several = variants_of(item, getattr(self, f"{side}_variants"), f"{side}_variants")
            return self._described(side, together(several), np.arange(len(several)), inner, self.features_)

        (of_x, worth_x), (of_y, worth_y) = varied(x, "sample"), varied(y, "exemplar")
        K = np.asarray(inner(of_x, of_y))  # (variants of x, variants of y)
        worth = total(K, worth_y, worth_x)
        z_x, z_y = (int(z) for z in np.unravel_index(np.argmax(worth), K.shape))
        align = getattr(inner, "alignment", None)
        return LatentAlignment(
            score=float((worth if self.worth_counts else K)[z_x, z_y]),
            exemplar_variant=z_y,
            sample_variant=z_x,
            inner=None if align is None else align(of_x[z_x], of_y[z_y]),
        )

    def show(self, x: Any, b: Any) -> Match:
        found, inner = self.alignment(x, b), self._inner()
        chosen, notes = [], []
        for side, item, z in (("sample", x, found.sample_variant), ("exemplar", b, found.exemplar_variant)):
            make = getattr(self, f"{side}_variants")
            variant = variants_of(item, make, f"{side}_variants")[z]
            seen, _ = self._described(side, together([variant]), np.array([z]), inner, self.features_)
            chosen.append((variant, seen))
            if z:
                name = name_of(make, "its variants").lower()
                notes.append(f"{side} in the mirror" if name == "mirror" else f"{side}: number {z} of {name}")
        (of_x, seen_x), (of_b, seen_b) = chosen
        within = inner.show(next(iter(items(seen_x))), next(iter(items(seen_b))))
        return replace(
            within,
            caption=", ".join([*notes, *filter(None, [within.caption])]),
            sample=of_x if found.sample_variant else None,
            exemplar=of_b if found.exemplar_variant else None,
        )

    def _inner(self, fitted: bool = True) -> Similarity:
        inner = resolve(self.similarity)
        if inner.precomputed:
            raise ValueError(
                f"similarity must compare variants of the samples, but {inner!r} never sees a sample; "
                "precompute the maximum over the variants instead"
            )
        return self.similarity_ if fitted and hasattr(self, "similarity_") else inner

    def _same_sides(self) -> bool:
        return bool(self.exemplar_variants == self.sample_variants)

    def _no_choice(self) -> bool:
        return self.exemplar_variants is None and self.sample_variants is None

    def _described(
        self, side: str, variants: Any, order: np.ndarray, inner: Similarity, features: Any
    ) -> tuple[Any, Worth]:
        """Return some variants as the inner similarity compares them, and what choosing them adds."""
        if features is not None:
            variants = described(features, variants)
        return variants, self._worth(side, inner, variants, order)


class Latent(VariantSimilarity):
    """The best match over latent variables of both items (equation 7 of the paper, whole).

    s(b, x) = max over z_b, z_x of K_I(φ(b, z_b), φ(x, z_x)) + R(z_b) + R(z_x), where z_b goes through the variants
    of the exemplar b and z_x through those of the sample x.

    Every variant is made and described once, those of the basis once for all samples; the inner similarity is computed
    once for each pair of variants. In a :class:`besvm.Measure` with features, raw items are varied first and described
    then: images are mirrored before their HOG cells are computed.

    Parameters
    ----------
    similarity : str, Similarity or callable
        K_I, the inner similarity: anything that :func:`resolve` takes.
    exemplar_variants, sample_variants : callable, optional
        A function of ONE sample that returns a sequence of its variants, usually the sample itself first (see
        :mod:`besvm.features`). Samples may have different numbers of them. By default only the sample itself.
    exemplar_penalty, sample_penalty : sequence of float, optional
        R(z): a number for each variant, in their order. It is added, so it is usually 0 or less. By default 0.

    Attributes
    ----------
    similarity_ : Similarity
        The inner similarity with its data-derived parameters settled (on at most 5,000 rows, if there are features).
    features_ : transformer or None
        φ, the fitted features of the measure.

    Notes
    -----
    Where the inner similarity does not change if *both* items are mirrored, mirroring one of them is enough:
    K(b', x') = K(b, x) and K(b, x') = K(b', x), so the four pairs hold two values. Mirror the exemplars only:
    they are few and prepared once, while the features of the samples are then computed once, as without variants, for
    all measures that share them.

    Examples
    --------
    >>> import numpy as np
    >>> from besvm.features import mirror
    >>> from besvm.similarities import Latent
    >>> image = np.array([[0.0, 1.0, 3.0]])
    >>> mirrored = Latent("linear", exemplar_variants=mirror, exemplar_penalty=[0, -0.5])
    >>> mirrored(np.array([image, image[:, ::-1]]), np.array([image]))
    array([[10. ],
           [ 9.5]])
    >>> mirrored.label
    'linear|mirror'
    """

    def __init__(
        self,
        similarity: Any,
        *,
        exemplar_variants: Variants | None = None,
        sample_variants: Variants | None = None,
        exemplar_penalty: Sequence[float] | np.ndarray | None = None,
        sample_penalty: Sequence[float] | np.ndarray | None = None,
    ) -> None:
        super().__init__(similarity, exemplar_variants=exemplar_variants, sample_variants=sample_variants)
        self.exemplar_penalty = exemplar_penalty
        self.sample_penalty = sample_penalty

    def fit(self, X: Any) -> Self:
        for side in ("exemplar", "sample"):
            penalty = self._penalty(side)
            if penalty is None:
                continue
            most = 0
            for item in items(
                self.column_of(evenly_spaced(X, SETTLE_ROWS))
            ):  # one is enough, unless their numbers differ
                most = max(most, len(variants_of(item, getattr(self, f"{side}_variants"), f"{side}_variants")))
                if most >= len(penalty):
                    break
            if most != len(penalty):
                raise _wrong_length(side, penalty, most)
        return super().fit(X)

    def _same_sides(self) -> bool:
        return super()._same_sides() and np.array_equal(self.exemplar_penalty, self.sample_penalty)  # type: ignore[arg-type]

    def _no_choice(self) -> bool:
        return super()._no_choice() and self.exemplar_penalty is None and self.sample_penalty is None

    def _penalty(self, side: str) -> Worth:
        given = getattr(self, f"{side}_penalty")
        if given is None:
            return None
        try:
            penalty = np.asarray(given, dtype=np.float64)
        except (TypeError, ValueError, OverflowError):
            penalty = np.empty(0)
        if penalty.ndim != 1 or penalty.size == 0 or not np.isfinite(penalty).all():
            raise ValueError(
                f"{side}_penalty must be a list of finite numbers, one for each variant, got {shown(given)}"
            )
        return penalty

    def _worth(self, side: str, inner: Similarity, variants: Any, order: np.ndarray) -> Worth:
        penalty = self._penalty(side)
        if penalty is None:
            return None
        if order.max(initial=0) >= len(penalty):
            raise _wrong_length(side, penalty, int(order.max()) + 1)
        return penalty[order]

    def _update(self, out: np.ndarray) -> Update:
        out.fill(-np.inf)

        def update(K: np.ndarray, exemplar_worth: Worth, sample_worth: Worth) -> None:
            if exemplar_worth is None and sample_worth is None:
                np.maximum(out, K, out=out)
                return
            for rows, sums in totals(K, exemplar_worth, sample_worth):
                np.maximum(out[rows], sums, out=out[rows])

        return update


class Jitter(VariantSimilarity):
    """The inner similarity of the two variants that lie nearest, as in the jitter kernels of [1]_.

    s(b, x) = K_I(φ(b, z_b), φ(x, z_x)) for the z_b and z_x of the smallest d² = K_I(b_z, b_z) - 2 K_I(b_z, x_z) +
    K_I(x_z, x_z), of equally near ones the first. The paper argues for :class:`Latent` instead, which does without
    a metric; the two agree where all variants of an item have the same K_I(z, z).

    Parameters
    ----------
    similarity : str, Similarity or callable
        K_I, usually a positive definite kernel: else d² is not a distance.
    exemplar_variants, sample_variants : callable, optional
        As in :class:`Latent`, and so are the attributes.

    References
    ----------
    .. [1] DeCoste, Schölkopf. Training Invariant Support Vector Machines. Machine Learning 46, 2002.

    Examples
    --------
    >>> import numpy as np
    >>> from besvm.similarities import Jitter, Latent
    >>> def or_tenfold(x):
    ...     return [x, 10 * x]
    >>> x = np.array([[1.0, 1.0]])
    >>> Latent("linear", exemplar_variants=or_tenfold)(x, x), Jitter("linear", exemplar_variants=or_tenfold)(x, x)
    (array([[20.]]), array([[2.]]))
    """

    worth_counts = False

    @property
    def label(self) -> str:
        return f"jitter({super().label})"

    def _same_sides(self) -> bool:
        return self._no_choice()  # of two equally near pairs the first need not be the same seen from the other side

    def _worth(self, side: str, inner: Similarity, variants: Any, order: np.ndarray) -> Worth:
        # d² is smallest where K_I - K_I(b_z, b_z) / 2 - K_I(x_z, x_z) / 2 is largest.
        return -diagonal(inner, variants) / 2

    def _update(self, out: np.ndarray) -> Update:
        out.fill(np.nan)
        best = np.full_like(out, -np.inf)

        def update(K: np.ndarray, exemplar_worth: Worth, sample_worth: Worth) -> None:
            for rows, sums in totals(K, exemplar_worth, sample_worth):
                broken = np.isnan(sums)  # stays, to be seen and refused
                better = (sums > best[rows]) | broken
                np.copyto(best[rows], sums, where=better)
                np.copyto(out[rows], np.where(broken, np.nan, K[rows]), where=better)

        return update


def _wrong_length(side: str, penalty: np.ndarray, most: int) -> ValueError:
    return ValueError(
        f"{side}_penalty must hold a number for each variant, got {len(penalty)} for samples of up to {most} variants"
    )
