"""Training on shifted copies: what the paper tried instead of a similarity that shifts."""

from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils import Tags, get_tags
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from besvm._support.available import available_if
from besvm._support.parameters import atomic_fit, is_whole, shown
from besvm._support.progress import say
from besvm._support.rows import check_one_shape
from besvm._support.units import show_bytes
from besvm._support.validation import check_classes, check_weights
from besvm.blocks.plan import check_fits
from besvm.features import Shifts


def _inner_has(name: str) -> Any:
    def has(self: Any) -> bool:
        return hasattr(getattr(self, "estimator_", self.estimator), name)

    return has


@dataclass(eq=False, repr=False)
class JitteredClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Any classifier, trained on every displacement of the grid of cells by up to ``rigid`` cells.

    Samples are grids of descriptors, of shape (n, h, w, d), as ``FHOG`` gives them. Every training sample is repeated
    (2·rigid + 1)² times, moved as a whole as the rigid similarities move it: cells that leave the grid are lost, those
    that come in are zero. Samples to predict are taken as they are.

    Expect it to do harm where objects fill their images: on CIFAR-10 the paper found linear and kernel SVMs much worse
    for it, and put that down to the border (section "BE-SVM with Invariant Similarity Measures").

    Parameters
    ----------
    estimator : classifier
        If it takes vectors (:class:`besvm.LinearSVMClassifier`, a kernel SVM with "rbf", ...), the grids are flattened.
    rigid : int, default=1
        How many cells to move by, at most.
    memory_limit : int or str, optional
        Bytes, or text like "4 GB", that the expanded training set may take; by default 70 % of what is free.
    verbose : int, default=0
        1 says how large the expanded set is.

    Attributes
    ----------
    estimator_ : classifier
        Trained on the n·(2·rigid + 1)² samples: all of them unmoved first, then one displacement after the other.
    classes_ : ndarray

    Examples
    --------
    >>> import numpy as np
    >>> from besvm import LinearSVMClassifier
    >>> from besvm.baselines import JitteredClassifier
    >>> grids = np.zeros((4, 3, 3, 1))
    >>> grids[:2, 1, 1], grids[2:, 0, 1] = 1, -1  # what is in the middle: something, or nothing
    >>> model = JitteredClassifier(LinearSVMClassifier()).fit(grids, ["a", "a", "b", "b"])
    >>> model.estimator_.coef_.shape, model.predict(grids[1:3])
    ((1, 9), array(['a', 'b'], dtype='<U1'))
    """

    _inside: ClassVar[str] = "estimator_"  # what analyses look at
    _makes_rows: ClassVar[bool] = True  # so that the exemplars inside are no rows of the user's

    estimator: Any
    _: KW_ONLY
    rigid: int = 1
    memory_limit: int | float | str | None = None
    verbose: int = 0

    @atomic_fit
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Train the estimator on all displacements.

        Parameters
        ----------
        X : array of shape (n, h, w, d)
        y : array of shape (n,)
        sample_weight : array of shape (n,), optional
            What every sample, and every displacement of it, weighs in the loss.
        """
        _check_estimator(self.estimator, sample_weight)
        X = _check_grids(X)
        grid = X.shape[1:3]
        if not is_whole(self.rigid, 0) or self.rigid >= min(grid):
            raise ValueError(
                f"rigid must be a whole number from 0 to {min(grid) - 1} on a grid of {grid[0]} x {grid[1]} cells, "
                f"got {shown(self.rigid)}"
            )
        moves = Shifts(self.rigid).moves
        classes, labels = check_classes(X, y)
        weights = {}
        if sample_weight is not None:
            checked = check_weights(X, labels, classes, None, sample_weight, np.float64)
            weights["sample_weight"] = np.tile(checked, len(moves))
        need, size = len(moves) * X.nbytes, f"{len(moves)} times {len(X):,} samples"
        say(self.verbose, f"{size} take {show_bytes(need)}")
        check_fits(f"the jittered set of {size}", need, self.memory_limit)
        flat = bool(get_tags(self.estimator).input_tags.two_d_array)
        jittered = _shaped(_moved(X, moves), flat)
        self.estimator_ = clone(self.estimator).fit(jittered, np.tile(classes[labels], len(moves)), **weights)
        self.classes_, self._grid, self._flat = classes, X.shape[1:], flat
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Return the class of every sample."""
        return self._ask("predict", X)

    @available_if(_inner_has("decision_function"))
    def decision_function(self, X: Any) -> np.ndarray:
        """Return the decision values of the trained estimator."""
        return self._ask("decision_function", X)

    @available_if(_inner_has("predict_proba"))
    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the probabilities of the trained estimator."""
        return self._ask("predict_proba", X)

    def _ask(self, method: str, X: Any) -> np.ndarray:
        """Return what a method of the trained estimator says of the grids X."""
        check_is_fitted(self, "estimator_")
        X = _check_grids(X)
        if X.shape[1:] != self._grid:
            raise ValueError(f"grids must have the shape {self._grid} of the training samples, got {X.shape[1:]}")
        return getattr(self.estimator_, method)(_shaped(X, self._flat))

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.no_validation = True  # scikit-learn's checks have no grids to try
        return tags


def _check_estimator(estimator: Any, sample_weight: Any) -> None:
    parts = ("fit", "predict", "get_params", "__sklearn_tags__")
    if isinstance(estimator, type) or not all(hasattr(estimator, part) for part in parts):
        raise TypeError(
            f"estimator must be a scikit-learn classifier (an instance with fit and predict), got {shown(estimator)}"
        )
    if sample_weight is not None and not has_fit_parameter(estimator, "sample_weight"):
        raise TypeError(f"sample_weight must be None for a {type(estimator).__name__}, whose fit does not accept it")


def _check_grids(X: Any) -> np.ndarray:
    check_one_shape(X, "grids")
    try:
        X = np.asarray(X)
    except ValueError:  # NumPy's words for it are "inhomogeneous shape"
        raise ValueError(
            "X must hold grids of numbers, of shape (n, h, w, d), got lists of different lengths"
        ) from None
    if X.ndim != 4 or X.dtype.kind not in "fiub" or 0 in X.shape:
        raise ValueError(f"X must hold grids of numbers, of shape (n, h, w, d), got {X.dtype} of shape {X.shape}")
    X = X if X.dtype in (np.float32, np.float64) else X.astype(np.float64)
    if not np.isfinite(X).all():
        raise ValueError("X must be finite, got NaN or infinity")
    return X


def _moved(X: np.ndarray, moves: list[tuple[int, int]]) -> np.ndarray:
    """Return the grids under every move, of shape (moves · n, h, w, d)."""
    n, h, w, d = X.shape
    out = np.zeros((len(moves), n, h, w, d), dtype=X.dtype)
    for moved, (dy, dx) in zip(out, moves, strict=True):
        below, right = max(dy, 0), max(dx, 0)
        above, left = max(-dy, 0), max(-dx, 0)
        moved[:, below : h - above, right : w - left] = X[:, above : h - below, left : w - right]
    return out.reshape(-1, h, w, d)


def _shaped(grids: np.ndarray, flat: bool) -> np.ndarray:
    return grids.reshape(len(grids), -1) if flat else grids
