"""Model files: arrays and JSON, never code."""

from besvm._support.public import publish
from besvm.files.classes import savable
from besvm.files.container import ModelFileError
from besvm.files.model import describe, load, save

__all__ = ["ModelFileError", "describe", "load", "savable", "save"]

publish(__name__, __all__)
