"""A key for what was computed: data by value, code by the files it is written in, so that nothing stale is served."""

from __future__ import annotations

import copyreg
import pickle
import sys
from collections.abc import Iterator
from functools import lru_cache
from types import FunctionType, ModuleType
from typing import Any

import joblib
import numpy as np

from besvm.selection.sources import UnknownSourceError, place_of, sources
from besvm.similarities import registered

PLAIN = (type(None), bool, int, float, complex, str, bytes)
CACHED = type(lru_cache(len))


def fingerprint(*things: Any) -> str:
    """Return a hash of everything that the things hold and, by their code, do.

    Data counts by value, an object by its class and what it holds, a function by its defaults and closure. Every class
    and function met in there counts by its source (see :func:`besvm.selection.sources.sources`): the user's own by the
    bytes of its file and of the user's modules that this imports, an installed one by the package's version.

    Not seen is what no source file says: files and environment variables that a function reads, globals that the
    program sets from those or changes while it runs, and modules imported by a computed name.

    Raises
    ------
    UnknownSourceError
        For what has no source file (typed at a prompt or in a notebook, a class made inside a function, the user's own
        extension modules), was edited since it was loaded, or holds what cannot be hashed, such as a lock.

    Examples
    --------
    >>> from besvm.similarities import RBF
    >>> fingerprint(RBF(gamma=1.0)) == fingerprint(RBF(gamma=1.0))
    True
    >>> fingerprint(RBF(gamma=1.0)) == fingerprint(RBF(gamma=2.0))
    False
    """
    sources.cache_clear()
    try:
        return str(joblib.hash([_content(thing) for thing in things], hash_name="sha1"))
    except (pickle.PicklingError, ImportError, AttributeError, TypeError, ValueError, RecursionError) as error:
        raise UnknownSourceError(f"it cannot be hashed: {error}") from error


def _content(thing: Any) -> Any:
    """Return plain data that stands for a thing."""
    kind = type(thing)
    if kind is str and thing in registered():  # what a similarity's name stands for may be the user's
        return "similarity", thing, _content(registered()[thing])
    if kind in PLAIN or isinstance(thing, np.generic):
        return thing
    if kind in (list, tuple):
        return kind.__name__, [_content(item) for item in thing]
    if kind is dict:
        return "dict", [(_content(key), _content(value)) for key, value in thing.items()]
    if kind in (set, frozenset):
        return "set", sorted(joblib.hash(_content(item)) for item in thing)
    if kind in (np.ndarray, np.memmap):
        return (thing.shape, _content(thing.tolist())) if thing.dtype.hasobject else np.asarray(thing)
    if kind is FunctionType:
        return _function(thing)
    if isinstance(thing, type):
        return "class", _named(thing, thing.__module__, thing.__qualname__)
    if kind is ModuleType:
        return "module", sources(*place_of(thing.__name__))
    if kind is CACHED or kind.__module__.startswith("numba."):
        return "wrapped", kind.__qualname__, _content([getattr(thing, "targetoptions", None), thing.__wrapped__])
    reduce = copyreg.dispatch_table.get(kind)
    parts = reduce(thing) if reduce else thing.__reduce_ex__(4)  # as pickle takes things apart
    if isinstance(parts, str):
        return "global", _named(thing, thing.__module__, parts)
    return "object", [_content(list(part) if isinstance(part, Iterator) else part) for part in parts]


def _function(function: FunctionType) -> Any:
    code = function.__code__
    where: Any = code.co_firstlineno
    if code.co_name == "<lambda>":  # there may be several in a line
        where = list(code.co_positions())
        if all(column is None for *_, column in where):
            raise UnknownSourceError("Python was told to keep no columns, so that lambdas in one line look the same")
    closure = [cell.cell_contents for cell in function.__closure__ or ()]
    own = _content([function.__defaults__, function.__kwdefaults__, closure, vars(function)])
    source = sources(code.co_filename, function.__globals__.get("__package__"))
    return "function", source, function.__qualname__, where, own


def _named(thing: Any, module: str, name: str) -> Any:
    """Return the source and the name of what its module knows by that name."""
    found: Any = sys.modules.get(module)
    for part in name.split("."):
        found = getattr(found, part, None)
    if found is not thing:
        raise UnknownSourceError(f"{name} cannot be found in {module}")
    return sources(*place_of(module)), name
