"""The results of runs of the timing track, as they lie on disk: scored anew from decisions, in tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from atr_client.outputs.manifest import read_manifest
from atr_client.timing.kept_sittings import read_decisions
from atr_client.timing.scoring_plays import headline, score_plays
from atr_client.timing.table import ResultTable, sitting_table, snapshot_table
from atr_client.timing.timing_files import TOP, TimingFolder, TimingKey
from atr_client.timing.timing_set import TimingSet
from atr_data import DataError
from atr_data.reading import read_text
from atr_data.timing.decisions import SittingLog
from atr_data.timing.events import StreamHeader
from atr_data.timing.set_folder import UserFiles
from atr_evaluator.timing import TimingRules, UserPlay

_FAULTS = ("incomplete_sittings", "implicit_silences", "protocol_errors")


@dataclass(frozen=True, slots=True)
class StoredCell:
    """What a cell's manifest says of it."""

    key: TimingKey
    folder: TimingFolder
    privileged: bool
    complete: bool
    cost_usd: float | None
    set_folder: Path
    set_sha256: str


@dataclass(frozen=True, slots=True)
class Condition:
    """One table: the results by model, what each cost, and which cells are not complete. `costs` are in US
    dollars, None where one is unknown."""

    name: str
    results: Mapping[str, Mapping[str, Any]]
    costs: Mapping[str, float | None]
    privileged: frozenset[str]
    incomplete: Sequence[str]

    @property
    def of_snapshots(self) -> bool:
        return any("MCC" in result for result in self.results.values())


def stored_cells(root: Path) -> list[StoredCell]:
    """The cells below an outputs folder, in order of their paths."""
    paths = sorted((root / TOP).rglob("timing_manifest.json"))
    return [cell for cell in map(_stored, (TimingFolder(path.parent) for path in paths)) if cell]


def planned_sessions(cell: StoredCell) -> int:
    """How many sessions a cell has, by the head of the stream that it plays; 0 where that cannot be read."""
    try:
        lines = read_text(cell.set_folder / f"{cell.key.user_id}.stream.jsonl").splitlines()
        header = StreamHeader.model_validate_json(lines[0] if lines else "")
    except (DataError, ValidationError):
        return 0
    days = header.source.parameters.get("history_days") if cell.key.layer else 0
    return len(header.sittings) + (days if isinstance(days, int) else 0)


def conditions(
    root: Path,
    rules: TimingRules | None = None,
    *,
    given: TimingSet | None = None,
) -> list[Condition]:
    """The results below an outputs folder: those on the `given` set, or on all. A user whose cell is missing
    or unfinished counts as silence and is listed. Raises DataError when a set is not where its cells say."""
    sets = {given.sha256: given} if given else dict[str, TimingSet]()
    groups: dict[str, list[StoredCell]] = {}
    for cell in stored_cells(root):
        if given is None or given.sha256 == cell.set_sha256:
            groups.setdefault(cell.key.condition, []).append(cell)
    return [_condition(name, cells, rules, sets) for name, cells in groups.items()]


def table_of(condition: Condition) -> ResultTable:
    """The table of one condition, players that were shown gold marked, and below it what is incomplete."""
    named = {_marked(condition, model): result for model, result in condition.results.items()}
    costs = {_marked(condition, model): cost for model, cost in condition.costs.items()}
    made = snapshot_table(named, costs) if condition.of_snapshots else sitting_table(named, costs)
    notes = [*made.notes]
    for name, result in named.items():
        told = {what: result[what] for what in _FAULTS if result.get(what)}
        if told:
            notes.append(f"{name}: " + ", ".join(f"{n} {what.replace('_', ' ')}" for what, n in told.items()))
    notes += [f"incomplete: {cell}" for cell in condition.incomplete]
    return replace(made, notes=notes)


def _marked(condition: Condition, model: str) -> str:
    return f"{model} (privileged)" if model in condition.privileged else model


def render_condition(condition: Condition) -> str:
    """The condition in Markdown."""
    return f"### {condition.name}\n\n{table_of(condition).markdown()}"


class _Settings(BaseModel):
    """What a manifest of this track tells beyond the others."""

    model_config = ConfigDict(extra="ignore")

    track: Literal["timing"]
    set: str
    set_sha256: str
    memory: str
    history_window_s: int
    observation: str


class _Told(BaseModel):
    model_config = ConfigDict(extra="ignore")

    persona_id: str
    model: str
    privileged: bool = False
    complete: bool = False
    cost_usd: float | None = None
    episode_path: str
    memory_layer: str | None = None
    smoke: bool = False
    track_settings: _Settings


def _stored(folder: TimingFolder) -> StoredCell | None:
    try:
        told = _Told.model_validate(read_manifest(folder.manifest))
    except ValidationError:
        return None
    settings = told.track_settings
    key = TimingKey(
        settings.set,
        told.persona_id,
        told.model,
        settings.memory,
        settings.history_window_s,
        settings.observation,
        told.memory_layer,
        told.smoke,
    )
    place = Path(told.episode_path)
    return StoredCell(key, folder, told.privileged, told.complete, told.cost_usd, place, settings.set_sha256)


def _condition(
    name: str, cells: Sequence[StoredCell], rules: TimingRules | None, sets: dict[str, TimingSet]
) -> Condition:
    users = _set_of(cells[0], sets).users
    played = {cell.key.user_id for cell in cells}
    chosen = [files for files in users if files.stream.header.user_id in played]
    models = list(dict.fromkeys(cell.key.model for cell in cells))
    results: dict[str, Mapping[str, Any]] = {}
    costs: dict[str, float | None] = {}
    incomplete: list[str] = []
    for model in models:
        of_model = {cell.key.user_id: cell for cell in cells if cell.key.model == model}
        plays = [_play(files, of_model.get(files.stream.header.user_id)) for files in chosen]
        results[model] = score_plays(plays, rules)
        known = [cell.cost_usd for cell in of_model.values()]
        costs[model] = sum(one for one in known if one is not None) if None not in known else None
        incomplete += [
            f"{model} on {files.stream.header.user_id}"
            for files in chosen
            if (cell := of_model.get(files.stream.header.user_id)) is None or not cell.complete
        ]
    results = dict(sorted(results.items(), key=lambda item: -headline(item[1])[1]))
    privileged = frozenset(cell.key.model for cell in cells if cell.privileged)
    return Condition(name, results, costs, privileged, incomplete)


def _set_of(cell: StoredCell, sets: dict[str, TimingSet]) -> TimingSet:
    if cell.set_sha256 not in sets:
        found = TimingSet.load(cell.set_folder)
        if found.sha256 != cell.set_sha256:
            raise DataError(
                f"is not the set that {cell.key.cell_id} was played on; name it with --set",
                path=cell.set_folder,
            )
        sets[cell.set_sha256] = found
    return sets[cell.set_sha256]


def _play(files: UserFiles, cell: StoredCell | None) -> UserPlay:
    logs: list[SittingLog] = []
    for sitting in files.stream.header.sittings if cell else ():
        assert cell
        log = read_decisions(cell.folder, sitting.sitting_id)
        if log is not None and log.stream_sha256 == files.stream.header.sha256:
            logs.append(log)
    return UserPlay(files.stream, files.gold, tuple(logs))
