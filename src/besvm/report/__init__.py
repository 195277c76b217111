"""The model report: how good it is, where it errs, and which exemplars decide."""

from besvm._support.public import publish
from besvm.report.data import Data
from besvm.report.page import write_page

__all__ = ["Data", "write_page"]

publish(__name__, __all__)
