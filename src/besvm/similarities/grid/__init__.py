"""Similarities of grids of cells that look for the best alignment of two grids."""

from besvm.similarities.grid.similarities import Alignment, Deformable, GridSimilarity, Rigid

__all__ = ["Alignment", "Deformable", "GridSimilarity", "Rigid"]
