"""How indefinite each measure is on its own exemplars."""

from dataclasses import dataclass, replace

import numpy as np

from besvm.analysis import Spectrum, spectrum
from besvm.expand import Expander, FittedMeasure

MOST = 500  # exemplars that are compared with each other: the shape of the spectrum is the same with more


@dataclass(frozen=True)
class MeasureSpectrum:
    """The spectrum of a measure within its basis, or why there is none."""

    label: str
    found: Spectrum | None
    why_not: str
    n_compared: int
    n_exemplars: int


def spectra_of(expander: Expander) -> list[MeasureSpectrum]:
    """Return the spectrum of the similarities of every measure's exemplars to each other."""
    return [_one(expander, label, m) for label, m in zip(expander.labels, expander.measures, strict=True)]


def _one(expander: Expander, label: str, measure: FittedMeasure) -> MeasureSpectrum:
    n = measure.n_exemplars
    why_not = ""
    if measure.similarity.of_parts or measure.similarity.columns_each > 1:
        why_not = "its exemplars are parts, looked for in whole samples: there is no square matrix of similarities."
    elif measure.similarity.precomputed:
        why_not = "it was precomputed, and the similarities of the exemplars to each other are not in the model."
    elif n < 2:
        why_not = f"it has {n or 'no'} exemplar{'s' * (n != 1)}."
    if why_not:
        return MeasureSpectrum(label, None, why_not, 0, n)
    some = np.zeros(n, dtype=bool)
    some[np.unique(np.linspace(0, n - 1, min(n, MOST)).astype(int))] = True
    (matrix,) = replace(expander, measures=[measure.keep(some)]).within_basis(None, None)
    return MeasureSpectrum(label, spectrum(matrix), "", int(some.sum()), n)
