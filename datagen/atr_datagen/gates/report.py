"""What the gates found."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class GateResult:
    """`total` counts the things looked at. `failures` are lines of file, key and reason; several may concern
    one thing, so `passed` is not `total` less their number. `note` says what was measured but not judged."""

    gate: str
    passed: int
    total: int
    failures: Sequence[str] = ()
    note: str | None = None

    @property
    def ok(self) -> bool:
        return not self.failures

    def __str__(self) -> str:
        text = f"{self.gate:<27} {self.passed}/{self.total}"
        return f"{text}  {self.note}" if self.note else text


@dataclass(frozen=True, slots=True)
class CheckReport:
    gates: Sequence[GateResult]

    @property
    def ok(self) -> bool:
        return all(gate.ok for gate in self.gates)

    def lines(self) -> Iterator[str]:
        """One line per gate, then one per failure, `gate: file:line: key: reason`."""
        yield from map(str, self.gates)
        for gate in self.gates:
            yield from (f"{gate.gate}: {failure}" for failure in gate.failures)
