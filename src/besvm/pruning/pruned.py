"""Fewer exemplars for a fitted model: how many, which, and what it costs."""

from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from besvm._support.parameters import check_choice, check_flag, is_number, is_whole, make_rng, shown
from besvm._support.public import public
from besvm._support.threads import n_workers, one_blas_thread, workers
from besvm._support.validation import check_classes, check_sample_weight, check_vectors, check_weights
from besvm._support.wrapped import unwrap
from besvm.basis.contract import check_size
from besvm.classifier import BESVMClassifier
from besvm.normalize import as_normalization
from besvm.pruning.curve import PruningCurve
from besvm.pruning.origin import are_rows_of
from besvm.pruning.ranking import ranked
from besvm.pruning.sizes import measured
from besvm.pruning.stage import Stage

SEEN = ("n_features_in_", "feature_names_in_", "_axes", "_vectors")  # what a model remembers of its input


@public("besvm")
def prune(
    model: Any,
    n: float | None,
    X: Any,
    y: Any,
    *,
    sample_weight: Any = None,
    max_loss: float | None = None,
    learn: str = "both",
    curve: bool = True,
    random: int = 0,
    random_state: Any = 0,
) -> BESVMClassifier:
    """Return a smaller model: keep the most useful exemplars of a fitted BE-SVM, and refit.

    Exemplars are dropped a few at a time, always those that the others can best replace, and the weights of those
    left are fitted so that the small model decides like the large one and y (or trained on y, ``learn="labels"``).

    Parameters
    ----------
    model : BESVMClassifier
        A fitted one, whatever its measures, normalization, penalty and classes; it stays as it is. Of a
        GreedySelection or a GridSearchCV, its best model.
    n : int, float or None
        How many exemplars to keep, or which share of them (0.5). An exemplar that several measures compare with
        counts once, and is kept for all of them or for none; a part of a row counts like a whole one. None: as few as
        ``max_loss`` allows.
    X : samples, as for ``fit``
        The rows to refit on: best those that the model was trained on. The similarities to all exemplars are computed
        once; features and similarities stay as they were settled.
    y : array of shape (n,)
        Their classes.
    sample_weight : array of shape (n,), optional
        What every row weighs, as in ``fit``.
    max_loss : float, optional
        Instead of ``n``: keep the fewest exemplars that lose at most this much accuracy on held-out rows (0.005).
    learn : {"both", "margins", "labels"}, default="both"
        What the smaller model is fitted to: "margins", those of the large one, by least squares; "labels", y, as
        ``fit`` does with these exemplars as basis; "both", the margins with three tenths of the labels (1 and -1) in
        them, which loses least where labels are noisy. An "l1" penalty and "ovo-pair-basis" always use the labels
        alone, and so does every model if the products of all features do not fit in memory.
    curve : bool, default=True
        Whether to measure what other numbers of exemplars would have cost; False takes about half the time.
    random : int, default=0
        How many random choices of as many exemplars to measure beside each point of the curve.
    random_state : int, RandomState or None, default=0
        Of the random choices; nothing else is left to chance.

    Returns
    -------
    BESVMClassifier
        With C as the model picked it, and a normalization learned anew. ``curve_`` is a
        :class:`besvm.pruning.PruningCurve`, or None with ``curve=False``. With an "l1" penalty it may have fewer
        exemplars than n, since those without weights are dropped. ``basis_rows_`` counts the rows that the model was
        first trained on.

    Examples
    --------
    >>> import besvm
    >>> from sklearn.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> model = besvm.BESVMClassifier("rbf", basis=200, C=1.0, random_state=0).fit(X[:900], y[:900])
    >>> small = besvm.prune(model, 50, X[:900], y[:900])
    >>> small.n_basis_, small.score(X[900:], y[900:]) > 0.9
    (50, True)
    >>> small.curve_.sizes[:3], small.curve_.accuracy[0] > 0.9
    ([200, 141, 100], True)
    """
    model = _checked_model(model)
    size = _wanted(n, max_loss, model.n_basis_)
    learn = _checked_way(learn, model)
    check_flag("curve", curve)
    _check_draws(random)
    rng = make_rng(random_state)
    stage = staged(model, X, y, sample_weight)
    with workers(model.n_jobs), _threads(), stage.opened():
        found = None
        if curve or size is None:
            found = measured(stage, learn, size, max_loss, random, rng)
            size = found.smallest(max_loss or 0.0) if size is None else size
        margins = stage.margins(model)
        kept = ranked(stage, margins, stage.weights, size)[:size]
        to = stage.targets(margins, learn) if size < model.n_basis_ else None
        pruned = stage.refitted(kept, to, getattr(model, "probability_slope_", None))
    for name in SEEN:
        if hasattr(model, name):
            setattr(pruned, name, getattr(model, name))
    pruned.basis_labels_ = _labels_of(pruned, model)
    pruned.curve_ = found
    return pruned


def _labels_of(pruned: Any, model: Any) -> list[np.ndarray | None]:
    """Return the classes of the exemplars that are left, as the model knew them."""
    labels: list[np.ndarray | None] = []
    before, after = (one._map.expander.measures for one in (model, pruned))
    for old, new, known in zip(before, after, model.basis_labels_, strict=True):
        by_row = {} if known is None else dict(zip(old.numbers.tolist(), range(len(known)), strict=True))
        labels.append(None if known is None else known[[by_row[row] for row in new.numbers.tolist()]])
    return labels


def pruning_curve(
    model: Any,
    X: Any,
    y: Any,
    *,
    sample_weight: Any = None,
    learn: str = "both",
    random: int = 0,
    random_state: Any = 0,
) -> PruningCurve:
    """Return what fewer exemplars would cost a fitted BE-SVM: its accuracy on held-out rows at ever smaller sizes.

    Parameters
    ----------
    model : BESVMClassifier
        A fitted one, as for :func:`besvm.prune`.
    X : samples, as for ``fit``
        Best those that the model was trained on.
    y : array of shape (n,)
        Their classes.
    sample_weight : array of shape (n,), optional
        What every row weighs, as in ``fit``.
    learn : {"both", "margins", "labels"}, default="both"
        What the smaller models are fitted to, as in :func:`besvm.prune`.
    random : int, default=0
        How many random choices of as many exemplars to measure beside each point.
    random_state : int, RandomState or None, default=0
        Of the random choices.

    Returns
    -------
    PruningCurve
        The accuracy at every size, to look at, to list and to draw.

    Examples
    --------
    >>> from besvm import BESVMClassifier
    >>> from besvm.pruning import pruning_curve
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = BESVMClassifier("rbf", basis=60, C=1.0, random_state=0).fit(X, y)
    >>> pruning_curve(model, X, y).sizes
    [60, 42, 30, 21, 15, 11, 8, 5, 4]
    """
    model = _checked_model(model)
    learn = _checked_way(learn, model)
    _check_draws(random)
    rng = make_rng(random_state)
    stage = staged(model, X, y, sample_weight)
    with workers(model.n_jobs), _threads(), stage.opened():
        return measured(stage, learn, None, None, random, rng)


def _threads() -> AbstractContextManager[None]:
    """Hold BLAS, which the products of all features are left to, to one thread where only one worker is asked for."""
    return nullcontext() if n_workers() > 1 else one_blas_thread()


def _checked_model(model: Any) -> BESVMClassifier:
    model = unwrap(model)
    if isinstance(model, Pipeline):
        raise TypeError(
            "prune needs a fitted BESVMClassifier, got a Pipeline; pass its last step, pipeline[-1], and X as the "
            "other steps give it, pipeline[:-1].transform(X)"
        )
    if not isinstance(model, BESVMClassifier):
        raise TypeError(f"prune needs a fitted BESVMClassifier, got a {type(model).__name__}")
    check_is_fitted(model, "coef_")
    if not model.n_basis_:
        raise ValueError("the model must have exemplars to choose from, but uses none; fit it with a larger C")
    return model


def _checked_way(learn: Any, model: BESVMClassifier) -> str:
    """Return what to learn from: of weights that must be sparse, or belong to pairs of classes, labels."""
    check_choice("learn", learn, ("both", "margins", "labels"))
    return "labels" if model.penalty == "l1" or model.multi_class == "ovo-pair-basis" else str(learn)


def _wanted(n: Any, max_loss: Any, there: int) -> int | None:
    """Return how many exemplars to keep of those that are there; None if the loss decides."""
    if (n is None) == (max_loss is None):
        raise ValueError(f"pass either n or max_loss, got n={shown(n)} and max_loss={shown(max_loss)}")
    if n is None:
        if not (is_number(max_loss) and 0 <= max_loss < 1):
            raise ValueError(
                f"max_loss must be a share of the rows between 0 and 1, such as 0.005, got {shown(max_loss)}"
            )
        return None
    check_size("n", n)
    if not is_whole(n):
        return max(1, round(n * there))
    if n > there:
        raise ValueError(f"n must be at most {there:,}, the number of exemplars in the model, got {n:,}")
    return int(n)


def _check_draws(random: Any) -> None:
    if not is_whole(random, 0):
        raise ValueError(f"random must be the number of random choices to measure, or 0 for none, got {shown(random)}")


def staged(model: BESVMClassifier, X: Any, y: Any, sample_weight: Any) -> Stage:
    """Check the rows, and return what there is to choose from."""
    X = check_vectors(model, X, model._vectors, reset=False)
    classes, labels = check_classes(X, y)
    _check_same_classes(classes, model.classes_)
    weights = check_weights(X, labels, classes, model.class_weight, sample_weight, np.float64)
    normalization = as_normalization(model.normalize)
    by_class = getattr(normalization, "balanced", False) or model.multi_class == "ovo-pair-basis"
    if by_class and not are_rows_of(model._map.expander, X):
        what = "multi_class='ovo-pair-basis'" if model.multi_class == "ovo-pair-basis" else f"{normalization!r}"
        raise ValueError(
            f"{what} needs the classes of the exemplars, which are known only from the rows that the model was "
            "trained on; pass those as X and y"
        )
    return Stage(
        clone(model).set_params(C=model.C_),
        model._map.expander,
        X,
        model.classes_,
        labels,
        weights,
        check_sample_weight(sample_weight, len(labels), np.float64),
    )


def _check_same_classes(given: np.ndarray, known: np.ndarray) -> None:
    new = [label for label in given.tolist() if label not in known.tolist()]
    if new:
        raise ValueError(
            f"y must have only classes that the model knows, got {new[0]!r}; fit a new model to include it"
        )
    without = [label for label in known.tolist() if label not in given.tolist()]
    if without:
        raise ValueError(f"y must have rows of every class of the model, got none of {without[0]!r}; add some")
