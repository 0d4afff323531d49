"""Scored cells for tables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from atr_evaluator.aggregate.settings import ScoredCell, Setting

LOST = {True: "passed_knowing", False: "misapplied"}


def scored(
    passed: Mapping[str, bool],
    *,
    persona: str = "pp",
    variant: str = "atr",
    losses: Mapping[str, str] | None = None,
    missing: tuple[str, ...] = (),
    asking: list[dict[str, Any]] | None = None,
    faces: int | None = None,
    metrics: Mapping[str, Any] | None = None,
    setting: Mapping[str, Any] | None = None,
    **fields: Any,
) -> ScoredCell:
    """A cell whose tests have these results; `losses` names the classes that are not the usual ones."""
    results = [
        {
            "session_id": name,
            "rule_id": f"r_{name}",
            "task_success": ok,
            "domain": "travel",
            "check_type": "tool_identity",
            **({"missing": True} if name in missing else {}),
        }
        for name, ok in passed.items()
    ]
    document = {
        "episode_id": f"{persona}_seed000",
        "variant": variant,
        "session_results": results,
        "losses": [
            {
                "session_id": name,
                "loss_class": "not_played" if name in missing else (losses or {}).get(name, LOST[ok]),
                "sprayed": False,
            }
            for name, ok in passed.items()
        ],
        "asking": asking,
        "faces": {f"r_{name}": faces for name in passed} if faces else None,
        "metrics": {
            "total_test": len(passed),
            "success_count": sum(passed.values()),
            "missing_test_sessions": list(missing),
            "missing_learning_sessions": [],
            **(metrics or {}),
        },
    }
    return ScoredCell(
        f"{persona}/{variant}",
        persona,
        variant,
        Setting(**{"model": "lab/m", **(setting or {})}),
        document,
        **fields,
    )


def results(passed: int, failed: int) -> dict[str, bool]:
    return {f"t{n}": n < passed for n in range(passed + failed)}
