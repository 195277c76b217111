"""The similarities of some rows to all exemplars of a model, computed once, and models trained on parts of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from sklearn.base import clone

from besvm._support.rows import n_rows
from besvm.blocks import RowBlocks
from besvm.blocks.fill import columns_of, filled
from besvm.blocks.plan import limit_bytes, plan_training
from besvm.classifier import BESVMClassifier
from besvm.expand import Expander, FeatureMap
from besvm.expand.expander import exemplar_of_columns
from besvm.pruning.projection import Moments, moments_bytes, targets_of
from besvm.solver.calibration import deal_folds
from besvm.solver.one_vs_rest import n_columns
from besvm.solver.problem import Problem
from besvm.solver.training import HELD_OUT_TOL, LinearModel
from besvm.solver.votes import class_pairs, class_scores


@dataclass
class Stage:
    """The rows to train on, and the exemplars that there are; these go by number, from 0 on."""

    params: BESVMClassifier  # not fitted: the parameters of the model that is pruned
    expander: Expander
    X: Any
    classes: np.ndarray
    labels: np.ndarray
    weights: np.ndarray  # of the rows, in the loss
    counts: np.ndarray  # of the rows, in an accuracy: without the weights of classes
    raw: RowBlocks | None = None  # the similarities; None: they are computed anew whenever they are read
    held: int = 0  # bytes that these take of a limit

    @contextmanager
    def opened(self) -> Iterator[Stage]:
        """Compute the similarities, where there is room for them and a copy, and give them back at the end."""
        n, expander, params = n_rows(self.X), self.expander, self.params
        size = expander.dtype.itemsize * n * expander.width
        plan = plan_training(
            n,
            expander.width,
            expander.dtype.itemsize,
            n_columns(n, len(self.classes), params.probability),
            penalty=params.penalty,
            beside=expander.exemplar_bytes,
            row=expander.row_bytes,
            features=2 * size,
            storage=params.storage,
            memory_limit=params.memory_limit,
        )
        if plan.storage == "recompute":
            yield self
            return
        if plan.storage == "memory" and params.memory_limit is not None:  # else what is free is known without them
            self.held = size
        self.raw = filled(expander, self.X, plan.storage, params.verbose, plan.folder)
        with self.raw:
            yield self

    @cached_property
    def owner(self) -> np.ndarray:
        """The exemplar that every column belongs to."""
        return exemplar_of_columns(self.expander.measures)

    @property
    def n_exemplars(self) -> int:
        """How many there are."""
        return int(self.owner.max(initial=-1)) + 1

    @cached_property
    def held_out(self) -> list[np.ndarray]:
        """The rows that are held out in turn, each time as a mask."""
        problem = Problem(self.labels, np.arange(len(self.classes)), self.weights)
        blocks = filled(self.expander, self.X, "recompute") if self.raw is None else self.raw
        folds = deal_folds(blocks, problem, len(self.classes))
        fold = np.asarray(folds.of_rows)
        return [out for number in range(folds.n) if (out := fold == number).any()]

    @contextmanager
    def features(
        self, model: BESVMClassifier, kept: np.ndarray, weights: np.ndarray
    ) -> Iterator[tuple[FeatureMap, RowBlocks, dict[str, Any]]]:
        """Give what a model makes of some exemplars: the feature map, features of all rows, and options of training.

        The map is learned from the rows by their weights.
        """
        columns = np.isin(self.owner, kept)
        expander = self.expander if columns.all() else self.expander.keep(columns)
        fill: Callable[..., RowBlocks] = filled
        if self.raw is not None:
            raw, places = self.raw, np.flatnonzero(columns)

            def fill(expander: Any, X: Any, storage: str, verbose: int, folder: Any) -> RowBlocks:
                return columns_of(raw, places, storage, folder)

        with model._expanded(expander, self.X, self.classes, self.labels, weights, fill, self.held) as expanded:
            yield expanded

    def targets(self, margins: np.ndarray, learn: str) -> np.ndarray | None:
        """Return what a smaller model is to come close to, given the margins of the large one; None: it is trained."""
        return targets_of(learn, margins, self.labels, len(self.classes), self.params.multi_class != "ovr")

    def refitted(self, kept: np.ndarray, targets: np.ndarray | None, slope: float | None) -> BESVMClassifier:
        """Return the model with these exemplars alone: close to these targets or, where there are none, trained."""
        model: BESVMClassifier = clone(self.params)
        with self.features(model, kept, self.weights) as (feature_map, blocks, options):
            linear = self._fitted(model, blocks, self.weights, targets, options, slope)
        used = np.bincount(self.labels[self.weights > 0], minlength=len(self.classes)) > 0
        model._remember(feature_map, linear, self.classes, used)
        return model

    def margins(self, model: BESVMClassifier) -> np.ndarray:
        """Return the margins that a fitted model with all exemplars gives the rows, (n, K)."""
        if self.raw is None:
            return model._margins(self.X)
        coef, normalizer = model.coef_.T.astype(self.raw.dtype), model._map.normalizer
        parts = self.raw.map(lambda rows, block: normalizer(np.array(block)) @ coef + model.intercept_)
        return np.concatenate(list(parts))

    def judged(self, kept: np.ndarray, out: np.ndarray, targets: np.ndarray | None = None) -> tuple[float, np.ndarray]:
        """Return the accuracy of these exemplars on the rows ``out``, fitted on the others, and all rows' margins."""
        model: BESVMClassifier = clone(self.params)
        model.set_params(probability=False, tol=max(model.tol, HELD_OUT_TOL), verbose=0)
        weights = np.where(out, 0.0, self.weights)
        with self.features(model, kept, weights) as (_, blocks, options):
            linear = self._fitted(model, blocks, weights, targets, options, None)
            coef = linear.coef.T.astype(blocks.dtype)
            found = np.concatenate(list(blocks.map(lambda rows, block: block @ coef + linear.intercept)))
        n_classes = len(self.classes)
        scores = found[out]
        if n_classes > 2 and model.multi_class != "ovr":
            scores = class_scores(scores, class_pairs(n_classes), n_classes)
        best = (scores[:, 0] > 0).astype(int) if n_classes == 2 else scores.argmax(axis=1)
        return float(np.average(best == self.labels[out], weights=self.counts[out])), found

    def has_room(self, width: int) -> bool:
        """Say whether the products of so many features may be held beside what is held."""
        return moments_bytes(width) + self.held <= limit_bytes(self.params.memory_limit)

    def _fitted(
        self,
        model: BESVMClassifier,
        blocks: RowBlocks,
        weights: np.ndarray,
        targets: np.ndarray | None,
        options: dict[str, Any],
        slope: float | None,
    ) -> LinearModel:
        if targets is None or not self.has_room(blocks.shape[1]):
            return model._train(blocks, self.classes, self.labels, weights, **options)
        return Moments.of(blocks, targets, weights, model.fit_intercept).model(slope)
