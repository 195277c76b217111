"""A tall matrix by blocks of rows: in memory, on disk, computed anew, joined; and the one memory plan."""

from besvm.blocks.stores import ComputedBlocks, DiskBlocks, JoinedBlocks, MemoryBlocks, RowBlocks

__all__ = ["ComputedBlocks", "DiskBlocks", "JoinedBlocks", "MemoryBlocks", "RowBlocks"]
