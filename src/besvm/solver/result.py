"""How a solve ended."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from besvm.blocks.stores import RowBlocks
from besvm.solver.preconditioner import Preconditioner

PER_COLUMN = ("coef", "intercept", "objective", "gap", "converged")


@dataclass(frozen=True, eq=False)
class MarginsLater:
    """The decision values of the rows solved on, computed when they are asked for: ``margins[rows]``."""

    blocks: RowBlocks
    coef: np.ndarray  # (D, K)
    intercept: np.ndarray  # (K,)

    @property
    def shape(self) -> tuple[int, int]:
        """The number of rows and of columns."""
        return self.blocks.shape[0], len(self.intercept)

    def __getitem__(self, rows: np.ndarray) -> np.ndarray:
        coef, intercept = self.coef.astype(self.blocks.dtype), self.intercept
        return self.blocks.state().take(rows, lambda some: some.features @ coef + intercept, features=True)


@dataclass(frozen=True)
class Result:
    """How a solve ended; every array has one entry (or column) for each column of the problem."""

    coef: np.ndarray  # (D, K)
    intercept: np.ndarray  # (K,)
    objective: np.ndarray  # (K,)
    gap: np.ndarray  # (K,) the share of the objective that it may be above the least: the duality gap
    converged: np.ndarray  # (K,) bool: the gap is within the tolerance
    n_iter: int  # Newton steps
    n_passes: int  # times the features were read
    margins: Any = field(repr=False)  # (n, K) decision values of the rows solved on: an array, or MarginsLater
    preconditioner: Preconditioner | None = field(repr=False, default=None)
    precise: bool = False  # whether columns were solved in float64 because float32 was not enough

    @classmethod
    def joined(cls, results: Iterable[Result], K: int) -> Result:
        """Return one Result of K columns solved group by group; none is kept once it is copied."""
        joined: dict[str, Any] = {}
        n_iter, n_passes, precise, end = 0, 0, False, 0
        margins: Any = None
        for result in results:
            if not joined:  # a column in one piece, as it is written and later multiplied
                margins = result.margins
                for name in (*PER_COLUMN, *(["margins"] if isinstance(margins, np.ndarray) else [])):
                    shape, dtype = getattr(result, name).shape, getattr(result, name).dtype
                    joined[name] = np.empty((*shape[:-1], K), dtype, order="F")
            start, end = end, end + len(result.gap)
            for name, whole in joined.items():
                whole[..., start:end] = getattr(result, name)
            n_iter, n_passes = max(n_iter, result.n_iter), n_passes + result.n_passes
            precise |= result.precise
        if isinstance(margins, MarginsLater):
            joined["margins"] = MarginsLater(margins.blocks, joined["coef"], joined["intercept"])
        return cls(**joined, n_iter=n_iter, n_passes=n_passes, precise=precise)

    def keep(self, columns: np.ndarray) -> Result:
        """Return the Result of these columns alone."""
        kept: dict[str, Any] = {name: getattr(self, name)[..., columns] for name in PER_COLUMN}
        return replace(self, **kept, margins=self.margins[:, columns])

    def replaced(self, columns: np.ndarray, other: Result) -> Result:
        """Return the Result in which another one, in float64, stands for these columns."""
        for name in PER_COLUMN:
            getattr(self, name)[..., columns] = getattr(other, name)
        if isinstance(self.margins, np.ndarray):  # else they are computed from what has just been replaced
            self.margins[:, columns] = other.margins
        steps, passes = self.n_iter + other.n_iter, self.n_passes + other.n_passes
        return replace(self, n_iter=steps, n_passes=passes, precise=True)
