"""Figures, tables and the page that show results to people."""
