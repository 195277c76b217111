"""The command line: parse, call, print. What a command does is in ``besvm.commands``."""

from besvm.cli import models, paper  # whose functions become commands
from besvm.cli.app import app, run

__all__ = ["app", "models", "paper", "run"]
