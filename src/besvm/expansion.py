"""Turn samples into their normalized similarities to a basis."""

from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from besvm._support.parameters import atomic_fit, make_rng
from besvm._support.public import public
from besvm._support.rows import SETTLE_ROWS, evenly_spaced
from besvm._support.threads import workers
from besvm._support.validation import check_vectors, forget, labels_or_none
from besvm.blocks.fill import filled
from besvm.expand import fit_expander, learn_feature_map, mark_input
from besvm.expand.precision import float32_holds
from besvm.measures import TunableMeasures, as_measures, compares_vectors
from besvm.normalize import as_normalization


@public("besvm")
@dataclass(eq=False, repr=False)
class BasisExpansion(TunableMeasures, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Features from similarities: φ(x) = normalize([s(b₁, x), ..., s(b_B, x)]), one or several measures side by side.

    Equations 3 and 4 of the paper, as a scikit-learn transformer: the first half of
    :class:`BESVMClassifier`. X is never coerced: anything with a length and slices will do, as long as the similarity
    can compare its items.

    Parameters
    ----------
    measures : str, Similarity, callable, Measure, a list of these, or of (name, measure) pairs, default="rbf"
        A registered name, an instance, a function ``f(exemplar, sample)``, or the paper's shorthand ("H8R").
    basis : default="auto"
        "auto" (at most 1,000 random rows, classes balanced), a number of random rows (all, with a warning, where there
        are fewer), a share of them such as 0.1, row numbers, a selector such as
        ``IndexBasis(per_class=100)``, your own function ``(X, y, similarity, rng) -> rows``, or the exemplars
        themselves (wrap them in ``Exemplars`` where they could be mistaken for row numbers). Shared by all measures
        that have none of their own.
    normalize : {"mean-norm", "z-score", None} or Normalization, default="mean-norm"
        "mean-norm" centers the features and divides them by the mean norm of the centered rows, each measure for
        itself. ``Nystrom(...)`` decorrelates them by the similarities within the basis, and
        ``MeanNorm(balanced=True)`` weighs the exemplars so that every class contributes equally.
    n_jobs : int, optional
        Threads (processes, for a Python function); by default all that BLAS may use. A Similarity of your own is called
        by several threads if its flag ``parallel`` is set, otherwise by one.
    random_state : int, RandomState or None, default=None
        Controls the random choice of exemplars. Pass an int for reproducible results.
    verbose : int, default=0
        0: a progress bar, in a terminal only. 1: messages as well, also outside a terminal.

    Attributes
    ----------
    basis_rows_ : list of ndarray or None
        For every measure, the training rows that are its exemplars; None if they were given outright.
    basis_parts_ : list of Pieces or None
        For every measure whose exemplars are parts of training rows: the pieces, and where they come from.
    basis_labels_ : list of ndarray or None
        For every measure, the classes of its exemplars, where ``fit`` was given any.
    similarities_ : list of Similarity
        Of every measure, with its data-derived parameters settled.
    mean_, scale_ : ndarray of shape (D,)
        The learned normalization, where it shifts and scales every feature by itself.

    Examples
    --------
    >>> from besvm import BasisExpansion, LinearSVMClassifier
    >>> from sklearn.datasets import load_digits
    >>> from sklearn.pipeline import make_pipeline
    >>> X, y = load_digits(return_X_y=True)
    >>> pipe = make_pipeline(BasisExpansion("rbf", basis=200, random_state=0), LinearSVMClassifier())
    >>> bool(pipe.fit(X[:900], y[:900]).score(X[900:], y[900:]) > 0.93)
    True
    """

    measures: Any = "rbf"
    _: KW_ONLY
    basis: Any = "auto"
    normalize: Any = "mean-norm"
    n_jobs: int | None = None
    random_state: Any = None
    verbose: int = 0

    def fit(self, X: Any, y: Any = None) -> Self:
        """Choose the basis and learn the normalization from the rows of X."""
        self._fit(X, y)
        return self

    def fit_transform(self, X: Any, y: Any = None) -> np.ndarray:
        """Fit, and return the features of X; the similarities are computed once."""
        return self._fit(X, y)

    @atomic_fit
    def _fit(self, X: Any, y: Any) -> np.ndarray:
        normalization = as_normalization(self.normalize)
        measures = as_measures(self.measures)
        vectors = compares_vectors(measures)
        X = check_vectors(self, X, vectors, by_blocks=True)
        labels = labels_or_none(X, y)
        with workers(self.n_jobs):
            expander = fit_expander(X, labels, measures, self.basis, make_rng(self.random_state))
            with filled(expander, X, "memory", self.verbose) as blocks:
                self._map = learn_feature_map(expander, blocks, normalization, X, labels)
        self._vectors = vectors
        self.similarities_ = [measure.similarity for measure in expander.measures]
        self.basis_rows_ = [measure.rows for measure in expander.measures]
        self.basis_parts_ = [measure.pieces for measure in expander.measures]
        self.basis_labels_ = expander.labels_of_rows(labels)
        forget(self, "mean_", "scale_")
        for name, value in self._map.normalizer.learned().items():
            setattr(self, name, value)
        some = evenly_spaced(blocks.matrix, SETTLE_ROWS)
        self._dtype = np.dtype(np.float32 if float32_holds(some, some) else np.float64)
        return self._given(blocks.matrix)

    def transform(self, X: Any) -> np.ndarray:
        """Return the normalized similarities of X to the basis, of shape (len(X), D), in float32.

        Where float32 could not tell the training rows apart, or square their features, they come in float64.
        """
        check_is_fitted(self, "similarities_")
        X = check_vectors(self, X, self._vectors, reset=False, by_blocks=True)
        with workers(self.n_jobs), filled(self._map.expander, X, "memory", self.verbose) as blocks:
            self._map.normalizer.apply(blocks)
        return self._given(blocks.matrix)

    def _given(self, features: np.ndarray) -> np.ndarray:
        with np.errstate(over="ignore", invalid="ignore"):
            out = features.astype(self._dtype, copy=False)
            finite = np.isfinite(out.sum()) or np.isfinite(out).all()
        if not finite:
            row, column = np.argwhere(~np.isfinite(out))[0]
            raise ValueError(
                f"features must be finite in {self._dtype}, got {features[row, column]:g} for sample {row}; "
                "include samples of that magnitude when you fit, or divide all samples by a constant"
            )
        return out

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Return the feature names: the measure's label and the exemplar's training row.

        Nyström features are mixtures of exemplars, and numbered.
        """
        check_is_fitted(self, "similarities_")
        return self._map.names()

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        mark_input(tags, self.measures, self.basis)
        tags.transformer_tags.preserves_dtype = ["float32"]
        return tags
