"""Import optional dependencies, and say which extra to install when one is missing."""

from importlib import import_module
from typing import Any

EXTRA_OF = {
    "matplotlib": "plots",
    "pooch": "data",
    "PIL": "data",
    "pyarrow": "tables",
    "rapidfuzz": "text",
    "pyopal": "bio",
    "scoring_matrices": "bio",
    "rdkit": "chem",
    "ot": "transport",
    "jinja2": "report",
    "dask": "cluster",
    "distributed": "cluster",
    "cloudpickle": "cluster",
}


def optional(module: str, purpose: str) -> Any:
    """Return the imported ``module``, needed for ``purpose``."""
    try:
        return import_module(module)
    except ImportError as error:
        package = module.split(".")[0]
        wanted = f"besvm with the extra {EXTRA_OF[package]!r}" if package in EXTRA_OF else package
        raise ImportError(f"{purpose} needs {package}; install {wanted}") from error
