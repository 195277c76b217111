"""All that is known of a model and the samples that it was tried on."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from besvm.explanations.models import Reading
from besvm.report.basis import Basis
from besvm.report.data import Labelled
from besvm.report.evidence import Evidence
from besvm.report.gallery import Gallery
from besvm.report.scores import Scores


@dataclass(frozen=True)
class Content:
    """All that is known of a model and the samples it was tried on."""

    reading: Reading | None  # None: the model has no exemplars
    data: Labelled
    classes: list[str]  # those of the model first
    truth: np.ndarray  # (n,) numbers of classes
    scores: Scores
    listed: np.ndarray  # the samples that the page lists
    basis: Basis | None
    evidence: Evidence | None
    gallery: Gallery | None
    curve: list[tuple[int, float]] | None  # with a refit

    @property
    def right(self) -> np.ndarray:
        """Whether each prediction is right."""
        return np.asarray(self.scores.predicted == self.truth)
