"""Part the rows of a selection into those to train on and those to judge by; the row numbers of bases move along."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.model_selection import train_test_split
from sklearn.utils import column_or_1d

from besvm._support.rows import n_rows, take
from besvm.basis.choose import as_choice
from besvm.measures import Measure
from besvm.similarities.lookup import resolve


@dataclass(frozen=True)
class Split:
    """The rows to train on and those to judge by, and the measures and their shared basis, which count the former.

    Labels are numbers of ``classes``, -1 for a class that is not trained on.
    """

    X: Any
    X_val: Any
    classes: np.ndarray
    labels: np.ndarray
    val_labels: np.ndarray
    measures: list[Measure]
    basis: Any

    @property
    def n_all(self) -> int:
        """The number of rows of both kinds."""
        return len(self.labels) + len(self.val_labels)

    @property
    def train(self) -> slice:
        """The rows to train on, among all."""
        return slice(0, len(self.labels))

    @property
    def held_out(self) -> slice:
        """The rows to judge by, among all."""
        return slice(len(self.labels), self.n_all)

    @property
    def chance(self) -> float:
        """The accuracy of always naming the most frequent class."""
        return float((self.val_labels == np.bincount(self.labels).argmax()).mean())


def given(
    X: Any, classes: np.ndarray, labels: np.ndarray, X_val: Any, y_val: Any, measures: list[Measure], basis: Any
) -> Split:
    """Train on all of X and judge by other rows."""
    y_val = column_or_1d(y_val)
    if len(y_val) != n_rows(X_val):
        raise ValueError(f"X_val and y_val must have the same length, got {n_rows(X_val)} and {len(y_val)}")
    known = {label: number for number, label in enumerate(classes.tolist())}
    val_labels = np.array([known.get(label, -1) for label in y_val.tolist()], dtype=int)
    if not (val_labels >= 0).any():
        raise ValueError(
            f"y_val must contain classes of y ({', '.join(map(repr, classes.tolist()[:5]))}"
            f"{', ...' if len(classes) > 5 else ''}), but has none of them"
            + (f", got {y_val.tolist()[0]!r}" if len(y_val) else "")
        )
    return Split(X, X_val, classes, labels, val_labels, measures, basis)


def hold_out(
    X: Any,
    classes: np.ndarray,
    labels: np.ndarray,
    share: float,
    measures: list[Measure],
    basis: Any,
    rng: np.random.Generator,
) -> Split:
    """Hold a share of the rows out at random, the classes in proportion, but no row that a basis names by number."""
    n = len(labels)
    named = [rows for one in (basis, *(m.basis for m in measures)) if (rows := _named_rows(one, n)) is not None]
    kept = np.unique(np.concatenate([np.empty(0, dtype=np.intp), *named]))
    train, held_out = _part(labels, share, kept, int(rng.integers(2**31)))
    present, own = np.unique(labels[train], return_inverse=True)
    if len(present) < 2:
        raise ValueError("the rows to train on must have at least two classes; pass more rows, or X_val and y_val")
    place = np.full(len(classes), -1)
    place[present] = np.arange(len(present))
    rows, held_out_rows = take(X, train), take(X, held_out)
    if any(m.transformer is None and resolve(m.similarity).precomputed for m in measures) and X.shape[0] == X.shape[1]:
        rows, held_out_rows = rows[:, train], held_out_rows[:, train]  # the columns go with the rows

    def moved(basis: Any) -> Any:
        rows = _named_rows(basis, n)
        return basis if rows is None else np.searchsorted(train, rows)

    measures = [replace(measure, basis=moved(measure.basis)) for measure in measures]
    val_labels = place[labels[held_out]]
    return Split(rows, held_out_rows, classes[present], own, val_labels, measures, moved(basis))


def _named_rows(basis: Any, n: int) -> np.ndarray | None:
    """Return the rows that a basis names by number, if it does."""
    return None if basis is None else as_choice(basis).named_rows(n)


def _part(labels: np.ndarray, share: float, kept: np.ndarray, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows to train on, those of ``kept`` among them, and the rest, both ascending."""
    n = len(labels)
    wanted = int(np.ceil(share * n))
    free = np.setdiff1d(np.arange(n), kept)
    if len(kept) and len(free) < wanted:
        raise ValueError(
            f"the {len(kept)} rows of the basis are always trained on, so {wanted} of the {n} rows cannot be held "
            "out; lower validation, or pass X_val and y_val"
        )
    if wanted >= len(free):
        return kept, free
    counts = np.bincount(labels[free])
    counts = counts[counts > 0]
    few = counts.min() < 2 or min(wanted, len(free) - wanted) < len(counts)  # for some of every class on both sides
    stratify = None if few else labels[free]
    train, held_out = train_test_split(free, test_size=wanted, stratify=stratify, random_state=seed)
    return np.sort(np.concatenate([train, kept])), np.sort(held_out)
