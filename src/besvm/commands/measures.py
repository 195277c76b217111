"""Which measures compare the samples: those that a user names, or those that are usual for the kind of data."""

from __future__ import annotations

import re
from dataclasses import replace
from importlib.util import find_spec
from typing import Any

import numpy as np
from sklearn.preprocessing import StandardScaler

from besvm import recipes
from besvm._support.extras import EXTRA_OF
from besvm._support.parameters import shown
from besvm._support.rows import evenly_spaced
from besvm.basis import RandomBasis
from besvm.inputs import Data
from besvm.measures import MIRROR, Measure, as_measure, mirrored
from besvm.similarities import DTW, Gower, Similarity, resolve

LOOKED_AT = 1000  # texts whose length is looked at
SHORT = 40  # characters: texts up to here are compared letter by letter, longer ones by their words
PIECE = 9  # time points that the pieces of the recipe for series have
DNA = frozenset("ACGTUN-*")  # letters of DNA and RNA: alignments of these have no substitution matrix of their own
SIZES = tuple(recipes.IMAGES)
SHORTHAND = re.compile(r"\s*[HhPp]\s*\d.*")
SPEC = re.compile(r"(?P<name>[^\[\]()|]+?)\s*(?:\((?P<params>[^()]*)\))?\s*(?:\[(?P<columns>.*)\])?")
WORDS: dict[str, Any] = {"true": True, "false": False, "none": None}
TAKES = {  # kinds of data that similarities of a kind can compare; those of others can all
    "text": ("text", "sequences", "records"),
    "sequences": ("text", "sequences", "records"),
    "images": ("images",),
    "series": ("series", "vectors"),
    "records": ("records",),
    "vectors": ("vectors", "records", "images", "series"),
    "graphs": (),
}

CANDIDATES = {  # for `besvm select`
    "vectors": ["rbf", "laplacian", "linear", "cosine", "polynomial"],
    "images": [f"{name}{MIRROR}" for name in ("H8R", "H8(1,0)", "H4(2,0)", "H4(0,1)", "P6")],
    "series": ["dtw", "dtw(window=0.1)", "ddtw", "erp", "msm", "twe", "sbd", "series-parts(length=9,pool=max)"],
    "text": ["edit", "jaro-winkler", "token-ratio", "lcs", "kmers(k=2)", "kmers(k=3)", "kmers(k=4)"],
    "sequences": ["kmers(k=1)", "kmers(k=2)", "kmers(k=3)"],  # and the alignments of their letters
    "records": ["gower", "gower(how=complement)"],
}
NEEDS = {"edit": "rapidfuzz", "jaro-winkler": "rapidfuzz", "token-ratio": "rapidfuzz", "lcs": "rapidfuzz"} | {
    "align-global": "pyopal",
    "align-local": "pyopal",
}
ALIGNED_DNA = "align-local(matrix=NUC.4.4,gap_open=10)"
ALIGNED = frozenset("ACGTN")  # letters that its matrix scores, of those that tell DNA; RNA has others
LONGEST_ALIGNED = 500  # letters, on average: an alignment takes as long as the product of both lengths


def chosen(data: Data, names: list[str], size: str) -> list[Measure]:
    """Return the measures that a user names, or else those that are usual for the data."""
    return [parsed(name, data) for name in names] if names else usual(data, size)


def check_size(size: str) -> None:
    """Refuse what is no size of the usual measures."""
    if size not in SIZES:
        raise ValueError(f"--size must be one of {', '.join(SIZES)}, got {shown(size)}")


def candidates(data: Data, names: list[str]) -> list[Measure]:
    """Return the measures to choose from: those that a user names, or all that are usual for the data."""
    if names:
        return [parsed(name, data) for name in names]
    if data.kind not in CANDIDATES:
        raise ValueError(
            f"{data.source} has {data.kind} similarities, so there are no measures to choose from; use `besvm train`"
        )
    usable = [name for name in CANDIDATES[data.kind] if _installed(name)]
    if data.kind == "sequences":
        usable += [name for name in _alignments(data.X) if _installed(name)]
    if data.kind == "series" and _shortest(data) < PIECE:
        usable = [name for name in usable if "parts" not in name]
    found = [parsed(name, data) for name in usable]
    if data.kind == "records":
        found += [_of_text(data, column) for column in _texts(data)]
    return found


def usual(data: Data, size: str) -> list[Measure]:
    """Return the measures that are usual for the kind of data."""
    if data.kind == "images":
        return recipes.images(size)
    if data.kind == "series":
        return [Measure(DTW())] if _shortest(data) < PIECE else recipes.series(size)
    if data.kind == "vectors":
        return [parsed("rbf", data)]
    if data.kind == "precomputed":
        return [Measure("precomputed")]
    if data.kind in ("sequences", "text"):
        return [parsed(name, data) for name in _usual_of_texts(data) if _installed(name)]
    texts = _texts(data)
    own = [_of_text(data, column) for column in texts]
    return own if len(texts) == len(data.columns or {}) else [_gower(data, {}), *own]


def not_installed(data: Data) -> str:
    """Return which usual measures of the data are left out, and which extra brings them; nothing if none are."""
    missing = [name for name in _usual_of_texts(data) if not _installed(name)]
    if not missing:
        return ""
    extra = EXTRA_OF[NEEDS[missing[0].partition("(")[0]]]
    return f"{' and '.join(missing)} left out: install besvm with the extra {extra!r} to use them"


def _usual_of_texts(data: Data) -> list[str]:
    """Return the usual measures of texts and sequences, whether they are installed or not."""
    if data.kind == "sequences":
        aligned = _alignments(data.X)
        return [*aligned, "kmers(k=1)", "kmers(k=2)", "kmers(k=3)"]
    if data.kind == "text":
        own = ["edit", "jaro-winkler"] if _are_short(data.X) else ["token-ratio"]
        return [*own, "kmers(k=2)", "kmers(k=3)", "kmers(k=4)"]
    return []


def parsed(text: str, data: Data) -> Measure:
    """Return the measure that a user means: "rbf", "dtw(window=0.1)", "edit[name]", "H4(2,0)", "H8R|mirror".

    Examples
    --------
    >>> data = Data([{"name": "ann"}], None, "records", ["1"], columns={"name": "text"})
    >>> parsed("edit(transpositions=true)[name]", data).similarity
    Edit(transpositions=True)
    """
    spec = text.strip()
    if spec.endswith(MIRROR):
        return mirrored(parsed(spec.removesuffix(MIRROR), data))
    if SHORTHAND.fullmatch(spec):
        _refuse_other_kind(spec, "images", data)
        return as_measure(spec, "--measure")
    found = SPEC.fullmatch(spec)
    if found is None:
        raise ValueError(
            "--measure must be a name, optionally with parameters or a column, such as dtw(window=0.1) or edit[name], "
            f"got {shown(text)}; `besvm similarities` lists all names"
        )
    params = _params(found["name"], found["params"])
    similarity = resolve(found["name"], "--measure")
    if not similarity.precomputed:
        _refuse_other_kind(spec, similarity.kind, data)
    name = f"{found['name']}({found['params']})" if params else None
    if data.kind == "records" and isinstance(similarity, Gower) and found["columns"] is None:
        return _gower(data, params, name)
    similarity = _with(similarity, params)
    if data.kind == "records":
        columns = _columns(found["columns"], similarity, data)
        label = None if name is None else f"{name}[{found['columns'] or ','.join(columns)}]"
        column: Any = columns if similarity.vectors or isinstance(similarity, Gower) else columns[0]
        return Measure(similarity, column=column, features=_scaler(similarity), name=label)
    if found["columns"] is not None:
        raise ValueError(
            f"--measure can name a column only for records, but {data.source} has {data.kind}, got {shown(text)}; "
            "leave out the part in brackets"
        )
    return Measure(similarity, features=_scaler(similarity) if data.kind == "vectors" else None, name=name)


def with_basis(measures: list[Measure], basis: float | None, n: int) -> list[Measure]:
    """Return the measures with so many exemplars each, or parts, of n rows; None: as many as they have."""
    return [_with_basis(measure, basis, n) for measure in measures]


def shared_basis(basis: float | None, n: int) -> Any:
    """Return the basis of all measures that have none of their own."""
    return "auto" if basis is None else _at_most(basis, n)


def listed(measures: list[Measure]) -> str:
    """Return what the measures are called, for people."""
    scaled = any(isinstance(measure.features, StandardScaler) for measure in measures)
    return " + ".join(measure.label for measure in measures) + (" (columns scaled to unit variance)" if scaled else "")


def _refuse_other_kind(name: str, kind: str, data: Data) -> None:
    if data.kind not in TAKES.get(kind, (data.kind,)):
        raise ValueError(
            f"--measure {name} compares {kind}, but {data.source} has {data.kind}; `besvm similarities` lists others"
        )


def _with_basis(measure: Measure, basis: float | None, n: int) -> Measure:
    own = measure.basis
    if not isinstance(own, RandomBasis):
        return measure
    wanted = own.n if basis is None else basis
    parts = resolve(measure.similarity).of_parts
    return replace(measure, basis=RandomBasis(wanted if parts else _at_most(wanted, n)))


def _at_most(wanted: Any, n: int) -> Any:
    return wanted if isinstance(wanted, float) else min(int(wanted), n)


def _gower(data: Data, params: dict[str, Any], name: str | None = None) -> Measure:
    """Return Gower's measure of all columns but those of texts, which are compared by measures of their own."""
    weights = dict.fromkeys(_texts(data), 0.0)
    similarity = _with(Gower(weights=weights or None), params)
    return Measure(similarity, name=name)


def _of_text(data: Data, column: str) -> Measure:
    values = [row[column] or "" for row in evenly_spaced(data.X, LOOKED_AT)]
    if not _installed("edit"):
        raise ImportError(
            f"comparing the texts of column {column!r} needs rapidfuzz; install besvm with the extra 'text'"
        )
    return Measure(resolve("edit" if _are_short(values) else "token-ratio"), column=column)


def _texts(data: Data) -> list[str]:
    return [name for name, kind in (data.columns or {}).items() if kind == "text"]


def _shortest(data: Data) -> int:
    """Return the time points of the shortest series."""
    return min(int(np.shape(one)[-1]) for one in data.X)


def _are_short(texts: list[str]) -> bool:
    return float(np.median([len(text) for text in evenly_spaced(texts, LOOKED_AT)])) <= SHORT


def _alignments(sequences: list[str]) -> list[str]:
    """Return the alignments that suit sequences: of proteins, or of DNA that is short enough to be quick."""
    if not _are_dna(sequences):
        return ["align-global", "align-local"]
    quick = sum(map(len, sequences)) <= LONGEST_ALIGNED * len(sequences)
    return [ALIGNED_DNA] if quick and all(ALIGNED.issuperset(one.upper()) for one in sequences) else []


def _are_dna(sequences: list[str]) -> bool:
    return all(DNA.issuperset(one.upper()) for one in evenly_spaced(sequences, LOOKED_AT))


def _installed(name: str) -> bool:
    module = NEEDS.get(name.partition("(")[0])
    return module is None or find_spec(module) is not None


def _scaler(similarity: Similarity) -> Any:
    return StandardScaler() if similarity.vectors and similarity.needs_scaling else None


def _columns(given: str | None, similarity: Similarity, data: Data) -> list[str]:
    """Return the columns of records that a similarity compares: those that are named, or all that it can."""
    known = data.columns or {}
    if given is not None:
        names = [given] if given in known else [name.strip() for name in given.split(",")]
        unknown = next((name for name in names if name not in known), None)
        if unknown is not None:
            raise ValueError(f"{data.source} has no column {unknown!r} to compare; its columns are {', '.join(known)}")
        return names
    numbers = [name for name, kind in known.items() if kind in ("number", "date")]
    names = numbers if similarity.vectors else _texts(data)
    if not names or (not similarity.vectors and len(names) > 1):
        raise ValueError(
            f"--measure must say which column of {data.source} to compare, "
            f"such as '{similarity.label}[{next(iter(known))}]'"
        )
    return names


def _params(name: str, text: str | None) -> dict[str, Any]:
    """Return parameters written as ``key=value, key=value``."""
    out: dict[str, Any] = {}
    for part in (text or "").split(","):
        if not part.strip():
            continue
        key, equals, value = (piece.strip() for piece in part.partition("="))
        if not (equals and key and value):
            raise ValueError(
                f"--measure must have its parameters as key=value, as in {name}(key=value), got {shown(part.strip())}"
            )
        out[key] = _value(value)
    return out


def _value(text: str) -> Any:
    if text.lower() in WORDS:
        return WORDS[text.lower()]
    for number in (int, float):
        try:
            return number(text)
        except ValueError:
            continue
    return text


def _with(similarity: Similarity, params: dict[str, Any]) -> Similarity:
    known = similarity.get_params(deep=False)
    unknown = next((key for key in params if key not in known), None)
    if unknown is not None:
        has = f"its parameters are {', '.join(known)}" if known else "it has no parameters"
        raise ValueError(f"--measure {similarity.label} has no parameter {unknown!r}; {has}")
    return similarity.set_params(**params)
