"""The key of a finished cell: all that its numbers depend on, and nothing else."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from besvm.reproduction.cells import Cell
from besvm.reproduction.lab import Lab, digest
from besvm.reproduction.sources import SOURCES

code_of = cache(SOURCES.hash_of)


def key_of(cell: Cell) -> str:
    """Return a text that is the same as long as the cell gives the same numbers: its key, its code and its arguments.

    A function of a cell sees nothing but its arguments (a lab has no configuration), so they are all that it depends
    on beside its code: a lab counts by its data, an array by its contents, an estimator by its parameters.
    """
    compute = cell.compute
    depends_on = [code_of(compute.func), compute.func.__qualname__, compute.args, compute.keywords]
    return json.dumps([cell.key, depends_on], sort_keys=True, default=_plain)


def _plain(value: Any) -> Any:
    if isinstance(value, Lab):
        return value.fingerprint
    if isinstance(value, np.ndarray):
        return digest(value)
    if isinstance(value, BaseEstimator):
        return [type(value).__name__, value.get_params()]
    raise TypeError(f"an argument of a cell must be plain data, an array, an estimator or the lab, got {value!r}")
