"""Which classes and functions a file may name: those of besvm, some of scikit-learn's, and what users register.

Looking one up imports modules that are named here, and none that a file names.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any, TypeVar

from besvm.similarities.contract import Similarity, registered

T = TypeVar("T")

OURS: dict[str, tuple[str, ...]] = {
    "besvm": ("BESVMClassifier", "BasisExpansion", "LinearSVMClassifier", "Measure", "MeanNormScaler", "Nystrom"),
    "besvm.features": (
        *("FHOG", "CellColor", "CellPCA", "Column", "Crops", "Fingerprints", "Pixels", "Rotations", "Shifts"),
        "mirror",
    ),
    "besvm.normalize": (
        *("Affine", "Identity", "MeanNorm", "MeanNormScaler", "Nystrom", "Rotation", "Unscaled", "ZScore"),
    ),
    "besvm.basis": (
        *("Exemplars", "FarthestBasis", "GradientBasis", "IndexBasis", "KMeansBasis", "KMedoidsBasis"),
        *("PivotedBasis", "RandomBasis"),
    ),
    "besvm.expand": ("Expander", "FeatureMap", "FittedMeasure"),
    "besvm.similarities": ("Jitter", "Latent", "PairwiseKernel"),  # the others are called by their registered names
    "besvm.similarities.parts": ("Pieces",),
    "besvm.baselines": (
        *("DualBESVMClassifier", "JitteredClassifier", "KernelSVMClassifier", "LineSearchMKL"),
        *("Gram", "Items", "Term", "PairSolver", "Votes", "PairModel"),
    ),
    "besvm.selection": ("GreedySelection", "SelectionStep"),
    "besvm.pruning": ("PruningCurve",),
}
THEIRS: dict[str, tuple[str, ...]] = {
    "sklearn.preprocessing": (
        *("Binarizer", "MaxAbsScaler", "MinMaxScaler", "Normalizer", "OneHotEncoder", "OrdinalEncoder"),
        *("PowerTransformer", "QuantileTransformer", "RobustScaler", "StandardScaler"),
    ),
    "sklearn.decomposition": ("PCA", "IncrementalPCA", "TruncatedSVD"),
    "sklearn.impute": ("MissingIndicator", "SimpleImputer"),
    "sklearn.pipeline": ("FeatureUnion", "Pipeline"),
}
_registry: dict[str, Any] = {}


class UnknownNameError(LookupError):
    """A name that means nothing here, with a sentence that says what to do."""


def savable(name: str) -> Callable[[T], T]:
    """Let model files hold a class of yours by this name: features, a basis selector, a normalization.

    Of an object its attributes are kept, if these can be: numbers, texts, arrays, lists, other savable objects. Its
    ``__init__`` is not called when it is loaded. Similarities are registered by :func:`besvm.similarities.register`,
    and need nothing else. A function, like those that make variants of an image, can be given a name in the same way.

    Parameters
    ----------
    name : str
        Whoever loads the file must have registered the same name.

    Returns
    -------
    callable
        What puts the name on the class below it.

    Examples
    --------
    >>> from sklearn.base import BaseEstimator, TransformerMixin
    >>> from besvm.files import savable
    >>> @savable("lengths")
    ... class Lengths(TransformerMixin, BaseEstimator):
    ...     def fit(self, X, y=None):
    ...         return self
    ...     def transform(self, X):
    ...         return [[len(x)] for x in X]
    """
    if not (isinstance(name, str) and name):
        raise TypeError(f"the name must be a string, got {name!r}")

    def enter(thing: T) -> T:
        known = _registry.get(name)
        if known is not None and _address(known) != _address(thing):
            raise ValueError(f"the name {name!r} already belongs to {'.'.join(_address(known))}; choose another")
        _registry[name] = thing
        return thing

    return enter


def name_of(thing: Any) -> str | None:
    """Return what a file calls a class or a function; None if it can hold none of it."""
    for name, known in _registry.items():
        if known is thing:
            return f"savable:{name}"
    if isinstance(thing, type) and issubclass(thing, Similarity) and registered().get(thing.name) is thing:
        return f"similarity:{thing.name}"
    root = getattr(thing, "__module__", "").partition(".")[0]
    name = getattr(thing, "__name__", "")
    for module, names in {"besvm": OURS, "sklearn": THEIRS}.get(root, {}).items():
        if name in names and getattr(import_module(module), name, None) is thing:
            return f"{module}.{name}"
    return None


def named(name: str) -> Any:
    """Return the class or function that a file means.

    Raises
    ------
    UnknownNameError
        With a sentence, if there is none.
    """
    kind, colon, rest = name.partition(":")
    if colon and kind == "similarity":
        if rest in registered():
            return registered()[rest]
        raise UnknownNameError(
            f"the model uses the similarity {rest[:80]!r}, which is not registered; import the module that "
            "registers it, then load again"
        )
    if colon and kind == "savable":
        if rest in _registry:
            return _registry[rest]
        raise UnknownNameError(
            f"the model contains a {rest[:80]!r}, which is not registered; import the module that registers it "
            "(besvm.files.savable), then load again"
        )
    module, _, last = name.rpartition(".")
    if last in OURS.get(module, ()) or last in THEIRS.get(module, ()):
        return getattr(import_module(module), last)
    raise UnknownNameError(
        f"the model names {name[:80]!r}, which is not allowed in a model file; get a new copy of the file"
    )


def _address(thing: Any) -> tuple[str, str]:
    return getattr(thing, "__module__", ""), getattr(thing, "__qualname__", repr(thing))
