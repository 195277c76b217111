"""Large-margin classification with any similarity measure, positive definite or not."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from besvm import recipes
    from besvm.classifier import BESVMClassifier
    from besvm.expansion import BasisExpansion
    from besvm.explanations import explain
    from besvm.features import FHOG, CellColor
    from besvm.files import load, save
    from besvm.linear import LinearSVMClassifier
    from besvm.measures import Measure
    from besvm.normalize import MeanNormScaler, Nystrom
    from besvm.pruning import prune

    __version__: str

__all__ = [
    "FHOG",
    "BESVMClassifier",
    "BasisExpansion",
    "CellColor",
    "LinearSVMClassifier",
    "MeanNormScaler",
    "Measure",
    "Nystrom",
    "explain",
    "load",
    "prune",
    "recipes",
    "save",
]

_HOME = {  # imported when first asked for: scikit-learn alone takes most of a second
    "BESVMClassifier": "classifier",
    "BasisExpansion": "expansion",
    "CellColor": "features",
    "FHOG": "features",
    "LinearSVMClassifier": "linear",
    "MeanNormScaler": "normalize",
    "Measure": "measures",
    "Nystrom": "normalize",
    "explain": "explanations",
    "load": "files",
    "prune": "pruning",
    "save": "files",
}


def __getattr__(name: str) -> Any:
    if name == "__version__":
        return globals().setdefault(name, _version())
    if name == "recipes":
        return import_module("besvm.recipes")
    if name in _HOME:
        return getattr(import_module(f"besvm.{_HOME[name]}"), name)
    raise AttributeError(f"module 'besvm' has no attribute {name!r}")


def _version() -> str:
    """Return the version that pyproject.toml gave the installed package, and nothing else says it again."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("besvm")
    except PackageNotFoundError:  # run from a copy of the source that was never installed
        return "0+unknown"


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
