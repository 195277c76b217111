"""Explain the decision for one sample."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy.sparse import issparse
from scipy.special import expit, softmax

from besvm._support.extras import optional
from besvm._support.parameters import check_count, shown
from besvm._support.public import public
from besvm._support.rows import axes_of, n_rows
from besvm.explanations.additive import Parts, taken_apart
from besvm.explanations.contribution import Contribution
from besvm.explanations.exemplars import Basis
from besvm.explanations.explanation import Explanation
from besvm.explanations.models import Block, Reading, read_model
from besvm.explanations.pairs import Pairs


@public("besvm")
def explain(
    model: Any, sample: Any, *, classes: Any = None, top: int | None = None, training: Any = None
) -> Explanation:
    """Explain why a model decides as it does for one sample: which exemplars pulled toward which class, and how much.

    A BE-SVM decides by a sum: every exemplar's feature φ_j (how similar the sample is to it, normalized) times a weight
    for each class, and an intercept. These products are the contributions. With the normalizations "mean-norm" (the
    default) and "z-score", φ_j counts from the average training sample: an exemplar that the sample is as similar to as
    samples usually are adds nothing, and being *less* similar than usual to an exemplar of another class speaks for
    one's own. Without a normalization, and with ``Nystrom``, it counts from a similarity of 0; Nyström's mixture is
    multiplied into the weights, so that its contributions belong to exemplars too. An exemplar that several measures
    use has a contribution for each.

    Parameters
    ----------
    model : estimator
        A fitted BESVMClassifier, a pipeline that ends in one, or in a BasisExpansion and a LinearSVMClassifier; or a
        search over such models.
    sample : object
        A single sample, of the kind that ``predict`` takes a list or an array of.
    classes : label or list of labels, optional
        Which classes to explain, the one to look at first; by default all, with the predicted one in focus.
    top : int, optional
        How many contributions to list, the largest for the class in focus; what the others add is in ``rest``.
    training : the samples that the model was fitted on, optional
        Exemplars are then shown as they were, and not as what their features tell of them.

    Returns
    -------
    Explanation
        What every exemplar adds to every class, to look at, to list and to draw.

    Examples
    --------
    >>> import besvm
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = besvm.BESVMClassifier("rbf", basis=20, C=1.0, random_state=0).fit(X, y)
    >>> why = besvm.explain(model, X[0])
    >>> why.prediction, len(why.contributions)
    (0, 20)
    >>> [one.label for one in why.towards(0, top=3)]
    [0, 0, 0]
    """
    reading = read_model(model)
    return explain_row(reading, one_row(reading, sample), classes=classes, top=top, training=training)


def explain_row(
    reading: Reading, X: Any, *, classes: Any = None, top: int | None = None, training: Any = None, first_row: int = 0
) -> Explanation:
    """Explain the decision for the only sample in X; all else as in :func:`besvm.explain`.

    Training rows are called by their numbers, of which ``first_row`` is the first.
    """
    if top is not None:
        top = check_count("top", top)
    explained = _chosen(reading.classes, classes)
    prepared = reading.prepared(X)
    basis = Basis(reading, first_row)
    (block,) = reading.blocks(prepared)
    parts = taken_apart(reading, basis, block)
    best = int(block.decision[0, 1] > 0) if len(reading.classes) == 2 else int(block.decision[0].argmax())
    focus = best if classes is None else explained[0]
    every = [_plain_label(c) for c in reading.classes]
    of_classes = _by_class(every, explained)
    chances = _probability(reading, block)
    pairs = Pairs(reading, basis, dict(zip(every, parts.columns.T, strict=True)), prepared, training)
    out = Explanation(
        prediction=every[best],
        classes=[every[c] for c in explained],
        decision=of_classes(block.decision[0]),
        probability=None if chances is None else of_classes(chances),
        contributions=_contributions(reading, basis, block, parts, of_classes, focus),
        focus=every[focus],
        rest=of_classes(np.zeros(len(every))),
        constant=of_classes(parts.constant),
        rounding=of_classes(parts.rounding),
        votes=None if parts.votes is None else of_classes(parts.votes),
        measures={
            name: of_classes(parts.contributions[basis.measure == number].sum(axis=0))
            for number, name in enumerate(basis.names)
        },
        n_exemplars=len(basis),
        pairs=pairs,
        sample=X,
    )
    return out if top is None else out.top(top)


def one_row(reading: Reading, sample: Any) -> Any:
    """Return a single sample as an array, a list or a frame that holds it alone."""
    shape = getattr(sample, "shape", None)
    if hasattr(sample, "iloc") or issparse(sample):
        if len(shape or ()) == 2 and shape[0] == 1:  # type: ignore[index]
            return sample
        if hasattr(sample, "to_frame"):  # a row of a frame, or a series of numbers
            return [sample] if reading.estimator._vectors == "series" else sample.to_frame().T.infer_objects()
        raise ValueError(
            f"explain takes a single sample, got {n_rows(sample)} rows; choose one, as in X[5:6] or X.iloc[[5]], or "
            "use besvm.explanations.explain_many"
        )
    if isinstance(sample, Mapping) and reading.estimator._axes[:1] == [1]:  # where a frame was fitted
        return optional("pandas", "explaining a record").DataFrame([sample])
    axes, known = axes_of([sample])[0], not reading.before and reading.estimator._axes
    if known and axes == reading.estimator._axes[0] + 1 and len(sample) != 1:
        raise ValueError(
            f"explain takes a single sample, got {len(sample)}; choose one, or use besvm.explanations.explain_many"
        )
    wanted = reading.estimator._axes[0] if known else (0 if axes == 1 and isinstance(sample[0], str) else 1)
    if axes == wanted + 1 and len(sample) == 1:
        return sample
    if isinstance(sample, np.ndarray) and sample.ndim and sample.dtype != object:
        return sample[None]
    if isinstance(sample, np.void):
        return np.array([sample])
    return [sample]


def _chosen(classes: np.ndarray, wanted: Any) -> list[int]:
    """Return the numbers of the classes that a user wants to see explained."""
    if wanted is None:
        return list(range(len(classes)))
    several = list(wanted) if isinstance(wanted, (list, tuple, np.ndarray)) else [wanted]
    known = classes.tolist()
    unknown = [label for label in several if label not in known]
    if unknown or not several:
        got = shown(unknown[0]) if unknown else "none"
        raise ValueError(f"classes must be classes of the model, {shown(known)}, got {got}")
    return [known.index(label) for label in dict.fromkeys(several)]


def _plain_label(label: Any) -> Any:
    return label.item() if isinstance(label, np.generic) else label


def _by_class(every: list[Any], explained: list[int]) -> Any:
    """Return the function that turns numbers for all classes into a dict of those that are explained."""
    return lambda values: {every[c]: float(values[c]) for c in explained}


def _contributions(
    reading: Reading, basis: Basis, block: Block, parts: Parts, of_classes: Any, focus: int
) -> list[Contribution]:
    columns = basis.strongest(parts.columns[:, focus])
    sizes = np.abs(parts.contributions).sum(axis=0)
    shares = parts.contributions / np.where(sizes > 0, sizes, 1)
    usual = reading.usual
    found = []
    for number in np.argsort(-np.abs(parts.contributions[:, focus]), kind="stable"):
        column = columns[number]
        found.append(
            Contribution(
                **vars(basis.all[number]),
                similarity=float(block.similarities[0, column]),
                usual=None if usual is None else float(usual[column]),
                column=basis.column_name(number, column),
                contribution=of_classes(parts.contributions[number]),
                share=of_classes(shares[number]),
                number=int(number),
            )
        )
    return found


def _probability(reading: Reading, block: Block) -> np.ndarray | None:
    slope = getattr(reading.linear, "probability_slope_", None)
    if slope is None or not reading.linear.probability:
        return None
    if len(reading.classes) == 2:
        chance = expit(slope * block.decision[0, 1])
        return np.array([1 - chance, chance])
    return np.asarray(softmax(slope * block.decision[0]))
