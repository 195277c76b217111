"""A hash of what things hold, code included, so that a kept result is never taken for another's."""

from __future__ import annotations

import pickle
import sys
import sysconfig
import uuid
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any

import joblib
import numpy as np
from sklearn.base import BaseEstimator

FOREIGN = ("builtins.", "abc.", "typing.", "sklearn.", "numpy.", "scipy.")  # code that no user edits between two runs
PLAIN = (bool, int, float, str, tuple, list, dict, np.ndarray)  # attributes of a class that count by value


def fingerprint(*things: Any) -> str:
    """Return a hash of the things' contents; what cannot be hashed is equal to nothing, not even itself.

    Data counts by value, an estimator by its class and parameters, and a function by its bytecode, constants,
    defaults, closure and the globals it names: data by value, functions and classes in the same way, and what it takes
    from the user's own modules. Code of installed packages counts by itself; what that calls is not followed. Nor is
    what is only found while running: imports inside a function, attributes by name, files.

    Examples
    --------
    >>> fingerprint(lambda a: a + 1) == fingerprint(lambda a: a + 1)
    True
    >>> fingerprint(lambda a: a + 1) == fingerprint(lambda a: a + 2)
    False
    """
    content = _Content()
    try:
        return str(joblib.hash([content(thing) for thing in things], hash_name="sha1"))
    except (pickle.PicklingError, AttributeError, TypeError, ValueError, RecursionError):
        return uuid.uuid4().hex


class _Content:
    """Turns a thing into plain data that can be hashed; remembers functions, which may call each other in a circle."""

    def __init__(self) -> None:
        self._met: dict[int, tuple[int, Any]] = {}  # by id; the thing is held on to, or its id could be given again

    def __call__(self, thing: Any) -> Any:
        if isinstance(thing, (list, tuple)):
            return type(thing).__name__, [self(item) for item in thing]
        if isinstance(thing, dict):
            return "dict", [(self(key), self(value)) for key, value in thing.items()]
        if isinstance(thing, FunctionType):
            return self._once(thing, self._function)
        if isinstance(getattr(thing, "py_func", None), FunctionType):  # compiled by numba
            return "compiled", self(thing.py_func)
        if isinstance(thing, MethodType):
            return "method", self(thing.__func__), self(thing.__self__)
        if isinstance(thing, partial):
            return "partial", self([thing.func, thing.args, thing.keywords])
        if isinstance(thing, type):
            return "class", self._once(thing, self._class)
        if isinstance(thing, BaseEstimator):
            return "estimator", self(type(thing)), self(thing.get_params(deep=False))
        if isinstance(thing, Callable) and hasattr(thing, "__dict__"):  # type: ignore[arg-type]
            return (
                "callable",
                self(type(thing)),
                getattr(thing, "__qualname__", ""),
                self(vars(thing)),
            )
        if _is_users(sys.modules.get(type(thing).__module__)):
            return "object", self(type(thing)), thing
        return thing

    def _once(self, thing: Any, content: Callable[[Any], Any]) -> Any:
        if id(thing) in self._met:
            return "met before", self._met[id(thing)][0]
        self._met[id(thing)] = len(self._met), thing
        return content(thing)

    def _function(self, function: FunctionType) -> Any:
        closure = [cell.cell_contents for cell in function.__closure__ or ()]
        own = self([function.__defaults__, function.__kwdefaults__, closure])
        named = [(name, self(value)) for name, value in _named(function)]
        return "function", _code(function.__code__), own, named

    def _class(self, cls: type) -> Any:
        own = [base for base in cls.__mro__ if not f"{base.__module__}.".startswith(FOREIGN)]
        return [cls.__module__, cls.__qualname__, [(base.__qualname__, self._members(base)) for base in own]]

    def _members(self, cls: type) -> Any:
        members = []
        for name, member in sorted(vars(cls).items()):
            member = getattr(member, "__func__", getattr(member, "fget", member))  # static, class methods, properties
            if isinstance(member, FunctionType) or (isinstance(member, PLAIN) and not name.startswith("__")):
                members.append((name, self(member)))
        return members


def _code(code: CodeType) -> Any:
    constants = [_code(c) if isinstance(c, CodeType) else _stable(c) for c in code.co_consts]
    return code.co_code, code.co_names, constants


def _stable(constant: Any) -> Any:
    """Return a constant whose order does not depend on the process, as that of a set of strings does."""
    return sorted(map(repr, constant)) if isinstance(constant, frozenset) else constant


def _named(function: FunctionType) -> Iterator[tuple[str, Any]]:
    """Yield the globals that a user's function names, and of the user's own modules what it may take from them."""
    if _is_installed(function.__code__.co_filename, function.__module__):
        return
    names = sorted(_names(function.__code__))
    for name in names:
        if name not in function.__globals__:
            continue
        value = function.__globals__[name]
        if not isinstance(value, ModuleType):
            yield name, value
        elif _is_users(value):
            yield from ((f"{name}.{part}", vars(value)[part]) for part in names if part in vars(value))


def _names(code: CodeType) -> set[str]:
    """Return the names of globals and attributes that the code uses, that of functions inside it included."""
    return set(code.co_names).union(*(_names(inner) for inner in code.co_consts if isinstance(inner, CodeType)))


def _is_users(module: ModuleType | None) -> bool:
    """Say whether a module is the user's own, to be edited at any time."""
    if module is None or module.__name__ in sys.builtin_module_names:
        return False
    return not _is_installed(getattr(module, "__file__", None) or "", module.__name__)


def _is_installed(file: str, module: str | None) -> bool:
    """Say whether code comes from Python itself, an installed package or besvm, whose version counts elsewhere."""
    if f"{module}.".startswith(("besvm.", *FOREIGN)) or file.startswith("<frozen "):
        return True
    place = Path(file)
    if {"site-packages", "dist-packages"} & set(place.parts):
        return True
    return any(place.is_relative_to(sysconfig.get_path(name)) for name in ("stdlib", "platstdlib"))
