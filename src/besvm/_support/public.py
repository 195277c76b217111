"""Public homes: what saved models call a class is the room it belongs to, not the file it happens to be in."""

import sys
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


def public(home: str) -> Callable[[T], T]:
    """Let a class or function name ``home``, from where it can be imported, as its module."""

    def enter(thing: T) -> T:
        thing.__module__ = home
        return thing

    return enter


def publish(home: str, names: list[str]) -> None:
    """Do the same for the names that a room gives out."""
    room = sys.modules[home]
    for name in names:
        thing = getattr(room, name)
        if getattr(thing, "__module__", "").startswith(f"{home}."):
            public(home)(thing)
