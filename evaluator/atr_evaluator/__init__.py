"""Scores runs of the benchmark. Needs no MCP, no model and no network."""

from atr_evaluator.cell_score import SCORER_VERSION, CellScore, score_cell
from atr_evaluator.companions import pooled_companions
from atr_evaluator.evaluate import evaluate_calls, evaluate_episode
from atr_evaluator.guess_bound import GuessBound, guess_bound
from atr_evaluator.sessions import SessionResult
from atr_evaluator.spraying import is_sprayed, sprayed_passes
from atr_evaluator.sweep import (
    EXIT_FAILED,
    EXIT_INCOMPLETE,
    EXIT_OK,
    CellIdentity,
    exit_code,
    score_row,
    summary,
)
from atr_evaluator.table import PayoffRow, payoff_table
from atr_evaluator.trace import trace_footer
from atr_evaluator.validity import LEVEL, Comparison, compare_outcomes, exact_sign_test

__all__ = [
    "EXIT_FAILED",
    "EXIT_INCOMPLETE",
    "EXIT_OK",
    "LEVEL",
    "SCORER_VERSION",
    "CellIdentity",
    "CellScore",
    "Comparison",
    "GuessBound",
    "PayoffRow",
    "SessionResult",
    "compare_outcomes",
    "evaluate_calls",
    "evaluate_episode",
    "exact_sign_test",
    "exit_code",
    "guess_bound",
    "is_sprayed",
    "payoff_table",
    "pooled_companions",
    "score_cell",
    "score_row",
    "sprayed_passes",
    "summary",
    "trace_footer",
]
