"""Figures over many cells: the published tables, and everything that stands beside them."""

TABLE_NAMES = (
    "accuracy",
    "published",
    "losses",
    "gap",
    "asking",
    "companions",
    "endings",
    "memory",
    "trials",
    "comparisons",
    "unfinished",
)
"""In the order in which they are shown."""

FORMAT_NAMES = ("md", "csv", "latex", "json")
