"""How figures are rounded: Python's half-to-even on the binary value."""

from __future__ import annotations


def ratio(part: int, whole: int) -> float | None:
    """`part / whole` to four decimals, or None when there is nothing to divide by."""
    return round(part / whole, 4) if whole else None
