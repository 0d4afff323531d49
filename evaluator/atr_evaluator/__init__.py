"""Scores runs of the benchmark. Needs no MCP, no model and no network."""

from atr_evaluator.cell_score import SCORER_VERSION, CellScore, score_cell
from atr_evaluator.evaluate import evaluate_calls, evaluate_episode
from atr_evaluator.sessions import SessionResult
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

__all__ = [
    "EXIT_FAILED",
    "EXIT_INCOMPLETE",
    "EXIT_OK",
    "SCORER_VERSION",
    "CellIdentity",
    "CellScore",
    "PayoffRow",
    "SessionResult",
    "evaluate_calls",
    "evaluate_episode",
    "exit_code",
    "payoff_table",
    "score_cell",
    "score_row",
    "summary",
    "trace_footer",
]
