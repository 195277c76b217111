"""What must start anew in the child of a fork, which has none of its parent's other threads."""

import os
from typing import Protocol
from weakref import WeakSet


class Forked(Protocol):
    """Whatever has a lock that a thread of the parent may have held."""

    def after_fork(self) -> None:
        """Start anew."""


_known: WeakSet[Forked] = WeakSet()


def renew_after_fork(one: Forked) -> None:
    """Let this start anew in the child of every fork, for as long as it is there."""
    _known.add(one)


def _after_in_child() -> None:
    for one in list(_known):
        one.after_fork()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_in_child)
