"""The manifest of a cell: which run made its sessions, and whether another run may go on with them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal, cast

from pydantic import BaseModel, ConfigDict, Field

from atr_client.errors import ManifestMismatch
from atr_client.outputs.layout import CellKey
from atr_client.outputs.manifest_changes import explained
from atr_client.outputs.provenance import Provenance
from atr_client.session.transport_names import TransportName
from atr_data.errors import DataError
from atr_data.files import write_atomic
from atr_data.reading import StrPath, read_json

MANIFEST_VERSION = 1
SCHEMA_VERSION = "v7_user_sim_free_output"

AgentKind = Literal["model", "external", "command"]

_IDENTITY = (
    "persona_id",
    "episode_id",
    "shuffle_references",
    "variant",
    "model",
    "memory_layer",
    "seed",
    "agent_reasoning_effort",
    "hook_enabled",
    "smoke",
    "prompt_hashes",
    "code_hash",
)
_INPUTS = (
    "trial",
    "max_steps",
    "timeout",
    "episode_sha256",
    "tool_schemas_sha256",
    "address",
    "model_settings",
    "model_sha256",
    "user_sim",
    "memory",
    "transport",
    "track_settings",
)


class Manifest(BaseModel):
    """`episode_sha256` is that of the episode on file, `shuffle_references` the seed that reordered it.
    `address` is where the model was reached, without secrets, `served_model` what its server calls it;
    `served_roles` the same for the roles of the user. `privileged` marks a model that was shown the labels.
    `memory` are the settings of its layer, `memory_server` what a third party's server says of itself and the
    digest of its tools, `memory_snapshot` the content hash of what the test sessions read.
    `complete` is true once every session of the cell is on disk. `stale_fields` names what differed when
    somebody resumed the cell in spite of it. `cost_usd` of the complete cell, in US dollars; None while a
    price is unknown or the cell is not complete. `agent` is a model of ours, an external one that came
    through MCP, or a command that was started for each session; `clients` are the programs of the latter two,
    as they named themselves. `transport` is how the domain servers were reached. `track_settings` are those
    of another track than the episodes'."""

    model_config = ConfigDict(frozen=True)

    version: int = MANIFEST_VERSION
    schema_version: str = SCHEMA_VERSION
    persona_id: str
    episode_id: str
    episode_path: str | None = None
    episode_sha256: str
    shuffle_references: int | None = None
    variant: str
    model: str
    model_sha256: str
    model_settings: dict[str, Any] = Field(default_factory=dict)
    address: str | None = None
    served_model: str | None = None
    served_roles: dict[str, str] = Field(default_factory=dict)
    privileged: bool = False
    agent: AgentKind = "model"
    clients: list[dict[str, str]] = Field(default_factory=list[dict[str, str]])
    memory_layer: str | None
    memory: dict[str, Any] = Field(default_factory=dict)
    memory_server: dict[str, Any] = Field(default_factory=dict)
    memory_snapshot: str | None = None
    seed: int | None
    agent_reasoning_effort: str | None = "on"
    hook_enabled: bool
    smoke: bool
    trial: int = 1
    max_steps: int
    timeout: float | None
    transport: TransportName = "in-process"
    user_sim: dict[str, Any]
    track_settings: dict[str, Any] = Field(default_factory=dict)
    prompt_hashes: dict[str, str]
    code_hash: str
    tool_schemas_sha256: str
    tool_count: int
    packages: dict[str, str]
    scorer_version: str
    cost_usd: float | None = None
    created_at: str = Field(default_factory=lambda: _now())
    updated_at: str = Field(default_factory=lambda: _now())
    complete: bool = False
    stale_fields: list[str] = Field(default_factory=list[str])

    def write(self, path: Path) -> None:
        write_atomic(path, self.model_dump_json(indent=2) + "\n")


def with_clients(manifest: Manifest, on_disk: Mapping[str, Any] | None) -> Manifest:
    """The manifest with the clients that the file names, before its own."""
    noted = (on_disk or {}).get("clients")
    earlier = cast(list[dict[str, str]], noted) if isinstance(noted, list) else []
    new = [client for client in manifest.clients if client not in earlier]
    return manifest.model_copy(update={"clients": [*earlier, *new]})


class ManifestFile:
    """The manifest of a cell that is being played, and its file, which is written at every change."""

    def __init__(self, path: Path, manifest: Manifest) -> None:
        self._path = path
        self.put(manifest)

    def put(self, manifest: Manifest) -> None:
        """The clients that the file names stay: see `note_client`."""
        self.manifest = with_clients(manifest, read_manifest(self._path))
        self.manifest.write(self._path)

    @property
    def served(self) -> dict[str, str]:
        """What the servers of the cell's models call them, by role."""
        named = {"agent": self.manifest.served_model} if self.manifest.served_model else {}
        return {**self.manifest.served_roles, **named}

    def note_served(self, role: str, name: str, is_other: bool) -> None:
        """`is_other`: the server had another name before, and somebody wants to go on all the same."""
        roles = self.manifest.served_roles
        changes: dict[str, Any] = {"served_roles": {**roles, role: name}}
        what = f"served_roles.{role}"
        if role == "agent":
            changes, what = {"served_model": name}, "served_model"
        if is_other:
            changes["stale_fields"] = sorted({*self.manifest.stale_fields, what})
        self.put(self.manifest.model_copy(update=changes))


@dataclass(frozen=True, slots=True)
class ModelIdentity:
    """`sha256` is a digest of the model's registry entry: what its id stands for; `settings` say it in
    words."""

    sha256: str
    privileged: bool = False
    settings: Mapping[str, Any] = field(default_factory=dict[str, Any])
    agent: AgentKind = "model"


def new_manifest(
    key: CellKey,
    provenance: Provenance,
    *,
    episode_path: str | None,
    episode_sha256: str,
    shuffle_references: int | None = None,
    model: ModelIdentity,
    address: str | None = None,
    reasoning: str | None = "on",
    user_sim: Mapping[str, Any],
    memory: Mapping[str, Any] | None = None,
    max_steps: int,
    timeout: float | None,
    transport: TransportName = "in-process",
) -> Manifest:
    """The manifest of a cell that starts from nothing."""
    return Manifest(
        persona_id=key.persona_id,
        episode_id=key.episode_id,
        episode_path=episode_path,
        episode_sha256=episode_sha256,
        shuffle_references=shuffle_references,
        variant=key.variant,
        model=key.model,
        model_sha256=model.sha256,
        model_settings=dict(model.settings),
        address=address,
        privileged=model.privileged,
        agent=model.agent,
        memory_layer=key.layer,
        memory=dict(memory or {"kind": key.layer}),
        seed=key.seed,
        agent_reasoning_effort=reasoning,
        hook_enabled=key.hook,
        smoke=key.smoke,
        trial=key.trial,
        max_steps=max_steps,
        timeout=timeout,
        transport=transport,
        user_sim=dict(user_sim),
        prompt_hashes=provenance.prompt_hashes,
        code_hash=provenance.code_hash,
        tool_schemas_sha256=provenance.tool_schemas_sha256,
        tool_count=provenance.tool_count,
        packages=provenance.packages,
        scorer_version=provenance.scorer_version,
    )


def read_manifest(path: StrPath) -> dict[str, Any] | None:
    """The fields of a manifest of any program, or None when there is none that can be read."""
    try:
        value = read_json(path)
    except DataError:
        return None
    return cast(dict[str, Any], value) if isinstance(value, dict) else None


def gate(
    existing: Mapping[str, Any], wanted: Manifest, *, compatible: bool = False, allow_stale: bool = False
) -> tuple[str, ...]:
    """Compares what is on disk with this run and returns the fields that differ.

    Strictly, the inputs and limits of the run count too; `compatible` compares the identity alone, as the
    original benchmark does. Inputs that the file does not name are not compared. Raises ManifestMismatch
    when something differs and `allow_stale` is false.
    """
    now = json.loads(wanted.model_dump_json())
    inputs = () if compatible else tuple(name for name in _INPUTS if name in existing)
    differing = tuple(name for name in (*_IDENTITY, *inputs) if existing.get(name) != now[name])
    if differing and not allow_stale:
        raise ManifestMismatch(explained(existing, now, differing), differing)
    return differing


def resumed(
    existing: Mapping[str, Any], wanted: Manifest, stale: Sequence[str], *, compatible: bool
) -> Manifest:
    """The manifest of a cell that goes on: it keeps its birthday, and in compatible mode its `complete`."""
    earlier = existing.get("stale_fields")
    kept = cast(list[str], earlier) if isinstance(earlier, list) else []
    return wanted.model_copy(
        update={
            "created_at": str(existing.get("created_at", wanted.created_at)),
            "complete": compatible and existing.get("complete") is True,
            "stale_fields": sorted({*kept, *stale}),
            **_served(existing),
        }
    )


def _served(existing: Mapping[str, Any]) -> dict[str, Any]:
    """What servers said of themselves; not known beforehand, and held against what they say now."""
    model, roles = existing.get("served_model"), existing.get("served_roles")
    named = cast(dict[str, Any], roles).items() if isinstance(roles, dict) else ()
    return {
        "served_model": model if isinstance(model, str) else None,
        "served_roles": {role: name for role, name in named if isinstance(name, str)},
        "memory_server": existing.get("memory_server") or {},
        "memory_snapshot": existing.get("memory_snapshot"),
    }


def mark_stale(path: Path, existing: Mapping[str, Any], stale: Sequence[str]) -> bool:
    """Notes in the manifest of a finished cell what somebody passed over; whether there was anything new.
    Nothing else of it changes: its sessions are those of the run that it tells of."""
    if list(stale) == existing.get("stale_fields", []):
        return False
    document = {**existing, "stale_fields": list(stale)}
    write_atomic(path, json.dumps(document, ensure_ascii=False, indent=2) + "\n")
    return True


def completed(manifest: Manifest, cost_usd: float | None = None) -> Manifest:
    """The manifest of a cell whose sessions are all on disk."""
    return manifest.model_copy(update={"complete": True, "cost_usd": cost_usd, "updated_at": _now()})


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
