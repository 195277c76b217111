"""Import optional dependencies, and say which extra to install when one is missing."""

from __future__ import annotations

from importlib import import_module
from typing import Any

EXTRA_OF = {
    "matplotlib": "plots",
    "matplotlib.pyplot": "plots",
    "pooch": "data",
    "PIL.Image": "data",
    "PIL.ImageOps": "data",
}


def optional(module: str, purpose: str) -> Any:
    """Return the imported ``module``, needed for ``purpose``."""
    try:
        return import_module(module)
    except ImportError as error:
        extra = EXTRA_OF[module]
        raise ImportError(f"{purpose} needs {module.split('.')[0]}; install besvm[{extra}]") from error
