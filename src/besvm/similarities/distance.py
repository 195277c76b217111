"""From distance to similarity: one way for every distance."""

from abc import abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import clone

from besvm._support.parameters import check_choice, is_positive, shown
from besvm._support.rows import evenly_spaced, n_rows, take
from besvm.similarities.block_functions import BlockFunction
from besvm.similarities.compiled_functions import CompiledFunction, of_function
from besvm.similarities.contract import Similarity, register, registered
from besvm.similarities.functions import PairFunction
from besvm.similarities.match import Match
from besvm.similarities.metrics import NegativeDistance, distance_names

FUNCTIONS = (PairFunction, CompiledFunction, BlockFunction)  # which are called for the distances themselves
SCALE_ROWS = 100  # whose distances to each other tell the scale

Distances = Callable[[Any], np.ndarray]  # samples -> their distances to the exemplars, (samples, exemplars)


def _negative(d: np.ndarray) -> np.ndarray:
    return np.negative(d, out=d)


def _exponential(d: np.ndarray) -> np.ndarray:
    return np.exp(_negative(d), out=d)


def _gaussian(d: np.ndarray) -> np.ndarray:
    return _exponential(np.square(d, out=d))


def _inverse(d: np.ndarray) -> np.ndarray:
    d += 1
    return np.reciprocal(d, out=d)


def _logarithmic(d: np.ndarray) -> np.ndarray:
    return _negative(np.log1p(d, out=d))


HOW = {  # each with the share of the median distance that is its scale, if the data tell
    "negative": (_negative, 1.0),
    "exponential": (_exponential, 1.0),
    "gaussian": (_gaussian, 1.0),
    "inverse": (_inverse, 1.0),
    "log": (_logarithmic, 1 / 3),
}


class DistanceSimilarity(Similarity):
    """Abstract: a similarity that is made of a distance d, the farther the less alike.

    A subclass says in ``distances_to(basis)`` what the distances are, and has ``how`` and ``scale`` as parameters:
    with u = d / scale, "negative" is -u, "exponential" e^-u, "gaussian" e^-u², "inverse" 1 / (1 + u) and "log"
    -log(1 + u). A ``scale`` of "auto" is a share of the median distance between training samples.
    """

    symmetric: ClassVar[bool] = True
    how: str
    scale: float | str

    @abstractmethod
    def distances_to(self, basis: Any) -> Distances:
        """Pack ``basis`` and return the function that gives the distances of samples to it, in a new array."""

    def fit(self, X: Any, sample_weight: Any = None) -> Self:
        """Take the scale from the distances between some of the training samples; those of weight 0 do not count."""
        form_of(self)
        if isinstance(self.scale, str):
            if sample_weight is not None:
                X = take(X, np.flatnonzero(np.asarray(sample_weight) > 0))
            self.scale_ = HOW[self.how][1] * _median(self, evenly_spaced(X, SCALE_ROWS))
        return self

    def __call__(self, A: Any, B: Any) -> np.ndarray:
        return self.against(B)(A)

    def against(self, basis: Any) -> Distances:
        form, distances = form_of(self), self.distances_to(basis)
        scale = self.settled_scale()

        def similarities(A: Any) -> np.ndarray:
            d = distances(A)
            d /= d.dtype.type(scale)
            with np.errstate(over="ignore", under="ignore"):  # far away is infinitely far, and not alike at all
                return form(d)

        return similarities

    def settled_scale(self) -> float:
        """Return the scale that was given as a number, or else the one that was fitted."""
        if not isinstance(self.scale, str):
            return float(self.scale)
        if not hasattr(self, "scale_"):
            raise ValueError(
                f"{type(self).__name__}(scale='auto') needs the training rows to choose its scale; call fit(X) first, "
                "or set scale to a number"
            )
        return self.scale_


@register("from_distance")
class FromDistance(DistanceSimilarity):
    """A similarity made of any distance: by name, another similarity's distance, or a function of two items.

    Parameters
    ----------
    distance : str, DistanceSimilarity or callable, default="euclidean"
        A name ("dtw", "edit", or one of scikit-learn's distances between vectors, like "manhattan"), a similarity
        that is made of a distance (``DTW(window=0.1)``), or a function of an exemplar and a sample that returns a
        number >= 0 (or a ``BlockFunction`` of many of them).
    how : {"exponential", "gaussian", "inverse", "log", "negative"}, default="exponential"
        With u = d / scale: e^-u, e^-u², 1 / (1 + u), -log(1 + u), or -u.
    scale : float or "auto", default="auto"
        "auto" is the median distance between training samples, for "log" a third of it.

    Attributes
    ----------
    scale_ : float
        The scale taken from the training samples.
    distance_ : DistanceSimilarity
        The distance, where it takes anything else from the training samples.

    Examples
    --------
    >>> from besvm.similarities import FromDistance
    >>> FromDistance("manhattan", how="negative", scale=1)([[0.0, 0.0]], [[3.0, 4.0]])
    array([[-7.]])
    >>> FromDistance(lambda a, b: abs(a - b), how="inverse", scale=1)([1, 2], [2, 5])
    array([[0.5 , 0.2 ],
           [1.  , 0.25]])
    """

    def __init__(self, distance: Any = "euclidean", how: str = "exponential", scale: float | str = "auto") -> None:
        self.distance = distance
        self.how = how
        self.scale = scale

    def fit(self, X: Any, sample_weight: Any = None) -> Self:
        """Settle what the distance itself takes from the training samples, if anything, and then the scale."""
        self.__dict__.pop("distance_", None)
        inner = self._inner
        if isinstance(inner, DistanceSimilarity) and type(inner).fit is not DistanceSimilarity.fit:
            self.distance_ = clone(inner).fit(X, sample_weight)
        return super().fit(X, sample_weight)

    def distances_to(self, basis: Any) -> Distances:
        inner: Similarity = self.distance_ if hasattr(self, "distance_") else self._inner
        if isinstance(inner, DistanceSimilarity):
            return inner.distances_to(basis)
        compare = inner.against(basis)
        if isinstance(inner, FUNCTIONS):
            return lambda A: _checked(compare(A))
        return lambda A: np.negative(negative := compare(A), out=negative)

    def show(self, x: Any, b: Any) -> Match:
        return (self.distance_ if hasattr(self, "distance_") else self._inner).show(x, b)

    @property
    def _inner(self) -> Similarity:
        """What knows the distances: a similarity made of them, minus the distance, or the user's function."""
        distance = self.distance
        if isinstance(distance, str):
            known = registered().get(distance)
            if known is not None and issubclass(known, DistanceSimilarity):
                return known()
            if distance in distance_names():
                return NegativeDistance(distance)
        elif isinstance(distance, (DistanceSimilarity, NegativeDistance, *FUNCTIONS)):
            return distance
        elif callable(distance) and not isinstance(distance, (type, Similarity)):
            return of_function(distance)
        raise ValueError(
            "distance must be the name of a distance, a similarity based on a distance, or a function of two items, "
            f"got {shown(distance)}"
        )

    def _of_inner(self, flag: str) -> Any:
        try:
            return getattr(self._inner, flag)
        except ValueError:  # fit will say what is wrong with it
            return getattr(Similarity, flag)

    symmetric = property(lambda self: self._of_inner("symmetric"))
    vectors = property(lambda self: self._of_inner("vectors"))
    any_float = property(lambda self: self._of_inner("any_float"))
    needs_scaling = property(lambda self: self._of_inner("needs_scaling"))
    parallel = property(lambda self: self._of_inner("parallel"))
    rows_per_block = property(lambda self: self._of_inner("rows_per_block"))

    @property
    def label(self) -> str:
        return f"{self.how}({self._of_inner('label')})"

    def bytes_a_row(self, sample: int, n_exemplars: int) -> int | None:
        return self._inner.bytes_a_row(sample, n_exemplars)


def form_of(similarity: DistanceSimilarity) -> Callable[[np.ndarray], np.ndarray]:
    """Return what turns distances over the scale into similarities, in place; ``how`` and ``scale`` are checked."""
    check_choice("how", similarity.how, tuple(HOW))
    if not (is_positive(similarity.scale) or (isinstance(similarity.scale, str) and similarity.scale == "auto")):
        raise ValueError(f"scale must be a positive number or 'auto', got {shown(similarity.scale)}")
    return HOW[similarity.how][0]


def _median(similarity: DistanceSimilarity, X: Any) -> float:
    """Return the median distance between samples that differ; 1 if none do."""
    d = np.asarray(similarity.distances_to(X)(X), dtype=np.float64)[np.triu_indices(n_rows(X), 1)]
    d = d[(d > 0) & np.isfinite(d)]
    return float(np.median(d)) if len(d) else 1.0


def _checked(d: np.ndarray) -> np.ndarray:
    d = np.array(d, dtype=np.result_type(d, np.float32))  # the user's own array must stay as it is
    if (d < 0).any():
        raise ValueError(
            f"a distance must be at least 0, got {d.min():.3g}; if it is a similarity, use it without FromDistance"
        )
    return d
