"""`python -m besvm.cli`."""

from besvm.cli import run

run()
