"""The variants of the benchmark: what an agent is told about asking, and what its test sessions read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Variant:
    """`asks`: the learning sessions carry the prompt `variant_<name>`. `statements` are what a test session
    is told of the user's rules beforehand; an oracle is told some and has no learning sessions."""

    name: str
    summary: str
    asks: bool = False
    statements: Literal["none", "own", "all"] = "none"

    @property
    def is_oracle(self) -> bool:
        return self.statements != "none"


VARIANTS: Mapping[str, Variant] = {
    variant.name: variant
    for variant in (
        Variant("default", "learning sessions; nothing is said about asking"),
        Variant("atr", "learning sessions; the agent may ask about standing rules", asks=True),
        Variant("always_ask", "learning sessions; the agent must ask about standing rules", asks=True),
        Variant("oracle_target", "no learning; each test session is told its own rule", statements="own"),
        Variant("oracle_full", "no learning; each test session is told every rule", statements="all"),
    )
}
"""In the order of tables. Another prompt variant is an entry here and a file `prompts/variant_<name>.md`."""


def variant_rank(name: str) -> int:
    """The place of a variant in tables; unknown ones come last."""
    return list(VARIANTS).index(name) if name in VARIANTS else len(VARIANTS)
