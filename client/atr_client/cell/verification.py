"""Whether a finished cell holds together: its score, its two sources, and its calls played again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from atr_client.cell.replay import replay
from atr_client.outputs.code_hash import code_hash
from atr_client.outputs.contexts import contexts_of
from atr_client.outputs.evaluations import read_evaluation, told_differences
from atr_client.outputs.layout import CellFolder
from atr_client.outputs.spending import on_disk
from atr_client.outputs.stored_cells import CellRecord
from atr_data import DataError, Episode
from atr_data.calls import read_calls
from atr_evaluator import SCORER_VERSION, evaluate_cell, finished_attempts

_OF_THE_CHECK = ("verified", "differences")


@dataclass(frozen=True, slots=True)
class Answer:
    """`holds` None: it could not be told, and `told` says why."""

    holds: bool | None
    told: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Verification:
    """`rescored`: the stored score is what a new one gives. `consistent`: trajectories and call log tell the
    same. `replayed`: a fresh environment gives the logged results."""

    rescored: Answer
    consistent: Answer
    replayed: Answer

    @property
    def holds(self) -> bool:
        return not any(answer.holds is False for answer in (self.rescored, self.consistent, self.replayed))


async def verify_cell(
    folder: CellFolder, episode: Episode, record: CellRecord, variant: str | None = None
) -> Verification:
    """Reads the cell and writes nothing. Raises DataError when there is nothing to score."""
    document = evaluate_cell(
        folder.path,
        episode,
        variant=variant,
        contexts_of=contexts_of(episode, record.variant or variant, record),
    )
    consistent = Answer(document["verified"], told_differences(document))
    if document["verified"] is None:
        consistent = Answer(None, ["there is no call log"])
    return Verification(
        _rescored(folder, episode, variant, document), consistent, await _replayed(folder, episode, record)
    )


def _rescored(folder: CellFolder, episode: Episode, variant: str | None, document: dict[str, Any]) -> Answer:
    stored = read_evaluation(folder)
    if stored is None:
        return Answer(None if not folder.evaluation.exists() else False, ["there is no whole eval.json"])
    if stored.get("scorer_version") != SCORER_VERSION:
        return Answer(None, [f"eval.json is of scorer {stored.get('scorer_version')!r:.40}"])
    if stored.get("source") == "calls":
        document = evaluate_cell(folder.path, episode, variant=variant, source="calls")
    unlike = [
        name
        for name in sorted({*stored, *document} - set(_OF_THE_CHECK))
        if stored.get(name) != document.get(name)
    ]
    return Answer(not unlike, [f"eval.json has another {name}" for name in unlike[:1]])


async def _replayed(folder: CellFolder, episode: Episode, record: CellRecord) -> Answer:
    if not folder.calls.exists():
        return Answer(None, ["there is no call log"])
    if record.code_hash != (now := code_hash()) or "code_hash" in (record.stale_fields or ()):
        return Answer(None, [f"the cell was made by other code ({record.code_hash}; this is {now})"])
    try:
        attempts = finished_attempts(read_calls(folder.calls))
    except DataError as error:
        return Answer(False, [f"calls.jsonl: {error.reason}"])
    found = await replay(episode, attempts, {t.session_id: t for t in on_disk([folder])})
    told = [f"{found.calls} calls", f"{found.left_out} to other servers left out"]
    return Answer(not found.differences, found.differences or told[: 1 + bool(found.left_out)])
