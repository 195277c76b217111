"""A measure: the features of a sample, and how two of them are compared."""

from __future__ import annotations

import re
from typing import Any

from sklearn.base import BaseEstimator

from besvm.features import mirror
from besvm.similarities.contract import Similarity
from besvm.similarities.latent import Latent
from besvm.similarities.lookup import resolve


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


SHORTHAND = re.compile(r"H(\d+)(?:(L)|(R)|\((\d+),\s*(\d+)\))")


def parse_shorthand(text: str) -> Measure:
    """Return the measure that the paper calls H4L, H8R, H4(2,1) and so on.

    The number is the size of the HOG cells in pixels; the features are centered and scaled by
    :class:`MeanNormScaler`. L is the dot product, R the Gaussian kernel with gamma 1, and (r, l) the deformable
    similarity with rigid displacements of up to r cells and local ones of up to l.

    Examples
    --------
    >>> parse_shorthand("H4(2,1)").similarity
    Deformable(rigid=2)
    >>> parse_shorthand("H8R").similarity
    RBF(gamma=1.0)
    """
    from sklearn.pipeline import make_pipeline

    from besvm.features import FHOG
    from besvm.normalize.affine import MeanNormScaler
    from besvm.similarities.grid import Deformable
    from besvm.similarities.vector import RBF, Linear

    text = text.replace(" ", "").upper()
    found = SHORTHAND.fullmatch(text)
    if found is None or int(found[1]) == 0:
        raise ValueError(
            f"a measure's shorthand is H, the cell size in pixels, and L, R or (rigid,local), like H8R or H4(2,1); "
            f"got {text!r}"
        )
    cell, linear, rbf, rigid, local = found.groups()
    similarity: Similarity
    if linear:
        similarity = Linear()
    elif rbf:
        similarity = RBF(gamma=1.0)
    else:
        similarity = Deformable(rigid=int(rigid), local=int(local))
    features = make_pipeline(FHOG(cell=int(cell)), MeanNormScaler())
    return Measure(similarity, features=features, name=text)


def as_measure(measure: Any) -> Measure:
    """Return the Measure that a user means by a name, a shorthand, a similarity, a function or a Measure.

    Examples
    --------
    >>> as_measure("H4(2,0)").label, as_measure("rbf").label
    ('H4(2,0)', 'rbf')
    """
    if isinstance(measure, Measure):
        return measure
    if isinstance(measure, str) and re.fullmatch(r"\s*[Hh]\s*([\dLRlr(].*)?", measure):
        return parse_shorthand(measure)
    return Measure(resolve(measure))


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
    return [as_measure(one) for one in several]


def compares_vectors(measures: list[Measure]) -> bool:
    """Say whether every measure compares plain vectors."""
    return all(m.features is None and resolve(m.similarity).vectors for m in measures)


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
    >>> from besvm.features import FHOG
    >>> from besvm.measures import mirrored
    >>> from besvm.similarities import Rigid
    >>> mirrored(Measure(Rigid(2), features=FHOG(cell=4))).label
    'rigid|mirror'
    """
    if isinstance(measure, (list, tuple)):
        raise TypeError("mirrored takes one measure, got several; write [mirrored(m) for m in measures]")
    plain = as_measure(measure)
    similarity = Latent(plain.similarity, exemplar_variants=mirror, features=plain.features)
    return Measure(similarity, basis=plain.basis, name=f"{plain.label}|mirror")
