"""Which exemplars carry a model, and which say nothing that others do not say."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.linalg import cholesky

from besvm._support.extras import optional
from besvm._support.parameters import check_count, is_number, shown
from besvm._support.rows import n_rows
from besvm._support.tables import table
from besvm.explanations.exemplars import Basis, Exemplar, plain
from besvm.explanations.models import Reading, check_room, read_model

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TOP = 10  # rows that are shown where nobody says how many
ENOUGH = 2  # samples for each column, for what others explain of it to mean anything
RIDGE = 1e-6  # of a column's variance, so that copies have a factor


@dataclass(frozen=True)
class Carrier(Exemplar):
    """What one exemplar carries of a model.

    Attributes
    ----------
    measure, exemplar, row, label, place, file : object
        As in :class:`Exemplar`.
    weights : dict
        The weight of its feature for every class; of several features (regions of a part), their sum.
    weight : float
        The norm of its weights over all classes and features.
    spread : float or None
        How much its feature varies, as a standard deviation over the samples given.
    carries : float
        The weight times the spread: how much of what the decision values vary by is due to it. Without samples, the
        weight alone.
    share : float
        That over the sum for all exemplars.
    nearest : Exemplar or None
        The exemplar of the same measure whose feature varies most alike.
    correlation : float or None
        How alike, from -1 to 1.
    explained : float or None
        The share of its feature's variance that a linear combination of the features of all exemplars that carry more
        has as well, of any measure: 1 says nothing new.

    Examples
    --------
    >>> import besvm
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = besvm.BESVMClassifier("rbf", basis=20, C=1.0, random_state=0).fit(X, y)
    >>> from besvm.explanations import carriers
    >>> one = carriers(model, X)[0]
    >>> one.measure, one.carries == one.weight * one.spread
    ('rbf', True)
    """

    weights: dict[Any, float]
    weight: float
    spread: float | None
    carries: float
    share: float
    nearest: Exemplar | None
    correlation: float | None
    explained: float | None

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values; the weights are in the order of the model's classes."""
        numbers = {name: getattr(self, name) for name in ("weight", "spread", "carries", "share", "correlation")}
        return {
            **super().to_dict(),
            "weights": list(self.weights.values()),
            **numbers,
            "explained": self.explained,
            "nearest": None if self.nearest is None else self.nearest.to_dict(),
        }


@dataclass(frozen=True, eq=False, repr=False)
class Carriers:
    """All exemplars of a model, those that carry most first, as :func:`carriers` returns them.

    Attributes
    ----------
    all : list of Carrier
    classes : list
    n_samples : int
        How many samples the spreads were measured on; 0 for none.

    Examples
    --------
    >>> import besvm
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = besvm.BESVMClassifier("rbf", basis=20, C=1.0, random_state=0).fit(X, y)
    >>> from besvm.explanations import carriers
    >>> found = carriers(model, X)
    >>> len(found), found[0].share >= found[1].share
    (20, True)
    """

    all: list[Carrier]
    classes: list[Any]
    n_samples: int

    def __len__(self) -> int:
        return len(self.all)

    def __iter__(self) -> Any:
        return iter(self.all)

    def __getitem__(self, place: int) -> Carrier:
        return self.all[place]

    def redundant(self, threshold: float = 0.99) -> list[Carrier]:
        """Return the exemplars that say at most 1 - ``threshold`` of what they say by themselves.

        That is those that others, which carry more, explain so well; where there were too few samples to tell, those
        that are correlated so well with one other.
        """
        if not (is_number(threshold) and 0 < threshold <= 1):
            raise ValueError(f"threshold must be a number above 0 and at most 1, got {shown(threshold)}")
        if not self.n_samples:
            raise ValueError("redundant exemplars can only be found with samples; pass some, as in carriers(model, X)")
        return [one for one in self.all if _known_elsewhere(one) >= threshold]

    def to_dict(self, top: int | None = None) -> dict[str, Any]:
        """Return the table as plain values that JSON can hold."""
        some = self.all if top is None else self.all[: check_count("top", top)]
        rows = [one.to_dict() for one in some]
        return {"classes": [plain(c) for c in self.classes], "n_samples": self.n_samples, "exemplars": rows}

    def to_frame(self) -> Any:
        """Return the table as a pandas DataFrame."""
        pandas = optional("pandas", "a table of exemplars as a DataFrame")
        names = ("measure", "exemplar", "row", "label", "place", "weight", "spread", "carries", "share")
        rows = []
        for one in self.all:
            row = {name: getattr(one, name) for name in names}
            row |= {"nearest": None if one.nearest is None else one.nearest.name}
            row |= {"correlation": one.correlation, "explained": one.explained}
            rows.append(row | {f"weight_{c}": value for c, value in one.weights.items()})
        return pandas.DataFrame(rows)

    def plot(self, top: int = 15) -> Figure:
        """Draw how much the strongest exemplars carry, and how many carry how much of it all; return the figure."""
        from besvm.explanations.drawing import draw_carriers

        return draw_carriers(self, check_count("top", top))

    def __repr__(self) -> str:
        shares = np.cumsum([one.share for one in self.all])
        half = int(np.searchsorted(shares, 0.5)) + 1
        lines = [f"{half:,} of {len(self.all):,} exemplars carry half of what the decision values vary by"]
        if not self.n_samples:
            lines = [
                f"{half:,} of {len(self.all):,} exemplars have half of all weight; give samples to see what they carry"
            ]
        rows = [
            [
                f"{100 * one.share:.2f} %",
                one.measure,
                one.name,
                "" if one.label is None else str(one.label),
                f"{one.weight:.3g}",
                "" if one.spread is None else f"{one.spread:.3g}",
                "" if one.nearest is None else f"{one.nearest.name} ({one.correlation:.2f})",
                "" if one.explained is None else f"{100 * one.explained:.1f} %",
            ]
            for one in self.all[:TOP]
        ]
        heads = ["carries", "measure", "exemplar", "class", "weight", "spread", "most like", "explained"]
        lines.append(table(heads, rows, right=(0, 4, 5, 7)))
        if self.n_samples:
            together = any(one.explained is not None for one in self.all)
            why = "those that carry more tell 99 % of what they tell" if together else "another one varies as they do"
            lines.append(f"{len(self.redundant()):,} are redundant: {why}")
        return "\n".join(lines)


def carriers(model: Any, X: Any = None) -> Carriers:
    """Return which exemplars carry a model, and which of them are redundant.

    Parameters
    ----------
    model : estimator
        As for :func:`besvm.explain`.
    X : samples, optional
        What the features are seen to vary on: the training samples, or others like them. Without any, only the weights
        are known. Twice as many as the model has features tell what each adds to the others.

    Returns
    -------
    Carriers
        All exemplars, those that carry most first.

    Examples
    --------
    >>> from besvm import BESVMClassifier
    >>> from besvm.explanations import carriers
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = BESVMClassifier("rbf", basis=[0, 60, 101, 142], C=1.0).fit(X, y)  # of which the last two are equal
    >>> found = carriers(model, X)
    >>> len(found), [one.label for one in found.redundant()]
    (4, [2])
    """
    reading = read_model(model)
    basis = Basis(reading)
    weights = reading.weights[:, 1:] if len(reading.classes) == 2 else reading.weights  # the other is its negative
    total = basis.summed(np.square(weights).sum(axis=1))  # (exemplars,)
    weight = np.sqrt(total)
    n = 0 if X is None else n_rows(X)
    carried, nearest, correlation, explained = weight, None, None, None
    if X is not None and len(basis):
        covariance = _covariance(reading, reading.prepared(X))
        carried = np.sqrt(np.maximum(_variance_of_pulls(basis, covariance, weights), 0))
        nearest, correlation = _most_alike(basis, covariance)
        if n >= ENOUGH * len(weights):
            explained = _explained(basis, covariance, np.argsort(-carried, kind="stable"))
    spread = np.divide(carried, weight, out=np.zeros_like(carried), where=weight > 0)
    shares = carried / (carried.sum() or 1)
    per_class = basis.summed(reading.weights.T).T  # (exemplars, classes)
    classes = [c.item() if isinstance(c, np.generic) else c for c in reading.classes]
    rows = [
        Carrier(
            **vars(basis.all[k]),
            weights=dict(zip(classes, per_class[k].tolist(), strict=True)),
            weight=float(weight[k]),
            spread=None if X is None else float(spread[k]),
            carries=float(carried[k]),
            share=float(shares[k]),
            nearest=None if nearest is None or nearest[k] < 0 else basis.all[nearest[k]],
            correlation=None if correlation is None or nearest is None or nearest[k] < 0 else float(correlation[k]),
            explained=None if explained is None else float(explained[k]),
        )
        for k in np.argsort(-carried, kind="stable")
    ]
    return Carriers(rows, classes, n)


def _known_elsewhere(one: Carrier) -> float:
    if one.explained is not None:
        return one.explained
    return abs(one.correlation or 0.0)


def _covariance(reading: Reading, X: Any) -> np.ndarray:
    """Return the covariance of the features of X (of Nyström, of the raw similarities), (D, D)."""
    width = reading.weights.shape[0]
    check_room(
        f"the {width:,} x {width:,} covariances of the features", 24 * width**2, "leave X out to see the weights"
    )
    total, first, products, n = np.zeros(width), None, np.zeros((width, width)), 0
    for block in reading.blocks(X):
        terms = block.terms.astype(np.float64)
        first = terms.mean(axis=0) if first is None else first  # near the mean: no digits are lost
        terms -= first
        total += terms.sum(axis=0)
        products += terms.T @ terms
        n += len(terms)
    mean = total / n
    return products / n - np.outer(mean, mean)


def _variance_of_pulls(basis: Basis, covariance: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return the variance of what every exemplar adds, summed over the classes, (exemplars,)."""
    if (basis.widths == 1).all():
        return np.asarray(np.square(weights).sum(axis=1) * np.diag(covariance))
    out = np.empty(len(basis))
    for k, (start, width) in enumerate(zip(basis.starts, basis.widths, strict=True)):
        own = slice(start, start + width)
        out[k] = np.einsum("ic,ij,jc->", weights[own], covariance[own, own], weights[own])
    return out


def _most_alike(basis: Basis, covariance: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return, for every exemplar, the one of its measure that is most correlated with it, or -1, and how much."""
    nearest, correlation = np.full(len(basis), -1), np.zeros(len(basis))
    for number in np.unique(basis.measure):
        which = np.flatnonzero(basis.measure == number)
        width = int(basis.widths[which[0]])
        own = slice(basis.starts[which[0]], basis.starts[which[-1]] + width)
        block = covariance[own, own].reshape(len(which), width, len(which), width)
        shared = np.einsum("iaja->ij", block)
        size = np.sqrt(np.maximum(np.diag(shared), 0))
        size[size == 0] = np.inf
        alike = shared / np.outer(size, size)
        np.fill_diagonal(alike, 0)
        if len(which) > 1:
            best = np.abs(alike).argmax(axis=1)
            nearest[which], correlation[which] = which[best], alike[np.arange(len(which)), best]
    return nearest, np.clip(correlation, -1, 1)


def _explained(basis: Basis, covariance: np.ndarray, order: np.ndarray) -> np.ndarray:
    """Return the share of every exemplar's variance that those before it in ``order`` explain linearly.

    With the columns in that order, the Cholesky factor L of their covariances has what is left of an exemplar's own
    columns, given all before, on its diagonal block.
    """
    columns = np.concatenate([basis.starts[k] + np.arange(basis.widths[k]) for k in order])
    size = np.sqrt(np.maximum(np.diag(covariance), 0))
    size = np.where(size > 0, size, 1)
    alike = (covariance / np.outer(size, size))[np.ix_(columns, columns)]
    varies = np.diag(alike) > 0
    alike[np.diag_indices_from(alike)] += RIDGE
    L = cholesky(alike, lower=True, check_finite=False, overwrite_a=True)
    out, start = np.ones(len(basis)), 0
    for k in order:
        own = slice(start, start + basis.widths[k])
        start = own.stop
        if varies[own].any():
            left = np.square(L[own, own]).sum() - RIDGE * basis.widths[k]
            out[k] = np.clip(1 - left / varies[own].sum(), 0, 1)
    return out
