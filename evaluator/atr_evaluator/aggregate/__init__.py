"""Figures over many cells: the published tables, and everything that stands beside them."""
