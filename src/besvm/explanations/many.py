"""Many samples explained at once: arrays, not objects."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from besvm._support.parameters import check_count
from besvm._support.rows import n_rows
from besvm._support.threads import slices, thread_map
from besvm.explanations.additive import share_of_margins
from besvm.explanations.exemplars import Basis, Exemplar, leading
from besvm.explanations.models import Block, Reading, check_room, read_model

CHUNKS = 8  # of a row of contributions, for each that is asked for
ROWS = 64  # samples that a thread takes at a time: their terms of one class stay in cache


@dataclass(frozen=True, eq=False, repr=False)
class Explanations:
    """What every exemplar adds to the decision values of many samples.

    Attributes
    ----------
    classes : ndarray of shape (classes,)
    predictions : ndarray of shape (n,)
    decision, constant : ndarray of shape (n, classes)
        The decision value of every class (of two classes, that of the second and its negative), and what of it is no
        exemplar's: the intercept (one-vs-one, the votes too) and what rounding has left.
    exemplars : list of Exemplar
        What the exemplars are called, measure after measure.
    contributions : ndarray of shape (n, exemplars, classes), or (n, classes, top)
        All of them, or the largest in size of every sample and class, those first.
    which : ndarray of shape (n, classes, top) or None
        With ``top``, the places of these in ``exemplars``.
    similarities : ndarray of shape (n, D)
        The raw similarities of all samples, or with ``top`` (n, classes, top) those of the exemplars named; of an
        exemplar with several columns, the one that adds most.
    usual : ndarray of shape (D,) or None
        Those of the average training sample, where the normalization knows them.
    rest : ndarray of shape (n, classes)
        What the exemplars that are not named add together; zeros without ``top``.

    Examples
    --------
    >>> import besvm
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = besvm.BESVMClassifier("rbf", basis=20, C=1.0, random_state=0).fit(X, y)
    >>> from besvm.explanations import explain_many
    >>> found = explain_many(model, X, top=3)
    >>> found.contributions.shape  # of the three strongest exemplars, for every sample and class
    (150, 3, 3)
    """

    classes: np.ndarray
    predictions: np.ndarray
    decision: np.ndarray
    constant: np.ndarray
    exemplars: list[Exemplar]
    contributions: np.ndarray
    which: np.ndarray | None
    similarities: np.ndarray
    usual: np.ndarray | None
    rest: np.ndarray

    def __len__(self) -> int:
        return len(self.predictions)

    def __repr__(self) -> str:
        return f"Explanations of {len(self):,} samples by {len(self.exemplars):,} exemplars"


def explain_many(model: Any, X: Any, *, top: int | None = None) -> Explanations:
    """Return what every exemplar adds to the decision values of many samples, or the ``top`` of each sample and class.

    Parameters
    ----------
    model : estimator
        As for :func:`besvm.explain`.
    X : samples
        As for ``predict``.
    top : int, optional
        How many exemplars to name for every sample and class, the largest contributions in size. Without it there is a
        number for each of them: as many as samples x exemplars x classes.

    Returns
    -------
    Explanations
        With ``predictions``, ``decision`` and the contributions, or the largest of them.

    Examples
    --------
    >>> from besvm import BESVMClassifier
    >>> from besvm.explanations import explain_many
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> found = explain_many(BESVMClassifier("rbf", basis=20, random_state=0).fit(X, y), X)
    >>> found.contributions.shape
    (150, 20, 3)
    >>> total = found.contributions.sum(axis=1) + found.constant
    >>> bool(abs(total - found.decision).max() < 1e-12)
    True
    """
    if top is not None:
        top = check_count("top", top)
    reading = read_model(model)
    basis = Basis(reading)
    X = reading.prepared(X)
    n, k, width = n_rows(X), len(reading.classes), reading.weights.shape[0]
    top = None if top is None else min(top, len(basis))
    wanted = 8 * n * k * len(basis) + 8 * n * width if top is None else 24 * n * k * top
    check_room(f"the explanations of {n:,} samples by all exemplars", wanted, "name the largest alone, as with top=10")
    out = Explanations(
        classes=reading.classes,
        predictions=np.empty(n, dtype=np.intp),
        decision=np.empty((n, k)),
        constant=np.empty((n, k)),
        exemplars=basis.all,
        contributions=np.empty((n, len(basis), k) if top is None else (n, k, top)),
        which=None if top is None else np.empty((n, k, top), dtype=np.intp),
        similarities=np.empty((n, width) if top is None else (n, k, top), dtype=reading.map.expander.dtype),
        usual=reading.usual,
        rest=np.zeros((n, k)),
    )
    for block in reading.blocks(X, work=3):
        _fill(out, reading, basis, block)
    best = (out.decision[:, 1] > 0).astype(np.intp) if k == 2 else out.decision.argmax(axis=1)
    return Explanations(**{**vars(out), "predictions": reading.classes[best]})


def _fill(out: Explanations, reading: Reading, basis: Basis, block: Block) -> None:
    factor = share_of_margins(reading, block)
    out.decision[block.rows] = block.decision
    if out.which is None:
        out.similarities[block.rows] = block.similarities
    first = block.rows.start

    def work(some: slice) -> None:
        terms = block.terms[some].astype(np.float64)
        for c, weights in enumerate(reading.weights.T):
            columns = terms * weights
            columns *= factor[some, c, None]
            _store(out, basis, slice(first + some.start, first + some.stop), c, columns, block.similarities[some])

    for _ in thread_map(work, slices(len(block.terms), ROWS)):
        pass


def _store(out: Explanations, basis: Basis, rows: slice, c: int, columns: np.ndarray, similarities: np.ndarray) -> None:
    """Keep what the columns (rows, D) add to class c, all of it or the largest."""
    own = basis.summed(columns)
    total = own.sum(axis=1)
    out.constant[rows, c] = out.decision[rows, c] - total
    if out.which is None:
        out.contributions[rows, :, c] = own
        return
    which = largest(np.abs(own), out.which.shape[2])
    out.which[rows, c] = which
    out.contributions[rows, c] = np.take_along_axis(own, which, axis=1)
    out.rest[rows, c] = total - out.contributions[rows, c].sum(axis=1)
    out.similarities[rows, c] = np.take_along_axis(similarities, _columns(basis, columns, which), axis=1)


def largest(sizes: np.ndarray, top: int) -> np.ndarray:
    """Return where in every row the ``top`` largest numbers are, these in order; of equal ones, the first.

    The largest of some chunks of a row tell how large a number must be at least; only those above are sorted, which is
    several times as fast as to partition all.
    """
    n, width = sizes.shape
    length = max(1, width // (CHUNKS * max(1, top)))
    n_chunks = width // length
    if not n or top == 0 or n_chunks < top:
        return np.argsort(-sizes, axis=1, kind="stable")[:, :top]
    best = sizes[:, : n_chunks * length].reshape(n, n_chunks, length).max(axis=2)
    least = np.partition(best, n_chunks - top, axis=1)[:, n_chunks - top]
    rows, places = np.nonzero(sizes >= least[:, None])
    order = np.lexsort((places, -sizes[rows, places], rows))
    first = np.searchsorted(rows[order], np.arange(n))
    return np.asarray(places[order][first[:, None] + np.arange(top)])


def _columns(basis: Basis, columns: np.ndarray, which: np.ndarray) -> np.ndarray:
    """Return, of exemplars ``which`` (rows, top), the columns that lead."""
    starts = basis.starts[which]
    widest = int(basis.widths.max(initial=1))
    if widest == 1:
        return starts
    offsets = np.arange(widest)
    places = np.minimum(starts[..., None] + offsets, columns.shape[1] - 1)  # (rows, top, widest)
    own = np.take_along_axis(columns[:, None], places, axis=2)
    own[offsets >= basis.widths[which][..., None]] = 0
    return np.asarray(starts + leading(own))
