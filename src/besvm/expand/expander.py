"""Samples to raw similarities: fitted measures with their bases, side by side."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from threading import Lock
from typing import Any

import numpy as np

from besvm._support.parameters import shown
from besvm._support.rows import items, n_rows, span, take
from besvm._support.sizes import bytes_each, bytes_of
from besvm._support.threads import n_workers, slices, thread_map
from besvm._support.validation import check_block
from besvm.blocks.estimates import PACKED
from besvm.blocks.plan import check_fits
from besvm.blocks.state import Values
from besvm.blocks.stores import rows_per_block
from besvm.expand.features import Samples
from besvm.expand.room import COPIES, in_parts, rows_of_work
from besvm.similarities.contract import Similarity
from besvm.similarities.pairs import first_of, moved, pair_of
from besvm.similarities.parts import PartSimilarity, Pieces
from besvm.similarities.variants import column_apart, variants_of


@contextmanager
def naming(label: str, n_measures: int) -> Iterator[None]:
    """Have an error name the measure whose samples are wrong, where there are others, or it looks at a column."""
    try:
        yield
    except (TypeError, ValueError) as error:
        alone = n_measures == 1 and not str(label).endswith("]")
        if alone or type(error) not in (TypeError, ValueError) or repr(label) in str(error):
            raise
        raise type(error)(f"{error} (measure {shown(label)})") from error


def saying(error: Exception, text: str) -> Exception:
    """Return an error of the same type that says this; of the base type, if its own takes something else."""
    with suppress(Exception):
        same = type(error)(text)
        if str(same) == text:
            return same
    return next(base for base in (TypeError, ValueError, RuntimeError) if isinstance(error, base))(text)


@dataclass
class FittedMeasure:
    """One measure with its basis: gives the raw similarities φ̃ of equation 3."""

    label: str
    similarity: Similarity
    exemplars: Any  # as the similarity wants them
    rows: np.ndarray | None  # of the training data; None for exemplars given outright
    transformer: int | None  # which of the expander's transformers comes first
    basis: int = -1  # -1 for the basis that measures share, else the place of the measure whose own it is
    places: np.ndarray | None = None  # in the list of exemplars given outright, where some have been dropped
    at: np.ndarray | None = None  # where in its row each exemplar begins that is a part of it
    originals: Any = None  # the exemplars before their features, where these are larger; None: not kept

    def __getstate__(self) -> dict[str, Any]:
        return {key: value for key, value in self.__dict__.items() if key not in ("_compare", "_once")}

    def described(self, features: Any, dtype: np.dtype[Any]) -> Any:
        """Return the originals behind their features."""
        one = bytes_of(features.transform(take(self.originals, [0])))
        check_fits("the features of the exemplars", one * n_rows(self.originals), None, "a machine with more")
        return in_dtype(self.similarity, in_parts(features, self.originals), dtype)

    def describe_later(self, features: Any, dtype: np.dtype[Any]) -> None:
        """Have the originals described when the exemplars are first asked for."""
        del self.exemplars
        self._behind = features, dtype

    def __getattr__(self, name: str) -> Any:
        if name == "exemplars":
            with vars(self).setdefault("_once", Lock()):  # one thread describes them, others that ask wait for it
                if "_behind" in vars(self):
                    self.exemplars = self.described(*self._behind)
                    del self._behind
            if name in vars(self):
                return vars(self)[name]
        raise AttributeError(f"a FittedMeasure has no {name!r}")

    @property
    def n_exemplars(self) -> int:
        """How many exemplars it has."""
        return n_rows(self.originals if "_behind" in vars(self) else self.exemplars)

    @property
    def width(self) -> int:
        """How many columns it gives: one for each exemplar, or several side by side."""
        return self.n_exemplars * self.similarity.columns_each

    @property
    def pieces(self) -> Pieces | None:
        """The exemplars that are parts of training rows, and where they come from; None if they are whole."""
        return None if self.at is None or self.rows is None else Pieces(self.exemplars, self.rows, self.at)

    @property
    def column_names(self) -> list[str]:
        """A name for every column: the exemplar, where in its row it begins, and the region it is looked for in."""
        names = [str(number) for number in self.numbers]
        if self.at is not None:
            names = [f"{name}@{','.join(map(str, place))}" for name, place in zip(names, self.at, strict=True)]
        if isinstance(self.similarity, PartSimilarity):
            names = [f"{name}_{column}" for name in names for column in self.similarity.column_names]
        return names

    @property
    def numbers(self) -> np.ndarray:
        """What the exemplars are called: their training rows, or their places in the list that was given."""
        if self.rows is not None:
            return self.rows
        return np.arange(self.n_exemplars) if self.places is None else self.places

    @property
    def of_known_rows(self) -> bool:
        """Whether ``rows`` are training rows: all columns of a precomputed matrix that is not square may be others."""
        return self.rows is not None and not (self.similarity.precomputed and self.basis != -1)

    def keep(self, columns: np.ndarray) -> FittedMeasure:
        """Return the measure with the exemplars where this mask is true: of one exemplar, for all columns or none."""
        mask = columns[:: self.similarity.columns_each]
        kept: dict[str, Any] = {"places" if self.rows is None else "rows": self.numbers[mask]}
        if self.at is not None:
            kept["at"] = self.at[mask]
        if self.originals is not None:
            kept["originals"] = take(self.originals, np.flatnonzero(mask))
        return replace(self, exemplars=take(self.exemplars, np.flatnonzero(mask)), **kept)

    def __call__(self, samples: Any, first_row: int | np.ndarray, dtype: Any = None) -> np.ndarray:
        """Return the similarity of every sample, as the similarity wants them, to every exemplar, checked.

        They come in ``dtype``, if one is given. Messages count from ``first_row``; samples that do not follow each
        other come with all their row numbers.
        """

        def name_pair(i: int | None, j: int | None) -> str:
            sample = [] if i is None else [first_row[i] if isinstance(first_row, np.ndarray) else first_row + i]
            exemplar = [] if j is None else [self.name_of(j // self.similarity.columns_each)]
            return " and ".join([*exemplar, *(f"sample {row}" for row in sample)])

        what = f"the similarity {self.label!r}"
        try:
            if "_compare" not in self.__dict__:  # packing the basis is worth doing once
                self._compare = self.similarity.against(self.exemplars)
            block = self._threaded(samples, what)
        except (RuntimeError, TypeError, ValueError) as error:
            pair = pair_of(error)
            first = 0 if isinstance(first_row, np.ndarray) else first_row + first_of(error)
            if pair is None and first == 0:
                raise
            where = f"in a block that starts at sample {first}" if pair is None else name_pair(*pair)
            raise saying(error, f"{error} ({where})") from error
        return check_block(block, (n_rows(samples), self.width), what, name_pair, dtype)

    def _threaded(self, samples: Any, what: str) -> Any:
        """Compare, on several threads where the similarity says that it can."""
        n, n_threads = n_rows(samples), n_workers()
        if not self.similarity.parallel or min(n, n_threads) < 2:
            return self._compare(samples)

        def compare(rows: slice) -> np.ndarray:
            try:
                block = self._compare(span(samples, rows))
            except (RuntimeError, TypeError, ValueError) as error:
                raise moved(error, rows.start) from error.__cause__
            return check_block(block, (rows.stop - rows.start, self.width), what)

        return np.concatenate(list(thread_map(compare, slices(n, -(-n // n_threads)))))

    def name_of(self, place: int) -> str:
        """Return what messages call the exemplar at ``place``."""
        return f"exemplar {place}" if self.rows is None else f"exemplar {place} (training row {self.rows[place]})"


@dataclass
class Expander:
    """Several fitted measures side by side; measures with equal features share the work of computing them."""

    transformers: list[Any]
    measures: list[FittedMeasure]
    dtype: np.dtype[Any]  # of the features, and of the numbers they are computed from
    row_bytes: int = 0  # that computing one row takes

    @property
    def groups(self) -> list[slice]:
        """The columns of each measure."""
        ends = np.cumsum(self.widths)
        return [slice(int(end) - width, int(end)) for width, end in zip(self.widths, ends, strict=True)]

    @property
    def widths(self) -> list[int]:
        """The number of columns of each measure."""
        return [measure.width for measure in self.measures]

    @property
    def width(self) -> int:
        """The number of columns in all."""
        return sum(self.widths)

    def to_file(self) -> dict[str, Any]:
        """Return what a file keeps: instead of described exemplars the originals, if they give the same again."""
        return vars(self) | {"measures": [self._compact(measure) for measure in self.measures]}

    def _compact(self, measure: FittedMeasure) -> FittedMeasure:
        again = None if measure.originals is None else self._described(measure)
        same = again is not None and again.dtype == measure.exemplars.dtype and np.array_equal(again, measure.exemplars)
        return replace(measure, exemplars=None) if same else measure

    def from_file(self) -> None:
        """Let exemplars of which the originals alone were kept be described when they are first asked for."""
        for measure in self.measures:
            if measure.exemplars is None and measure.transformer is not None:
                measure.describe_later(self.transformers[measure.transformer], self.dtype)

    def _described(self, measure: FittedMeasure) -> Any:
        assert measure.transformer is not None, "only features make exemplars larger than the originals"
        return measure.described(self.transformers[measure.transformer], self.dtype)

    def rows_each(self, X: Any) -> int:
        """Return how many of the samples X to compare at a time."""
        asked = [m.similarity.rows_per_block for m in self.measures if m.similarity.rows_per_block]
        fit = rows_of_work(max(self.row_bytes, COPIES * bytes_each(X)))
        return min([rows_per_block(self.width, self.dtype.itemsize), fit, *asked])

    @property
    def exemplar_bytes(self) -> int:
        """How many bytes the exemplars take, with what packing them makes."""
        return PACKED * sum(self._described_bytes(measure) for measure in self.measures)

    def _described_bytes(self, measure: FittedMeasure) -> int:
        own = bytes_of(measure.exemplars)
        similarity = measure.similarity
        if not (similarity.raw_exemplars and own):
            return own
        one = take(measure.exemplars, [0])  # raw, and to be described: each of its variants
        features = None if measure.transformer is None else self.transformers[measure.transformer]
        column, _ = column_apart(features)
        item = next(iter(items(one if column is None else column.transform(one))))
        n_variants = len(variants_of(item, getattr(similarity, "exemplar_variants", None), "exemplar_variants"))
        if features is not None:
            one = features.transform(one)
        return max(own, n_variants * measure.n_exemplars * bytes_of(one))

    def __call__(self, X: Any, first_row: int = 0) -> np.ndarray:
        """Return the raw similarities of the samples X, of shape (len(X), width)."""
        samples = Samples(X, self.transformers)
        out = np.empty((len(samples), self.width), dtype=self.dtype)
        for measure, columns in zip(self.measures, self.groups, strict=True):
            if measure.width:
                with naming(measure.label, len(self.measures)):
                    seen = samples.seen_by(measure.similarity, measure.transformer)
                    out[:, columns] = measure(in_dtype(measure.similarity, seen, self.dtype), first_row, self.dtype)
        return out

    def within_basis(self, X: Any, dtype: Any = np.float64) -> list[np.ndarray]:
        """Return the similarities within the basis, K_mm, of every measure; X are the training rows.

        With no ``dtype`` they come as the similarity returns them: its rounding is that of its own.
        """
        matrices = []
        for measure in self.measures:
            similarity, exemplars = measure.similarity, measure.exemplars
            if similarity.of_parts:
                raise ValueError(
                    f"the exemplars of {measure.label!r} are parts, which cannot be compared with one another; "
                    "use normalize='mean-norm' or 'z-score'"
                )
            if similarity.precomputed:
                seen = Samples(X, self.transformers).seen_by(similarity, measure.transformer)
                n, n_columns = seen.shape[:2]
                if n != n_columns:
                    raise ValueError(
                        f"precomputed similarities must be square ({n} x {n}) for this normalization, got {n} x "
                        f"{n_columns}; use another, or pass the whole matrix"
                    )
                samples = take(seen, exemplars)
            elif similarity.raw_exemplars:
                samples = Samples(exemplars, self.transformers).seen_by(similarity, measure.transformer)
            else:
                samples = exemplars
            samples = in_dtype(similarity, samples, self.dtype)
            matrices.append(measure(samples, measure.numbers, dtype))
        return matrices

    def basis_labels(self, labels: Values | None) -> list[np.ndarray]:
        """Return the class numbers of every measure's exemplars, given those of the training rows."""
        if labels is None:
            raise ValueError("balanced=True needs class labels; pass y, or use balanced=False")
        if any(measure.rows is None for measure in self.measures):
            raise ValueError(
                "the classes of exemplars passed as basis are unknown, but are needed here; pass row numbers instead"
            )
        known = zip((m.rows for m in self.measures), (m.similarity.columns_each for m in self.measures), strict=True)
        return [take(labels, rows).repeat(each) for rows, each in known if rows is not None]

    def labels_of_rows(self, labels: Values | None) -> list[np.ndarray | None]:
        """Return the labels of every measure's exemplars, given those of the training rows; None if not known."""
        rows = [m.rows if m.of_known_rows else None for m in self.measures]
        return [None if labels is None or own is None else take(labels, own) for own in rows]

    def whole(self, columns: np.ndarray) -> np.ndarray:
        """Return the mask that is true for all columns of an exemplar if the given one is for any."""
        masks = []
        for measure, group in zip(self.measures, self.groups, strict=True):
            each = measure.similarity.columns_each
            masks.append(columns[group].reshape(-1, each).any(axis=1).repeat(each))
        return np.concatenate(masks)

    def keep(self, columns: np.ndarray) -> Expander:
        """Return the expander of the columns where this mask is true; a measure left with none does no more work."""
        measures = [m.keep(columns[group]) for m, group in zip(self.measures, self.groups, strict=True)]
        shared: dict[Any, Any] = {}  # measures that shared their originals, and keep the same ones, share them still
        for old, new in zip(self.measures, measures, strict=True):
            if new.originals is not None:
                new.originals = shared.setdefault((id(old.originals), new.numbers.tobytes()), new.originals)
        return replace(self, measures=measures)

    @property
    def n_exemplars(self) -> int:
        """The number of different exemplars."""
        return n_different(self.measures)

    @property
    def labels(self) -> list[str]:
        """A name for every measure, no two alike."""
        labels = [measure.label for measure in self.measures]
        return [label if labels.count(label) == 1 else f"{label}.{place}" for place, label in enumerate(labels)]


def n_different(measures: list[FittedMeasure]) -> int:
    """Return the number of different exemplars."""
    return int(exemplar_of_columns(measures).max(initial=-1)) + 1


def exemplar_of_columns(measures: list[FittedMeasure]) -> np.ndarray:
    """Return the number, from 0 on, of the exemplar that each column belongs to; measures may share exemplars."""
    known: dict[tuple[int | None, int], int] = {}
    numbers = [np.empty(0, dtype=np.intp)]
    for measure in measures:  # rows of the training data are one set; every list of exemplars is a set of its own
        own = measure.rows is None or measure.similarity.of_parts
        named = np.arange(measure.n_exemplars) if measure.similarity.of_parts else measure.numbers
        basis = measure.basis if own else None
        each = [known.setdefault((basis, name), len(known)) for name in named.tolist()]
        numbers.append(np.repeat(np.array(each, dtype=np.intp), measure.similarity.columns_each))
    return np.concatenate(numbers)


def in_dtype(similarity: Similarity, X: Any, dtype: np.dtype[Any]) -> Any:
    """Return vectors in ``dtype`` for a similarity that takes any; anything else goes to its similarity as it is.

    Vectors of other similarities are made float64, where this is meant to save digits, but never float32.
    """
    may = similarity.any_float or (similarity.vectors and dtype == np.float64)
    floats = may and getattr(X, "dtype", None) in (np.float32, np.float64)
    return X.astype(dtype) if floats and X.dtype != dtype else X
