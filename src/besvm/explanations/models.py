"""A fitted model as explanations see it: what every raw similarity, or feature, weighs for every class."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from besvm._support.progress import progress
from besvm._support.rows import n_rows, span
from besvm._support.threads import one_blas_thread, slices, workers
from besvm._support.units import show_bytes
from besvm._support.validation import check_vectors
from besvm._support.wrapped import unwrap
from besvm.blocks.plan import limit_bytes
from besvm.classifier import BESVMClassifier
from besvm.expand import FeatureMap
from besvm.expansion import BasisExpansion
from besvm.linear import LinearSVMClassifier
from besvm.solver.votes import class_scores

NUMBER = re.compile(r"[0-9]{1,18}")
SCALERS = ("StandardScaler", "MinMaxScaler", "MaxAbsScaler", "RobustScaler")  # which keep the columns as they are
TAKES = "a fitted BESVMClassifier, or a pipeline that ends in one, or in a BasisExpansion and a LinearSVMClassifier"


@dataclass(frozen=True)
class Block:
    """Some samples, compared and decided."""

    rows: slice
    similarities: np.ndarray  # (rows, D), raw
    terms: np.ndarray  # (rows, D): what is multiplied by the weights of the classes
    confidence: np.ndarray  # (rows, classes): the sums of margins, which is what the terms add up to
    decision: np.ndarray  # (rows, classes)


@dataclass(frozen=True)
class Reading:
    """What explanations need to know of a model."""

    estimator: Any  # which checks and compares samples
    before: list[Any]  # the transformers of a pipeline that come first
    linear: Any  # which decides; the estimator itself, or the step behind it
    map: FeatureMap
    weights: np.ndarray  # (D, classes) of the terms
    constant: np.ndarray  # (classes,)
    labels: list[np.ndarray | None]  # the classes of every measure's exemplars, if known
    files: dict[int, str]  # what the training data called its rows, as far as the model knows
    columns: list[str]  # the names of the columns of vectors, if known

    @property
    def classes(self) -> np.ndarray:
        """The classes, in the order of all columns for classes."""
        return np.asarray(self.linear.classes_)

    @property
    def one_vs_one(self) -> bool:
        """Whether the classes are decided by votes."""
        return bool(self.linear._one_vs_one)

    @property
    def usual(self) -> np.ndarray | None:
        """The similarity of every column to the average training sample, where the normalization knows it."""
        mean = self.map.normalizer.learned().get("mean_")
        return mean if mean is not None and mean.any() else None

    def prepared(self, X: Any) -> Any:
        """Return samples behind the first steps of a pipeline, checked."""
        for step in self.before:
            X = step.transform(X)
        return check_vectors(self.estimator, X, self.estimator._vectors, reset=False)

    def blocks(self, X: Any, work: int = 1) -> Iterator[Block]:
        """Yield all samples, some at a time; X is :meth:`prepared`. Whoever asks holds them ``work`` times at once."""
        expander, verbose = self.map.expander, getattr(self.estimator, "verbose", 0)
        rows_each = max(1, expander.rows_each(X) // work)
        with workers(self.estimator.n_jobs), progress("explaining", n_rows(X), verbose, "rows") as shown:
            for rows in slices(n_rows(X), rows_each):
                yield self._block(rows, expander(span(X, rows), rows.start))
                shown.advance(rows.stop - rows.start)

    def _block(self, rows: slice, similarities: np.ndarray) -> Block:
        features = self.map.normalizer(similarities.copy())
        alone = self.linear is self.estimator
        features = features if alone else self.estimator._given(features)
        with one_blas_thread() if alone else nullcontext():  # as decision_function does it, to the last digit
            margins = features @ self.linear.coef_.T.astype(features.dtype) + self.linear.intercept_
        terms = similarities if self.map.normalizer.mixes else features
        confidence = margins @ signs(self.linear)
        decision = confidence
        if self.one_vs_one:
            decision = class_scores(margins, self.linear.pairs_, len(self.classes))
        return Block(rows, similarities, terms, confidence, decision)


def signs(linear: Any) -> np.ndarray:
    """Return the matrix that adds the margins of a model's problems up to one for every class: (problems, classes).

    One-vs-rest, a class has a problem of its own; of two classes, the only margin is for the second and against the
    first; and one-vs-one a class is for or against in the problem of each of its pairs.
    """
    n = len(linear.classes_)
    if n == 2:
        return np.array([[-1.0, 1.0]])
    if not linear._one_vs_one:
        return np.eye(n)
    out = np.zeros((len(linear.pairs_), n))
    for row, (a, b) in zip(out, linear.pairs_, strict=True):
        row[a], row[b] = -1.0, 1.0
    return out


def read_model(model: Any) -> Reading:
    """Return what explanations need to know of a fitted model, or say that it cannot be explained."""
    inside = unwrap(model, same_rows=True)
    before: list[Any] = []
    if isinstance(inside, Pipeline):
        *before, inside = [step for _, step in inside.steps if step not in (None, "passthrough")]
        inside = unwrap(inside, same_rows=True)
    estimator: Any = inside
    if isinstance(inside, LinearSVMClassifier) and before and isinstance(before[-1], BasisExpansion):
        estimator = before.pop()
        check_is_fitted(estimator, "similarities_")
    elif not isinstance(inside, BESVMClassifier):
        what = type(inside).__name__
        behind = f" after a {type(before[-1]).__name__}" if before else ""
        raise TypeError(f"the model to explain must be {TAKES}, got a {what}{behind}")
    check_is_fitted(inside, "coef_")
    total = signs(inside)
    weights = inside.coef_.T.astype(np.float64) @ total
    feature_map: FeatureMap = estimator._map
    if feature_map.normalizer.mixes:
        weights = feature_map.normalizer.unmixed(weights)
    n_measures = len(feature_map.expander.measures)
    labels = getattr(estimator, "basis_labels_", None) or [None] * n_measures
    facts = getattr(model, "facts_", {})
    return Reading(
        *(estimator, before, inside, feature_map, weights, inside.intercept_ @ total, labels),
        files=names_of_rows(facts),
        columns=_columns(facts, model, before, estimator),
    )


def names_of_rows(facts: dict[str, Any]) -> dict[int, str]:
    """Return what the training data called the exemplars' rows, by their numbers from 0, as a model's facts say it."""
    named = facts.get("names")
    if not isinstance(named, dict):
        return {}
    sound = [(row, name) for row, name in named.items() if NUMBER.fullmatch(row) and isinstance(name, str) and name]
    return {int(row): name if name.isprintable() else repr(name) for row, name in sound}


def _columns(facts: dict[str, Any], model: Any, before: list[Any], estimator: Any) -> list[str]:
    """Return the names of the columns of vectors: those of the file, or of the data frame, that was trained on."""
    named = facts.get("columns")
    if isinstance(named, dict):
        return list(map(str, named))
    steps = [step for step in before if type(step).__name__ not in SCALERS]
    known = getattr(unwrap(model, same_rows=True) if not steps else estimator, "feature_names_in_", None)
    return [] if known is None else [str(name) for name in known]


def check_room(what: str, need: int, instead: str) -> None:
    """Refuse what would take more memory than there is."""
    limit = limit_bytes(None)
    if need > limit:
        raise MemoryError(f"{what} take {show_bytes(need)}, but only {show_bytes(limit)} may be used; {instead}")
