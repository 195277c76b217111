"""Features kept in half precision: half the memory, half the disk, and a loss that is relative to their spread."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from besvm.blocks.stores import DiskBlocks, MemoryBlocks, RowBlocks

T = TypeVar("T")
HALF = np.dtype(np.float16)
SETTLED_ON = 256  # rows that tell how columns are shifted and scaled
LEAST = 1e-3  # of the usual spread of a column: what those that hardly vary on these rows are given
LARGEST = float(np.finfo(HALF).max)


@dataclass(frozen=True)
class Scale:
    """What is taken from the numbers of every column, and what they are divided by, before they are rounded.

    Half precision has eleven bits wherever a number lies, so that what is lost of one is a share of its distance from
    the middle of its column, however far from 0 that lies.
    """

    shift: np.ndarray  # in float64
    scale: np.ndarray  # in float32

    @classmethod
    def of(cls, block: np.ndarray) -> Scale:
        """Return what suits columns like these."""
        mean, spread = block.mean(axis=0, dtype=np.float64), block.std(axis=0, dtype=np.float64)
        usual = float(np.sqrt(np.mean(spread**2))) if spread.size else 0.0
        spread = np.maximum(spread, np.maximum(LEAST * usual, np.finfo(block.dtype).eps * np.abs(mean)))
        return cls(mean, np.where(spread > 0, spread, 1).astype(np.float32))

    def encode(self, block: np.ndarray) -> np.ndarray:
        """Return numbers in half precision; refuse those that are too far from the rest of their column."""
        scaled = block - self.shift.astype(block.dtype)
        scaled /= self.scale
        largest = float(np.abs(scaled).max(initial=0))
        if not largest <= LARGEST:
            row, column = np.unravel_index(np.abs(scaled).argmax(), scaled.shape)
            raise ValueError(
                f"storage_dtype='float16' needs features within {LARGEST:g} standard deviations of the first rows, got "
                f"{block[row, column]:.3g} in column {column}; shuffle the rows, or leave storage_dtype at None"
            )
        return scaled.astype(HALF)

    def decode(self, half: np.ndarray, dtype: np.dtype[Any]) -> np.ndarray:
        """Return the numbers that were kept."""
        from besvm.blocks.half_kernels import decode

        single = dtype == np.float32
        shift = self.shift.astype(np.float32) if single else np.zeros_like(self.scale)
        out = np.empty(half.shape, np.float32)
        decode(half.view(np.uint16), self.scale, shift, out)
        return out if single else out + self.shift


class HalfBlocks(RowBlocks):
    """A store of half-precision numbers, converted as they are read to the precision that is worked in.

    Parameters
    ----------
    blocks : MemoryBlocks or DiskBlocks
        Of half-precision numbers.
    scale : Scale
        How the rows that are written first are kept; an update settles it anew.
    dtype : dtype
        What the blocks come in.
    """

    def __init__(self, blocks: MemoryBlocks | DiskBlocks, scale: Scale, dtype: Any = np.float32) -> None:
        self.blocks, self.scale = blocks, scale
        self.shape, self.dtype = blocks.shape, np.dtype(dtype)

    @classmethod
    def of(cls, block: np.ndarray) -> HalfBlocks:
        """Return an array in memory in half precision; its first rows tell how."""
        scale = Scale.of(block[:SETTLED_ON])
        return cls(MemoryBlocks(scale.encode(block)), scale, block.dtype)

    def whole(self) -> np.ndarray:
        """Return all rows of what is in memory."""
        return self.scale.decode(np.asarray(self.blocks.matrix), self.dtype)

    def __sizeof__(self) -> int:
        """Return the bytes held, for those who plan by them."""
        return self.shape[0] * self.shape[1] * HALF.itemsize

    @property
    def matrix(self) -> HalfBlocks:
        """What takes rows, as the matrices of other stores do."""
        return self

    def __setitem__(self, rows: slice, block: np.ndarray) -> None:
        self.blocks.matrix[rows] = self.scale.encode(block)

    def map(self, fn: Callable[[slice, Any], T], coarse: bool = False) -> Iterator[T]:
        """Yield ``fn(rows, block)``; every block is an array of its own."""
        scale, dtype = self.scale, self.dtype
        return self.blocks.map(lambda rows, half: fn(rows, scale.decode(half, dtype)), coarse)

    def update(self, fn: Callable[[slice, Any], np.ndarray]) -> None:
        """Replace every block; the first rows of the new ones tell how they are kept."""
        old, new = self.scale, Scale.of(self._first_rows(fn))
        self.blocks.update(lambda rows, half: new.encode(fn(rows, old.decode(half, self.dtype))))
        self.scale = new

    def _first_rows(self, fn: Callable[[slice, Any], np.ndarray]) -> np.ndarray:
        found: list[np.ndarray] = []
        for block in self.map(fn):
            found.append(block)
            if sum(map(len, found)) >= SETTLED_ON:
                break
        return np.concatenate(found)

    def close(self) -> None:
        """Give back what the store holds."""
        self.blocks.close()
