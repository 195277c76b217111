"""Part the rows of a selection into those to train on and those to judge by; the row numbers of bases move along."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.model_selection import train_test_split
from sklearn.utils import column_or_1d

from besvm._support.rows import n_rows, take
from besvm.basis.choose import as_choice
from besvm.measures import Measure
from besvm.selection.trials import Data
from besvm.similarities.lookup import resolve


@dataclass(frozen=True)
class Split:
    """The rows of both kinds, and the measures and their shared basis, which count the rows to train on."""

    data: Data
    measures: list[Measure]
    basis: Any


def given(X: Any, classes: np.ndarray, labels: np.ndarray, X_val: Any, y_val: Any) -> Data:
    """Return the data to train on all of X and judge by other rows."""
    y_val = column_or_1d(y_val)
    if len(y_val) != n_rows(X_val):
        raise ValueError(f"X_val and y_val must have the same length, got {n_rows(X_val)} and {len(y_val)}")
    known = {label: number for number, label in enumerate(classes.tolist())}
    val_labels = np.array([known.get(label, -1) for label in y_val.tolist()], dtype=int)
    if not (val_labels >= 0).any():
        raise ValueError(
            f"y_val must hold some of the classes of y, {', '.join(map(repr, classes.tolist()[:5]))}"
            f"{', ...' if len(classes) > 5 else ''}; got none of them"
            + (f", but {y_val.tolist()[0]!r}" if len(y_val) else "")
        )
    return Data(X, X_val, classes, labels, val_labels)


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
    train, held_out = _part(labels, share, _named_rows(measures, basis, len(labels)), int(rng.integers(2**31)))
    present, own = np.unique(labels[train], return_inverse=True)
    if len(present) < 2:
        raise ValueError("the rows to train on must hold at least two classes; give more rows, or X_val and y_val")
    place = np.full(len(classes), -1)
    place[present] = np.arange(len(present))
    rows, held_out_rows = take(X, train), take(X, held_out)
    if _is_square(X, measures):  # of precomputed similarities, the columns go with the rows
        rows, held_out_rows = rows[:, train], held_out_rows[:, train]
    data = Data(rows, held_out_rows, classes[present], own, place[labels[held_out]])

    def moved(basis: Any) -> Any:
        named = None if basis is None else as_choice(basis).named_rows(len(labels))
        return basis if named is None else np.searchsorted(train, named)

    translated = [Measure(m.similarity, features=m.features, basis=moved(m.basis), name=m.name) for m in measures]
    return Split(data, translated, moved(basis))


def _named_rows(measures: list[Measure], basis: Any, n: int) -> np.ndarray:
    """Return the rows that any basis names by number."""
    given = [one for one in (basis, *(measure.basis for measure in measures)) if one is not None]
    named = [as_choice(one).named_rows(n) for one in given]
    return np.unique(np.concatenate([np.empty(0, dtype=np.intp), *(rows for rows in named if rows is not None)]))


def _part(labels: np.ndarray, share: float, kept: np.ndarray, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows to train on, those of ``kept`` among them, and the rest, both ascending."""
    n = len(labels)
    wanted = int(np.ceil(share * n))
    free = np.setdiff1d(np.arange(n), kept)
    if len(kept) and len(free) < wanted:
        raise ValueError(
            f"the rows of the basis are trained on, and must leave {wanted} of the {n} rows to be held out, got "
            f"{len(kept)} of them; lower validation, or give X_val and y_val"
        )
    if wanted >= len(free):
        return kept, free
    counts = np.bincount(labels[free])
    counts = counts[counts > 0]
    few = counts.min() < 2 or min(wanted, len(free) - wanted) < len(counts)  # for some of every class on both sides
    stratify = None if few else labels[free]
    train, held_out = train_test_split(free, test_size=wanted, stratify=stratify, random_state=seed)
    return np.sort(np.concatenate([train, kept])), np.sort(held_out)


def _is_square(X: Any, measures: list[Measure]) -> bool:
    """Say whether X holds the precomputed similarities of every row to every other."""
    precomputed = any(m.features is None and resolve(m.similarity).precomputed for m in measures)
    return precomputed and X.shape[0] == X.shape[1]
