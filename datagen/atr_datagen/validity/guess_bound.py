"""What any chooser that has not learned a rule passes at most, in expectation over salts."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self

from atr_data.episode import CheckType


@dataclass(frozen=True, slots=True)
class GuessBound:
    """`plain` is for one write and no confirmation, `confirming` for a chooser that also confirms every
    write, `spraying` for one that also carries every rival tool out, which the pass mark does not notice."""

    plain: float
    confirming: float
    spraying: float

    @classmethod
    def of(cls, rules: Iterable[tuple[CheckType, int]]) -> Self:
        """From check types and numbers of faces. Each face is as likely as the others, whatever is seen."""
        known = list(rules)
        total = max(1, len(known))
        confirms = sum(kind == "confirm" for kind, _ in known)
        tools = sum(1 - 1 / faces for kind, faces in known if kind == "tool_identity")
        plain = sum(1 / faces for kind, faces in known if kind != "confirm")
        return cls(plain / total, (plain + confirms) / total, (plain + tools) / total)

    def __str__(self) -> str:
        return f"{self.plain:.3f}, confirming {self.confirming:.3f}, spraying {self.spraying:.3f}"
