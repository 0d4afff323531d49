"""Scores runs of the benchmark. Needs no MCP, no model and no network."""

from atr_evaluator.agent_calls import Attempt, TranscriptCall, finished_attempts, transcript_calls
from atr_evaluator.cell_score import SCORER_VERSION, CellScore, evaluate_cell, inputs_digest, score_cell
from atr_evaluator.companions import pooled_companions
from atr_evaluator.evaluate import evaluate_calls, evaluate_episode
from atr_evaluator.guess_bound import GuessBound, guess_bound
from atr_evaluator.losses import LOSS_CLASSES, PASSED, Loss, LossClass, loss_classes, rivals_of
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
from atr_evaluator.trace import FOOTER_TITLE, trace_footer
from atr_evaluator.validity import LEVEL, Comparison, compare_outcomes, exact_sign_test

__all__ = [
    "EXIT_FAILED",
    "EXIT_INCOMPLETE",
    "EXIT_OK",
    "FOOTER_TITLE",
    "LEVEL",
    "LOSS_CLASSES",
    "PASSED",
    "SCORER_VERSION",
    "Attempt",
    "CellIdentity",
    "CellScore",
    "Comparison",
    "GuessBound",
    "Loss",
    "LossClass",
    "PayoffRow",
    "SessionResult",
    "TranscriptCall",
    "compare_outcomes",
    "evaluate_calls",
    "evaluate_cell",
    "evaluate_episode",
    "exact_sign_test",
    "exit_code",
    "finished_attempts",
    "guess_bound",
    "inputs_digest",
    "is_sprayed",
    "loss_classes",
    "payoff_table",
    "pooled_companions",
    "rivals_of",
    "score_cell",
    "score_row",
    "sprayed_passes",
    "summary",
    "trace_footer",
    "transcript_calls",
]
