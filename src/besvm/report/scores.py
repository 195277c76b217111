"""Scores and probabilities of every class, from whatever a model offers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from besvm.linear import class_probabilities


@dataclass(frozen=True)
class Scores:
    """What a model says of every sample and class.

    Attributes
    ----------
    scores : ndarray of shape (n, classes)
    chances : ndarray of shape (n, classes) or None
        The probabilities, if the model has any.
    predicted : ndarray of shape (n,)
        The number of the predicted class.
    """

    scores: np.ndarray
    chances: np.ndarray | None
    predicted: np.ndarray

    @property
    def confidence(self) -> np.ndarray:
        """How sure the model is of what it predicts: the probability, or the lead over the runner-up."""
        every = np.arange(len(self.scores))
        if self.chances is not None:
            return np.asarray(self.chances[every, self.predicted])
        others = self.scores.astype(np.float64)
        best = others[every, self.predicted].copy()
        others[every, self.predicted] = -np.inf
        return np.asarray(best - others.max(axis=1))

    @classmethod
    def of_classifier(cls, model: Any, X: Any) -> Scores:
        """Ask a classifier that is none of ours."""
        chances = np.asarray(model.predict_proba(X)) if hasattr(model, "predict_proba") else None
        if hasattr(model, "decision_function"):
            scores = np.asarray(model.decision_function(X), dtype=np.float64)
            scores = np.column_stack([-scores, scores]) if scores.ndim == 1 else scores
        elif chances is not None:
            scores = chances
        else:
            scores = (np.asarray(model.predict(X))[:, None] == np.asarray(model.classes_)).astype(np.float64)
        number = {label: k for k, label in enumerate(np.asarray(model.classes_).tolist())}
        predicted = np.array([number[label] for label in np.asarray(model.predict(X)).tolist()])
        return cls(scores, chances, predicted)


def scored(linear: Any, scores: np.ndarray) -> Scores:
    """Return the scores of one of our models, with probabilities if it has settled them."""
    two = scores.shape[1] == 2
    slope = getattr(linear, "probability_slope_", None)
    chances = None if slope is None else class_probabilities(slope * (scores[:, 1] if two else scores))
    return Scores(scores, chances, scores.argmax(axis=1))
