"""A tall matrix by blocks of rows: in memory, on disk, computed anew, joined; and the one memory plan."""

from besvm.blocks.computed import ComputedBlocks
from besvm.blocks.contract import RowBlocks
from besvm.blocks.disk import DiskBlocks
from besvm.blocks.joined import JoinedBlocks
from besvm.blocks.memory import MemoryBlocks

__all__ = ["ComputedBlocks", "DiskBlocks", "JoinedBlocks", "MemoryBlocks", "RowBlocks"]
