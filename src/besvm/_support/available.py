"""Methods that an object has only sometimes, with their types kept."""

from collections.abc import Callable
from typing import Any, TypeVar

from sklearn.utils.metaestimators import available_if as _available_if

Method = TypeVar("Method", bound=Callable[..., Any])


def available_if(check: Callable[[Any], bool]) -> Callable[[Method], Method]:
    """Return scikit-learn's decorator of the same name, which has no types and would hide those of the method."""
    return _available_if(check)
