"""A hash of what things hold, code included, so that a kept result is never taken for another's."""

from __future__ import annotations

import pickle
import uuid
from collections.abc import Callable
from functools import partial
from types import CodeType, FunctionType, MethodType
from typing import Any

import joblib
from sklearn.base import BaseEstimator

FOREIGN = ("builtins.", "abc.", "typing.", "sklearn.", "numpy.", "scipy.")  # code that no user edits between two runs


def fingerprint(*things: Any) -> str:
    """Return a hash of the things' contents; what cannot be hashed is equal to nothing, not even itself.

    Data counts by value, an estimator by its class and parameters, and a function by its bytecode, constants,
    defaults and closure. The code that a function calls is not followed.

    Examples
    --------
    >>> fingerprint(lambda a: a + 1) == fingerprint(lambda a: a + 1)
    True
    >>> fingerprint(lambda a: a + 1) == fingerprint(lambda a: a + 2)
    False
    """
    try:
        return str(joblib.hash([_content(thing) for thing in things], hash_name="sha1"))
    except (pickle.PicklingError, AttributeError, TypeError, RecursionError):
        return uuid.uuid4().hex


def _content(thing: Any) -> Any:
    if isinstance(thing, (list, tuple)):
        return type(thing).__name__, [_content(item) for item in thing]
    if isinstance(thing, dict):
        return "dict", [(_content(key), _content(value)) for key, value in thing.items()]
    if isinstance(thing, FunctionType):
        closure = [cell.cell_contents for cell in thing.__closure__ or ()]
        return "function", _code(thing.__code__), _content([thing.__defaults__, thing.__kwdefaults__, closure])
    if isinstance(thing, MethodType):
        return "method", _content(thing.__func__), _content(thing.__self__)
    if isinstance(thing, partial):
        return "partial", _content([thing.func, thing.args, thing.keywords])
    if isinstance(thing, type):
        return "class", _class(thing)
    if isinstance(thing, BaseEstimator):
        return "estimator", _class(type(thing)), _content(thing.get_params(deep=False))
    if isinstance(thing, Callable) and hasattr(thing, "__dict__"):  # type: ignore[arg-type]
        return "callable", _class(type(thing)), getattr(thing, "__qualname__", ""), _content(vars(thing))
    return thing


def _code(code: CodeType) -> Any:
    constants = [_code(c) if isinstance(c, CodeType) else _stable(c) for c in code.co_consts]
    return code.co_code, code.co_names, constants


def _stable(constant: Any) -> Any:
    """Return a constant whose order does not depend on the process, as that of a set of strings does."""
    return sorted(map(repr, constant)) if isinstance(constant, frozenset) else constant


def _class(cls: type) -> Any:
    own = [base for base in cls.__mro__ if not f"{base.__module__}.".startswith(FOREIGN)]
    return [cls.__module__, cls.__qualname__, [(base.__qualname__, _members(base)) for base in own]]


def _members(cls: type) -> Any:
    functions, values = [], []
    for name, member in sorted(vars(cls).items()):
        member = getattr(member, "__func__", getattr(member, "fget", member))  # static and class methods, properties
        if isinstance(member, FunctionType):
            functions.append((name, _code(member.__code__)))
        elif isinstance(member, (bool, int, float, str)) and not name.startswith("__"):
            values.append((name, member))
    return functions, values
