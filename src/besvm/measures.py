"""A measure: the features of a sample, and how two of them are compared."""

import re
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, cast

from sklearn.base import BaseEstimator, clone

from besvm._support.parameters import shown
from besvm._support.public import public
from besvm.features import FHOG, Column, Pixels, mirror
from besvm.normalize import MeanNormScaler
from besvm.similarities import RBF, Deformable, Latent, Linear, Parts, Precomputed, Similarity, resolve
from besvm.similarities.lookup import TunableSimilarity, portable


@public("besvm")
@dataclass(eq=False, repr=False)
class Measure(TunableSimilarity, BaseEstimator):  # type: ignore[misc]
    """One way to compare two samples: a similarity, and optionally the features it looks at.

    Parameters
    ----------
    similarity : str, Similarity or callable, default="rbf"
        A registered name, an instance, or a function of two items, ``f(exemplar, sample)``.
    features : transformer, optional
        Turns raw samples into what the similarity compares. Measures with equal features share them. If its ``fit``,
        or that of a step of a pipeline, takes ``sample_weight``, it gets what the rows weigh. Where a similarity makes
        variants of its items (:class:`besvm.similarities.Latent`), these are made of the raw samples, and then
        described.
    basis : optional
        A basis of its own for this measure; by default the classifier's basis is shared. Measures with an equal
        ``RandomBasis`` or ``IndexBasis``, which do not look at the samples, share its rows (but not the parts of rows).
    name : str, optional
        What to call it in tables and feature names; by default the similarity's own label, and the column.
    column : str, int or list, optional
        The column of a DataFrame (or of another kind of records, see ``besvm.features.Column``) that it compares;
        a list means several, as numbers side by side or, where some are no numbers, as records. The features are those
        of the column.

    Examples
    --------
    >>> from besvm import Measure
    >>> from besvm.similarities import RBF
    >>> Measure(RBF(gamma=1.0), name="near").label
    'near'
    >>> Measure("rbf", column=["age", "height"]).label
    'rbf[age,height]'
    """

    similarity: str | Similarity | Any = "rbf"
    _: KW_ONLY
    features: Any = None
    basis: Any = None
    name: str | None = None
    column: Any = None

    @property
    def transformer(self) -> Any:
        """What samples go through before they are compared: the choice of the column, then the features; None: nothing.

        A new one every time, where there is a column.
        """
        if self.column is None:
            return self.features
        if self.features is None:
            return Column(self.column, vectors=resolve(self.similarity).vectors)
        from sklearn.pipeline import Pipeline  # brings rich along, which importing besvm must not

        own = getattr(self.features, "steps", [("features", self.features)])  # those of a pipeline stay within sight
        return Pipeline([("column of records", Column(self.column)), *own])

    @property
    def label(self) -> str:
        """The name to show to people."""
        if not (self.name is None or isinstance(self.name, str)):
            raise TypeError(f"the name of a measure must be a string or None, got {shown(self.name)}")
        if self.name:
            return self.name
        label = resolve(self.similarity).label
        if self.column is None:
            return label
        columns = self.column if isinstance(self.column, list) else [self.column]
        return f"{label}[{','.join(map(str, columns))}]"


MIRROR = "|mirror"  # at the end of a name: exemplars are also seen in the mirror
SHORTHAND = re.compile(r"H(\d+)(?:(L)|(R)|\((\d+),\s*(\d+)\))")
PARTS = re.compile(r"P(\d+)(?:\((\d+)\))?")


def parse_shorthand(text: str) -> Measure:
    """Return the measure that the paper calls H4L, H8R, H4(2,1) and so on, or that has parts of images: P6, P6(3).

    The number is the size of the HOG cells in pixels; the features are centered and scaled by
    :class:`besvm.MeanNormScaler`. L is the dot product, R the Gaussian kernel with gamma 1, and (r, l) the deformable
    similarity with rigid displacements of up to r cells and local ones of up to l. P6 has the patches of 6 x 6 pixels
    of :class:`besvm.similarities.Parts`; P6(2) looks for them in 2 x 2 regions.

    Parameters
    ----------
    text : str
        Such as "H4(2,1)", "H8R" or "P6".

    Returns
    -------
    Measure
        The measure of that name.

    Examples
    --------
    >>> parse_shorthand("H4(2,1)").similarity
    Deformable(rigid=2)
    >>> parse_shorthand("H8R").similarity
    RBF(gamma=1.0)
    """
    from sklearn.pipeline import make_pipeline  # brings rich along, which importing besvm must not

    text = text.replace(" ", "").upper()
    parts = PARTS.fullmatch(text)
    if parts is not None and "0" not in (parts[1], parts[2]):
        return Measure(Parts(int(parts[1]), int(parts[2] or 3)), features=Pixels(), name=text)
    found = SHORTHAND.fullmatch(text)
    if found is None or int(found[1]) == 0:
        raise ValueError(
            "a measure's shorthand must be H, the cell size in pixels, and L, R or (rigid,local), such as H8R or "
            "H4(2,1), or P, the size of the parts in pixels and optionally (regions), such as P6 or P6(3), got "
            f"{shown(text)}"
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


def as_measure(measure: Any, what: str = "measures") -> Measure:
    """Return the Measure that a user means by a name, a shorthand, a similarity, a function, a Measure, or a pair
    (what to call it, any of these). A name may end in "|mirror" (:func:`mirrored`).

    ``what`` is the parameter that a message names.
    """
    if isinstance(measure, Measure):
        return measure
    if _is_pair(measure):
        return replace(as_measure(measure[1], what), name=measure[0])
    if isinstance(measure, str) and measure.endswith(MIRROR):
        return mirrored(as_measure(measure.removesuffix(MIRROR), what))
    if isinstance(measure, str) and re.fullmatch(r"\s*[Hh]\s*([\dLRlr(].*)?|\s*[Pp]\s*\d.*", measure):
        return parse_shorthand(measure)
    return Measure(resolve(measure, what))


def as_measures(measures: Any, what: str = "measures") -> list[Measure]:
    """Return the list of Measures that a user means by one or several names, similarities, functions or Measures."""
    several = measures if isinstance(measures, (list, tuple)) else [measures]
    if not several:
        raise ValueError(f"{what} must name at least one similarity, got an empty list")
    names = [one[0] for one in several if _is_pair(one)]
    if len(set(names)) < len(names) or any("__" in name for name in names):
        raise ValueError(f"the names of {what} must differ and must not contain '__', got {shown(names)}")
    return _numbered([as_measure(one, what) for one in several])


def _numbered(measures: list[Measure]) -> list[Measure]:
    """Return the measures, of which several that are precomputed mean one matrix after the other."""
    plain = [
        place
        for place, measure in enumerate(measures)
        if measure.features is None
        and measure.column is None
        and isinstance(similarity := resolve(measure.similarity), Precomputed)
        and similarity.layer is None
    ]
    if len(plain) > 1:
        for layer, place in enumerate(plain):
            measures[place] = replace(measures[place], similarity=Precomputed(layer, len(plain)))
    return measures


def _is_pair(measure: Any) -> bool:
    return isinstance(measure, tuple) and len(measure) == 2 and isinstance(measure[0], str)


def _name_of(measure: Any) -> str | None:
    """Return the name that a user has given a measure, or given it by."""
    if _is_pair(measure):
        return str(measure[0])
    name = measure.name if isinstance(measure, Measure) else measure
    return name if isinstance(name, str) else None


def portable_measures(measures: Any) -> Any:
    """Return what to send to other processes: names that only this one knows are resolved."""
    if not isinstance(measures, (list, tuple)):
        return portable(measures)
    return type(measures)((one[0], portable(one[1])) if _is_pair(one) else portable(one) for one in measures)


class TunableMeasures:
    """Mixed into an estimator with ``measures``: scikit-learn reaches their parameters by name.

    ``measures__gamma`` is gamma of the one measure there is, by instance or by name. Of several, those that came as
    pairs (name, measure) or have another name of their own can be reached: ``measures__shape__similarity__gamma``, for
    short ``measures__shape__gamma``, ``measures__shape__features``, ``measures__rbf__gamma``. Another process gets,
    for a name that the user has registered, what it stands for.
    """

    measures: Any

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters; ``deep`` includes those of the measures."""
        params: dict[str, Any] = super().get_params(deep=deep)  # type: ignore[misc]
        if deep:
            for prefix, tunable in self._tunable().items():
                params |= {f"{prefix}__{name}": value for name, value in tunable.get_params().items()}
        return params

    def set_params(self, **params: Any) -> Any:
        """Set parameters, those of the measures too."""
        if "measures" in params:  # first: the others may be about the new ones
            self.measures = params.pop("measures")
        own = {name: value for name, value in params.items() if not name.startswith("measures__")}
        super().set_params(**own)  # type: ignore[misc]
        tunable = self._tunable()
        for name, value in params.items():
            if name in own:
                continue
            prefix = max((p for p in tunable if name.startswith(f"{p}__")), key=len, default=None)
            if prefix is None:
                known = ", ".join(sorted(tunable)) or "none; give measures as pairs (name, measure)"
                raise ValueError(f"{name!r} is not a parameter of these measures; those with a name are {known}")
            part, short = tunable[prefix], name.removeprefix(f"{prefix}__")
            if isinstance(part, Measure) and short.partition("__")[0] not in part.get_params(deep=False):
                short = f"similarity__{short}"
            part.set_params(**{short: value})
        if len(own) < len(params):
            self._put_back(tunable)
        return self

    def __getstate__(self) -> dict[str, Any]:
        state = cast(dict[str, Any], super().__getstate__())
        return state | {"measures": portable_measures(self.measures)}

    def _tunable(self) -> dict[str, Any]:
        """Return what has parameters, by the prefix of their names; names of similarities are resolved."""
        try:
            if isinstance(self.measures, (list, tuple)):
                names = [_name_of(one) for one in self.measures]
                named = {name: one for name, one in zip(names, self.measures, strict=True) if names.count(name) == 1}
                return {f"measures__{name}": as_measure(one) for name, one in named.items() if name}
            if isinstance(self.measures, str):
                measure = as_measure(self.measures)
                return {"measures": measure if measure.features is not None else measure.similarity}
        except (TypeError, ValueError):  # fit will say what is wrong with them
            return {}
        return {"measures": self.measures} if hasattr(self.measures, "get_params") else {}

    def _put_back(self, tunable: dict[str, Any]) -> None:
        if isinstance(self.measures, (list, tuple)):
            pairs = [(one, tunable.get(f"measures__{_name_of(one)}", one)) for one in self.measures]
            self.measures = type(self.measures)((one[0], new) if _is_pair(one) else new for one, new in pairs)
        else:
            self.measures = tunable["measures"]


def compares_vectors(measures: list[Measure]) -> bool | str | None:
    """Say whether every measure compares plain vectors; "series" where some compare these instead.

    None where some have features or a column, which take X as it is.
    """
    if any(measure.features is not None or measure.column is not None for measure in measures):
        return None
    similarities = [resolve(measure.similarity) for measure in measures]
    if any(similarity.kind == "series" for similarity in similarities):
        return "series"
    return all(similarity.vectors for similarity in similarities)


def mirrored(measure: Any) -> Measure:
    """Return the measure of images whose exemplars may also be seen in the mirror, whichever matches better.

    The images are mirrored before their features are computed. Only the exemplars are: that is enough where a measure
    does not change when both images are mirrored, as those on a grid of cells (see :class:`besvm.similarities.Latent`).

    Parameters
    ----------
    measure : Measure, str, Similarity or callable
        A measure of images.

    Returns
    -------
    Measure
        The same, named ``...|mirror``.

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
        raise TypeError("mirrored takes a single measure, got several; write [mirrored(m) for m in measures]")
    plain = as_measure(measure)
    similarity = resolve(plain.similarity)
    if isinstance(similarity, Parts):  # which mirrors the regions as well
        return replace(plain, similarity=clone(similarity).set_params(mirror=True), name=f"{plain.label}|mirror")
    latent = Latent(plain.similarity, exemplar_variants=mirror)
    return replace(plain, similarity=latent, name=f"{plain.label}|mirror")
