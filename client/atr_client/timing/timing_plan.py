"""From a configuration and a set to the cells of a run of the timing track."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path

from atr_client.errors import ConfigError
from atr_client.outputs.code_hash import code_hash
from atr_client.outputs.manifest import Manifest
from atr_client.outputs.provenance import Provenance, packages
from atr_client.session.prompting import prompt_hashes
from atr_client.sweep.endpoints import ModelClients
from atr_client.timing.choosers.chooser import User
from atr_client.timing.note_tool import LONGEST_NOTE
from atr_client.timing.played_sitting import VARIANT
from atr_client.timing.sitting_loop import SittingLimits
from atr_client.timing.sitting_runner import SittingSettings
from atr_client.timing.timing_cell import TimingCell
from atr_client.timing.timing_config import TimingConfig
from atr_client.timing.timing_files import TimingKey
from atr_client.timing.timing_players import ChooserPlayer, ModelPlayer, TimingPlayer, chosen_players
from atr_client.timing.timing_set import TimingSet
from atr_data.timing.set_folder import UserFiles
from atr_evaluator import SCORER_VERSION
from atr_evaluator.timing import UserPlay, set_hash
from atr_servers.timing.sitting import MemoryMode
from atr_servers.timing.tools import TOOLS

TIMING_CODE = {
    "atr_data": ("timing",),
    "atr_servers": ("timing", "workstream.py"),
    "atr_memory": ("*",),
    "atr_client": ("timing", "session", "models"),
}
"""What decides what a sitting does: see `code_hash`."""


def plan_timing(
    config: TimingConfig,
    chosen: TimingSet,
    root: Path,
    clients: ModelClients,
    *,
    fresh: bool = False,
    allow_stale_resume: bool = False,
    players: Sequence[TimingPlayer] | None = None,
) -> list[TimingCell]:
    """Every user with every model, memory mode and window; `players` in place of the configuration's models.

    Raises ConfigError for an unknown model, or a user pattern or observation that the set has nothing for.
    """
    played = [files for files in chosen.users if config.set.chooses(files.stream.header.user_id)]
    if not played:
        known = ", ".join(files.stream.header.user_id for files in chosen.users[:5])
        wanted = ", ".join(config.set.users)
        raise ConfigError(f"set.users: {wanted} is none of the set's users ({known}, ...)")
    if config.observation != "text" and any(f.stream.header.source.kind == "generated" for f in played):
        raise ConfigError("observation: text+screenshots is for imported sets; a generated one has none")
    plan = _Plan(
        config,
        chosen,
        root,
        clients,
        _provenance(),
        [User(files.stream, files.gold) for files in chosen.users],
        fresh,
        allow_stale_resume,
    )
    return [
        plan.cell(files, player, memory, window)
        for files in played
        for player in (chosen_players(config) if players is None else players)
        for memory in dict.fromkeys(config.memory)
        for window in dict.fromkeys(config.history_window_s)
    ]


@dataclass(frozen=True, slots=True)
class _Plan:
    """What all cells of a run have in common."""

    config: TimingConfig
    chosen: TimingSet
    root: Path
    clients: ModelClients
    provenance: Provenance
    everybody: Sequence[User]
    fresh: bool
    allow_stale_resume: bool

    def cell(self, files: UserFiles, player: TimingPlayer, memory: MemoryMode, window: int) -> TimingCell:
        config, clients = self.config, self.clients
        key = TimingKey(
            self.chosen.name,
            files.stream.header.user_id,
            player.model_id,
            memory,
            window,
            config.observation,
            config.memory_layer if memory == "own" else None,
            config.smoke,
        )
        limits = SittingLimits(config.turn_budget, config.limits.timeout, player.forgets)
        user = next(one for one in self.everybody if one.user_id == key.user_id)
        return TimingCell(
            key,
            files,
            key.folder(self.root),
            self._manifest(files, player, key),
            partial(player.agents, key.cell_id, clients, user, self.everybody),
            SittingSettings(memory, window, config.observation, player.takes_notes, limits),
            config.rules,
            1 if isinstance(player, ChooserPlayer) else config.limits.test_sessions,
            self.fresh,
            self.allow_stale_resume,
            clients.served,
            clients.meter,
        )

    def _manifest(self, files: UserFiles, player: TimingPlayer, key: TimingKey) -> Manifest:
        """Every setting of the run that changes what is played is in it."""
        identity, header, chosen = player.identity, files.stream.header, self.chosen
        reached = self.clients.address(player.entry.spec) if isinstance(player, ModelPlayer) else None
        return Manifest(
            persona_id=key.user_id,
            episode_id=f"{chosen.name}_{key.user_id}",
            episode_path=str(chosen.folder.resolve()),
            episode_sha256=set_hash([UserPlay(files.stream, files.gold)]),
            variant=VARIANT,
            model=key.model,
            model_sha256=identity.sha256,
            model_settings=dict(identity.settings),
            address=reached,
            privileged=identity.privileged,
            agent=identity.agent,
            memory_layer=key.layer,
            seed=header.source.seed,
            agent_reasoning_effort=player.reasoning,
            hook_enabled=False,
            smoke=self.config.smoke,
            max_steps=self.config.turn_budget,
            timeout=self.config.limits.timeout,
            user_sim={"make": "none"},
            track_settings={
                "track": "timing",
                "set": chosen.name,
                "set_sha256": chosen.sha256,
                "memory": key.memory,
                "history_window_s": key.history_window_s,
                "observation": key.observation,
                "process": header.source.parameters.get("process"),
                "burstiness": header.source.parameters.get("target_b"),
            },
            prompt_hashes=self.provenance.prompt_hashes,
            code_hash=self.provenance.code_hash,
            tool_schemas_sha256=self.provenance.tool_schemas_sha256,
            tool_count=self.provenance.tool_count,
            packages=self.provenance.packages,
            scorer_version=self.provenance.scorer_version,
        )


@cache
def _provenance() -> Provenance:
    """What decides a sitting, in place of what decides a session of the episodes."""
    schemas = {name: tool.arguments.model_json_schema() for name, tool in TOOLS.items()}
    digest = hashlib.sha256(json.dumps([schemas, LONGEST_NOTE], sort_keys=True).encode()).hexdigest()
    return Provenance(
        prompt_hashes={
            f"atr_client/{name}": sha256 for name, sha256 in prompt_hashes("atr_client.timing").items()
        },
        code_hash=code_hash(TIMING_CODE),
        tool_schemas_sha256=digest,
        tool_count=len(TOOLS),
        packages=packages(),
        scorer_version=SCORER_VERSION,
    )
