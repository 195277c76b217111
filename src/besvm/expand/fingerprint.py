"""A key for what was computed: data by value, code by the files it is written in, so that nothing stale is served."""

import ast
import copyreg
import hashlib
import pickle
import sys
import sysconfig
from collections.abc import Iterable, Iterator
from functools import cache, lru_cache
from importlib.metadata import packages_distributions, version
from pathlib import Path
from time import time
from types import FunctionType, ModuleType
from typing import Any

import numpy as np
from joblib.hashing import NumpyHasher
from scipy.sparse import issparse

import besvm
from besvm._support.dask_source import DaskSource
from besvm._support.row_source import RowSource, unchecked
from besvm._support.rows import n_rows, span
from besvm._support.source_code import followed, imported, short_hash
from besvm._support.threads import slices
from besvm.similarities import registered

PLAIN = (type(None), bool, int, float, complex, str, bytes)
HASHED_ROWS, HASHED_BYTES = 1000, 1 << 22  # of samples, at a time
CACHED = type(lru_cache(len))
LOADED = time()  # a file that was edited later may not say what this process runs
BESVM = Path(besvm.__file__).parent


class UnknownSourceError(Exception):
    """It cannot be known whether something is what it was in an earlier run; the message says why."""


class _ByValue(NumpyHasher):  # type: ignore[misc]
    """joblib's hasher, blind to what another run has otherwise: which parts are one object, and the order in a set."""

    dispatch = NumpyHasher.dispatch.copy()

    def save(self, thing: Any) -> None:
        inside = id(thing) in self.memo  # of itself
        super().save(thing)
        if not inside:
            self.memo.pop(id(thing), None)

    def save_set(self, things: Any) -> None:
        self.save((type(things).__name__, sorted(map(_hash, things))))

    dispatch[set] = dispatch[frozenset] = save_set

    def _batch_setitems(self, items: Any, *args: Any) -> None:
        items = list(items)
        if not {type(key) for key, _ in items} <= {str, int}:  # sets can be sorted, but not into one order
            items = [(_hash(key), value) for key, value in items]
        super()._batch_setitems(items, *args)


def _hash(thing: Any) -> str:
    return str(_ByValue(hash_name="sha1").hash(thing))


def fingerprint(*things: Any) -> str:
    """Return a hash of everything that the things hold and, by their code, do.

    Data counts by value, an object by its class and what it holds, a function by its defaults and closure, and every
    class and function by its source (see :func:`sources`). Not seen is what no source file says: files and environment
    variables that a function reads, globals that change while the program runs, modules imported by a computed name.

    UnknownSourceError is raised for what has no source file (typed at a prompt or in a notebook, a class made inside a
    function, the user's own extension modules), was edited since it was loaded, or cannot be hashed, such as a lock.
    """
    sources.cache_clear()
    try:
        return _hash([_content(thing) for thing in things])
    except (pickle.PicklingError, ImportError, AttributeError, TypeError, ValueError, RecursionError) as error:
        raise UnknownSourceError(f"it cannot be hashed: {error}") from error


def hash_of_rows(X: Any) -> str:
    """Return a hash of samples, read some at a time: by value, wherever they are kept.

    Those of a Dask collection are hashed a partition at a time, where they are.
    """
    inner = unchecked(X)
    if isinstance(inner, DaskSource):
        return fingerprint(inner.shape, str(inner.dtype), inner.ends, inner.hashes(hash_of_rows))
    if not isinstance(X, (np.ndarray, RowSource)) or X.dtype == object:
        each = HASHED_ROWS if not issparse(X) else max(1, n_rows(X))
        return fingerprint(*(_hash_of_items(span(X, rows)) for rows in slices(n_rows(X), each)))
    found = hashlib.blake2b(f"{X.dtype.str} {X.shape}".encode(), digest_size=20)
    each = max(1, HASHED_BYTES // max(1, X.dtype.itemsize * int(np.prod(X.shape[1:]))))
    for rows in slices(n_rows(X), each):
        found.update(np.ascontiguousarray(span(X, rows)).data)
    return found.hexdigest()


def _hash_of_items(items: Any) -> str:
    try:
        return _hash(items)
    except (pickle.PicklingError, AttributeError, TypeError, ValueError, RecursionError) as error:
        raise UnknownSourceError(f"a sample cannot be hashed: {error}") from error


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
        return "set", sorted(_hash(_content(item)) for item in thing)
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
        return "global", _named(thing, getattr(thing, "__module__", "numpy"), parts)  # NumPy 2.0's ufuncs do not say
    return "object", [_content(list(part) if isinstance(part, Iterator) else part) for part in parts]


def _function(function: FunctionType) -> Any:
    code = function.__code__
    where: Any = code.co_firstlineno
    if code.co_name == "<lambda>":  # there may be several in a line
        where = list(code.co_positions())
        if all(column is None for *_, column in where):
            raise UnknownSourceError(
                "Python runs without column numbers (-X no_debug_ranges), so lambdas on one line look the same"
            )
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


def besvm_sources(*rooms: str) -> list[str]:
    """Return what besvm's own code in these rooms counts by: its files, and the versions of what it computes with."""
    files = sorted(file for room in rooms for file in BESVM.glob(room if room.endswith(".py") else f"{room}/**/*.py"))
    used = [f"{name} {version(name)}" for name in ("numpy", "scipy", "scikit-learn", "numba")]
    return [besvm.__version__, *used, *(short_hash(_read(str(file))) for file in files)]


@cache
def sources(file: str | None, package: str | None) -> tuple[tuple[str, str], ...]:
    """Return what the code in a file counts by, for itself ("") and every module that it imports, in turn.

    The user's own files count by their bytes. What came with Python, besvm or an installed package counts by the
    version of that, and its imports are not followed. ``package`` is what relative imports start from. What was found
    is remembered until ``sources.cache_clear()``.
    """
    if file is None:
        raise UnknownSourceError("its code has no source file")

    def read(name: str) -> tuple[str, Iterable[str]]:
        place, inside = place_of(name) if name else (file, package)
        came_with = "not there" if place is None else _installed(place)
        if place is None or came_with:
            return came_with, ()
        code = _read(place)
        try:
            return short_hash(code), imported([ast.parse(code)], inside)
        except (SyntaxError, ValueError):  # an extension module, say
            raise UnknownSourceError(f"{Path(place).name} is not written in Python") from None

    return tuple(sorted(followed([""], read).items()))


def place_of(name: str) -> tuple[str | None, str | None]:
    """Return the file of a module and the package it is in; nothing is imported for it."""
    module = sys.modules.get(name)
    if module is not None:
        built_in = "built-in" if name in sys.builtin_module_names else None
        return getattr(module, "__file__", built_in), module.__package__
    spec = _find(name)
    return (None, None) if spec is None else (spec.origin, spec.parent)


def _find(name: str) -> Any:
    """Find a module as ``importlib.util.find_spec`` does, but without importing the packages it is in."""
    parent = name.rpartition(".")[0]
    above = sys.modules[parent].__spec__ if parent in sys.modules else _find(parent) if parent else None
    path = getattr(above, "submodule_search_locations", None)
    if parent and path is None:
        return None
    return next(filter(None, (finder.find_spec(name, path) for finder in sys.meta_path)), None)


@cache
def _installed(file: str) -> str:
    """Return which version of what a file came with; nothing for the user's own."""
    path = Path(file)
    if path.is_relative_to(BESVM):
        return "besvm"  # whose files count in any case
    for place in {"site-packages", "dist-packages"}.intersection(path.parts):
        top = path.parts[path.parts.index(place) + 1].partition(".")[0]
        return ", ".join(sorted({f"{name} {version(name)}" for name in _distributions().get(top, ())}))
    within = any(path.is_relative_to(sysconfig.get_path(name)) for name in ("stdlib", "platstdlib"))
    return f"Python {sys.version}" if within or file == "built-in" or file.startswith("<frozen ") else ""


_distributions = cache(packages_distributions)


def _read(file: str) -> bytes:
    path = Path(file)
    if not path.is_file():
        raise UnknownSourceError(f"its code has no source file, only {file}")
    if path.stat().st_mtime > LOADED:
        raise UnknownSourceError(f"{path.name} was edited while the program was running")
    return path.read_bytes()
