"""Which of the variants of a test every run takes, and which only the long one."""

from collections.abc import Iterable
from typing import Any

import pytest


def first_fast(values: Iterable[Any], fast: int = 1) -> list[Any]:
    """Return values to parametrize with: the first few for ``make test``, the rest for ``make test-all``."""
    return [
        value if place < fast else pytest.param(value, marks=pytest.mark.slow) for place, value in enumerate(values)
    ]
