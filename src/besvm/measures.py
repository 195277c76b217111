"""A measure: the features of a sample, and how two of them are compared."""

from __future__ import annotations

from typing import Any

from sklearn.base import BaseEstimator

from besvm.similarities.base import Similarity, resolve
from besvm.similarities.latent import Latent
from besvm.variants import mirror


class Measure(BaseEstimator):  # type: ignore[misc]
    """One way to compare two samples: a similarity, and optionally the features it looks at.

    Parameters
    ----------
    similarity : str, Similarity or callable, default="rbf"
    features : transformer, optional
        Turns raw samples into what the similarity compares.
    basis : optional
        A basis of its own for this measure; by default the classifier's basis is shared.
    name : str, optional
        What to call it in tables and feature names; by default the similarity's own label.

    Examples
    --------
    >>> from besvm import Measure
    >>> from besvm.similarities import RBF
    >>> Measure(RBF(gamma=1.0), name="near").label
    'near'
    """

    def __init__(
        self,
        similarity: str | Similarity | Any = "rbf",
        *,
        features: Any = None,
        basis: Any = None,
        name: str | None = None,
    ) -> None:
        self.similarity = similarity
        self.features = features
        self.basis = basis
        self.name = name

    @property
    def label(self) -> str:
        """The name to show to people."""
        return self.name or resolve(self.similarity).label


def as_measures(measures: Any) -> list[Measure]:
    """Return the list of Measures that a user means by one or several names, similarities, functions or Measures.

    Examples
    --------
    >>> [measure.label for measure in as_measures(["rbf", "linear"])]
    ['rbf', 'linear']
    """
    several = measures if isinstance(measures, (list, tuple)) else [measures]
    if not several:
        raise ValueError("measures must name at least one similarity, got an empty list")
    return [one if isinstance(one, Measure) else Measure(resolve(one)) for one in several]


def mirrored(measure: Any) -> Measure:
    """Return the measure of images whose exemplars may also be seen in the mirror, whichever matches better.

    The images are mirrored before their features are computed. Only the exemplars are: that is enough where a measure
    does not change when both images are mirrored, as those on a grid of cells (see :class:`besvm.similarities.Latent`).

    Parameters
    ----------
    measure : Measure, str, Similarity or callable

    Examples
    --------
    >>> from besvm import Measure
    >>> from besvm.images import FHOG
    >>> from besvm.measures import mirrored
    >>> from besvm.similarities import Rigid
    >>> mirrored(Measure(Rigid(2), features=FHOG(cell=4))).label
    'rigid|mirror'
    """
    if isinstance(measure, (list, tuple)):
        raise TypeError("mirrored takes one measure, got several; write [mirrored(m) for m in measures]")
    [plain] = as_measures(measure)
    similarity = Latent(plain.similarity, exemplar_variants=mirror, features=plain.features)
    return Measure(similarity, basis=plain.basis, name=f"{plain.label}|mirror")
