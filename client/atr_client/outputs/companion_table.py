"""What the rows of the result tables mean."""

from __future__ import annotations

from atr_evaluator.aggregate.companion_figures import NOTES

LEGEND = (
    "beside the pass mark, never in it; the number of tests in brackets:",
    *(f"  {note}" for note in NOTES),
)
"""Of the companion metrics, a line of prose each; printed once under all tables."""
