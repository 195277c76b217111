"""Rows that never have to be in memory together: arrays on disk, Parquet files, folders of images, blocks of yours."""

from besvm._support.dask_source import DaskSource
from besvm._support.public import publish
from besvm._support.row_source import ArraySource, RowSource
from besvm.sources.images import ImageFolder
from besvm.sources.parquet import ParquetSource
from besvm.sources.streams import BlockSource

__all__ = ["ArraySource", "BlockSource", "DaskSource", "ImageFolder", "ParquetSource", "RowSource"]

publish(__name__, __all__)
