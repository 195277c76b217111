"""Hostile tests of what docs/reliability.md promises: random problems, kills, damaged caches, limits, bad input."""
