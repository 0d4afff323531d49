"""Results as plain rows: per variant, by domain and check type."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from atr_data.variants import variant_rank
from atr_evaluator.payoff import tally
from atr_evaluator.sessions import SessionResult


@dataclass(frozen=True, slots=True)
class PayoffRow:
    """Test sessions passed in one cut of the results. None in `domain` or `check_type` stands for all; a
    variant of "" is a score over all variants. `accuracy` has four decimals."""

    variant: str
    domain: str | None
    check_type: str | None
    total: int
    success: int
    accuracy: float


def payoff_table(evaluations: Iterable[dict[str, Any]]) -> list[PayoffRow]:
    """Pools the evaluations of each variant and cuts them by domain, check type, and both.

    Per variant the total comes first, then the check types, then each domain with its check types. Variants
    are in the benchmark's order, other names after them; domains and check types are sorted.
    """
    cuts: dict[tuple[str, str | None, str | None], list[SessionResult]] = {}
    for evaluation in evaluations:
        variant: str = evaluation["variant"] or ""
        results: list[SessionResult] = evaluation["session_results"]
        cuts.setdefault((variant, None, None), [])
        for result in results:
            for domain in (None, result["domain"]):
                for check_type in (None, result["check_type"]):
                    cuts.setdefault((variant, domain, check_type), []).append(result)
    return [PayoffRow(*cut, **tally(cuts[cut])) for cut in sorted(cuts, key=_position)]


def _position(cut: tuple[str, str | None, str | None]) -> tuple[int, str, str, str]:
    variant, domain, check_type = cut
    return variant_rank(variant), variant, domain or "", check_type or ""
