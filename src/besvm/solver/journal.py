"""What a solve writes down after every step, so that it can be taken up again where it was."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np


class Notebook(Protocol):
    """Where arrays are written down by name: wholly or not at all."""

    def read(self, name: str) -> dict[str, np.ndarray] | None:
        """Return what was last written under this name; None if that is nothing, or damaged."""

    def write(self, name: str, **arrays: np.ndarray) -> None:
        """Write arrays down in the place of those of the same name."""


@dataclass(frozen=True)
class Journal:
    """The page of one solve in a notebook; solves that are part of another have pages of their own.

    Examples
    --------
    >>> Journal({}, "solve").part("classes-0-1").page
    'solve-classes-0-1'
    """

    notebook: Notebook
    page: str = "solve"

    def part(self, name: str) -> Journal:
        """Return the page of a solve within this one."""
        return replace(self, page=f"{self.page}-{name}")

    def read(self) -> dict[str, np.ndarray] | None:
        """Return what was last written on this page; None if that is nothing."""
        return self.notebook.read(self.page)

    def write(self, **arrays: np.ndarray) -> None:
        """Write on this page, in the place of what was there."""
        self.notebook.write(self.page, **arrays)
