"""Objects in a file: the name of a class and its attributes; functions by name."""

from __future__ import annotations

import inspect
from functools import cache
from typing import Any

from besvm.files.classes import name_of, named
from besvm.files.kinds import Kind, Pack, Unpack, UnsavableError, UnsoundError, items_of, packed_all, text_of
from besvm.similarities.contract import Similarity

PLACES = ("memory", "folder", "checkpoint", "client")  # parameters that name a folder, or a scheduler on the network


def _pack_object(value: Any, where: str, pack: Pack, keep: Any) -> dict[str, Any]:
    cls = type(value)
    name = name_of(cls)
    if name is None:
        raise UnsavableError(_why_not(value, where))
    if isinstance(value, tuple):
        return {"class": name, "items": packed_all(value, where, pack)}
    state = value.to_file() if hasattr(cls, "to_file") else value.__getstate__()
    if not isinstance(state, dict):
        state = {} if state is None else None
    if state is None:
        raise UnsavableError(f"{where} is a {cls.__name__} without plain attributes, which a model file cannot hold")
    kept = {key: held for key, held in state.items() if key != "_sklearn_version"}
    if "random_state" in kept and not isinstance(kept["random_state"], (int, type(None))):
        kept["random_state"] = None  # a generator in the middle of its numbers is nothing that a model needs
    state = {key: None if _is_place(cls, key) else pack(held, f"{where}.{key}") for key, held in kept.items()}
    return {"class": name, "state": state}


def _why_not(value: Any, where: str) -> str:
    cls = type(value)
    if callable(value) and not hasattr(value, "get_params"):
        return (
            f"a Python function cannot be saved, but {where} is {getattr(value, '__name__', cls.__name__)!r}; write a "
            "Similarity instead, register it (besvm.similarities.register), and train with that"
        )
    if isinstance(value, Similarity):
        return (
            f"{where} is a {cls.__name__}, a similarity without a registered name; register it "
            f"(@besvm.similarities.register({cls.__name__.lower()!r})), and train again"
        )
    return (
        f"{where} is a {cls.__module__}.{cls.__qualname__}, which a model file cannot hold; if it is yours, register "
        "it (besvm.files.savable); otherwise, do its work before the model"
    )


def _unpack_object(node: dict[str, Any], unpack: Unpack, array: Any) -> Any:
    cls = named(text_of(node, "class"))
    if not isinstance(cls, type):
        raise UnsoundError("an object must have a class")
    if issubclass(cls, tuple):
        return cls(*(unpack(item) for item in items_of(node)))
    state = node.get("state")
    if not isinstance(state, dict):
        raise UnsoundError("an object must have attributes")
    held: Any = object.__new__(cls)
    for key, value in state.items():
        _check_attribute(cls, key)
        vars(held)[key] = None if _is_place(cls, key) else unpack(value)
    if _root(cls) == "sklearn" and "n_jobs" in vars(held):
        held.n_jobs = None  # a file may not start processes
    if hasattr(cls, "from_file"):
        held.from_file()
    return held


def _check_attribute(cls: type, key: str) -> None:
    """Refuse a name that is no attribute, or that would stand in the way of what the class does."""
    if not key.isidentifier() or key.startswith("__") or (hasattr(cls, key) and not _is_default(cls, key)):
        raise UnsoundError(f"a {cls.__name__} has no attribute {key[:40]!r}")


def _is_default(cls: type, key: str) -> bool:
    """Say whether what a class has by a name is a default for its objects, and not what it is for all of them.

    In classes of besvm and scikit-learn, defaults are those of parameters and of what is learned; a flag or a constant
    that a file could change would reach compiled code, which counts on it.
    """
    own = getattr(cls, key)
    if callable(own) or isinstance(own, property):
        return False
    return _root(cls) not in ("besvm", "sklearn") or key.endswith("_") or key in _parameters(cls)


def _is_place(cls: type, key: str) -> bool:
    """Say whether a parameter names where to train or what to write, which the owner of the machine decides."""
    return key in PLACES and any(_root(base) in ("besvm", "sklearn") and key in _parameters(base) for base in cls.mro())


@cache
def _parameters(cls: type) -> frozenset[str]:
    return frozenset(inspect.signature(cls).parameters)


def _root(cls: type) -> str:
    return cls.__module__.partition(".")[0]


def _unpack_function(node: dict[str, Any], unpack: Unpack, array: Any) -> Any:
    function = named(text_of(node, "name"))
    if isinstance(function, type):
        raise UnsoundError("a function must not be a class")
    return function


def _is_named_function(value: Any) -> bool:
    return callable(value) and not isinstance(value, type) and name_of(value) is not None


FUNCTION = Kind("function", _is_named_function, lambda v, *_: {"name": name_of(v)}, _unpack_function)
OBJECT = Kind("object", lambda v: True, _pack_object, _unpack_object)
