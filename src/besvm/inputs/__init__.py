"""People's data: images, tables, series, texts and arrays, read from their files without executing anything."""

from besvm._support.public import publish
from besvm.inputs.contract import KINDS, Data
from besvm.inputs.reading import Stream, as_trained, read, stream

__all__ = ["KINDS", "Data", "Stream", "as_trained", "read", "stream"]

publish(__name__, __all__)
