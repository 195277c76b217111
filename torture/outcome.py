"""What a part of the torture hands back."""

from __future__ import annotations

from typing import Any, NamedTuple


class Outcome(NamedTuple):
    """The figures to publish, and a line for every promise that was broken: how to see it again."""

    rows: list[dict[str, Any]]
    failures: list[str]
