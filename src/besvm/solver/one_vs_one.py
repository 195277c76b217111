"""One-vs-one: a linear SVM for every pair of classes, on the rows (and perhaps the columns) of the two alone."""

from dataclasses import replace

import numpy as np

from besvm._support.progress import progress
from besvm._support.threads import threads_for
from besvm.blocks import MemoryBlocks, RowBlocks
from besvm.solver.calibration import deal_folds, most_likely_slope
from besvm.solver.problem import Problem
from besvm.solver.training import Ending, LinearModel, Training
from besvm.solver.votes import class_pairs, class_scores


def largest_pair(labels: np.ndarray) -> int:
    """Return the number of rows of the two largest classes."""
    return int(np.sort(np.bincount(labels))[-2:].sum())


def fit_pairs(
    blocks: RowBlocks,
    labels: np.ndarray,
    n_classes: int,
    weights: np.ndarray,
    training: Training,
    *,
    probability: bool,
    verbose: int = 0,
    basis_labels: np.ndarray | None = None,
) -> LinearModel:
    """Train every pair of classes, and settle the slope of the probabilities on held-out rows.

    With ``basis_labels``, the class of every column, a pair sees only the columns of its own two classes (the second
    reading of section "Multi Class Classification"); without, all of them.
    """
    D = blocks.shape[1]
    pairs = class_pairs(n_classes)
    whole = Problem(labels, np.arange(n_classes), weights)
    folds = deal_folds(blocks, whole, n_classes) if probability or training.C == "auto" else None
    path = None
    if training.C == "auto" and folds is not None:  # one C for all pairs, picked one-vs-rest
        with threads_for(4 * len(labels) * D * n_classes * folds.n):
            path = training.held_out(blocks, whole, folds, n_classes)[0]
        training = replace(training, C=path.best if path else 1.0)
    folds = folds if probability else None
    n_folds = folds.n if folds else 0
    coef, intercept = np.zeros((n_folds + 1, D, len(pairs))), np.zeros((n_folds + 1, len(pairs)))  # the last: all rows
    results = []
    with progress("training pairs of classes", len(pairs), verbose) as shown:
        for k, (a, b) in enumerate(pairs):
            rows = np.flatnonzero((labels == a) | (labels == b))
            columns = np.arange(D)
            if basis_labels is not None:
                columns = np.flatnonzero((basis_labels == a) | (basis_labels == b))
            part = MemoryBlocks(gather(blocks, rows, columns))
            problem = Problem((labels[rows] == b).astype(np.intp), np.array([1]), weights[rows])
            with threads_for(4 * part.matrix.size * max(n_folds, 1)):
                trained = training.of_pair(a, b)(part, problem, folds and folds.among(rows))
            result, held_out = trained.result, trained.held_out
            if held_out is not None:
                coef[:n_folds, columns, k], intercept[:n_folds, k] = held_out.coef.T, held_out.intercept
            coef[n_folds, columns, k], intercept[n_folds, k] = result.coef[:, 0], result.intercept[0]
            results.append(replace(result, preconditioner=None))  # which is as large as the pair's features
            shown.advance(1)
    slope = None
    if folds is not None:
        margins = _held_out_margins(blocks, np.asarray(folds.of_rows), coef[:n_folds], intercept[:n_folds])[folds.rows]
        slope = most_likely_slope(class_scores(margins, pairs, n_classes), folds.labels, folds.weights, n_classes)
    ending = Ending.of(results)
    training.warn_unless_converged(ending)
    return LinearModel(coef[n_folds].T, intercept[n_folds], slope, ending, path)


def gather(blocks: RowBlocks, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """Return these rows and columns as a matrix of their own."""
    out = np.empty((len(rows), len(columns)), dtype=blocks.dtype)

    def copy(span: slice, block: np.ndarray) -> None:
        here = slice(*np.searchsorted(rows, [span.start, span.stop]))
        out[here] = block[np.ix_(rows[here] - span.start, columns)]

    for _ in blocks.map(copy):
        pass
    return out


def _held_out_margins(blocks: RowBlocks, fold: np.ndarray, coef: np.ndarray, intercept: np.ndarray) -> np.ndarray:
    """Return every row's margins under the models that left its fold out, of shape (n, pairs)."""
    margins = np.zeros((blocks.shape[0], coef.shape[2]))
    of_fold = coef.astype(blocks.dtype)

    def fill(span: slice, block: np.ndarray) -> None:
        for k in range(len(of_fold)):
            here = np.flatnonzero(fold[span] == k)
            margins[span.start + here] = block[here] @ of_fold[k] + intercept[k]

    for _ in blocks.map(fill):
        pass
    return margins
