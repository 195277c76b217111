"""Samples to raw similarities: fitted measures with their bases, side by side."""
