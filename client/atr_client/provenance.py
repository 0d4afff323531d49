"""What a run is made of, as digests: two runs with equal provenance play the same sessions."""

from __future__ import annotations

import hashlib
import platform
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path

from atr_client.prompting import prompt_hashes
from atr_data.episode import Episode
from atr_evaluator import SCORER_VERSION
from atr_ontology import load_ontology, schema_hash

_PROMPT_PACKAGES = ("atr_client", "atr_user_sim")
_SESSION_PACKAGES = ("atr_ontology", "atr_data", "atr_servers", "atr_memory", "atr_user_sim", "atr_client")
_NO_PART_OF_A_SESSION = ("calibration", "configs", "datagen", "episodes", "prompts", "__pycache__")
_AFTER_SESSIONS = (
    "cli",
    "companion_table",
    "datagen_",
    "doctor",
    "estimate",
    "export",
    "progress",
    "results",
    "rows",
    "scoring",
    "show",
    "validity",
)
_DISTRIBUTIONS = ("atrbench", "mcp", "pydantic")


@dataclass(frozen=True, slots=True)
class Provenance:
    """`prompt_hashes` maps `package/file` to SHA-256; `code_hash` is `src` and 12 hex digits over the
    sources that a session passes through, so documentation, scoring and presentation do not change it."""

    prompt_hashes: dict[str, str]
    code_hash: str
    tool_schemas_sha256: str
    tool_count: int
    packages: dict[str, str]
    scorer_version: str


def collect_provenance() -> Provenance:
    """Reads the installed sources; takes some milliseconds, so once per sweep is enough."""
    ontology = load_ontology()
    domain_tools = sum(len(domain.tools) for domain in ontology.domains.values())
    return Provenance(
        prompt_hashes={
            f"{package}/{name}": digest
            for package in _PROMPT_PACKAGES
            for name, digest in prompt_hashes(package).items()
        },
        code_hash=_code_hash(),
        tool_schemas_sha256=schema_hash(ontology),
        tool_count=len(ontology.base_tools) + domain_tools,
        packages={name: version(name) for name in _DISTRIBUTIONS} | {"python": platform.python_version()},
        scorer_version=SCORER_VERSION,
    )


def episode_sha256(episode: Episode) -> str:
    """Digest of an episode's content: the file's formatting and unknown keys do not matter."""
    return hashlib.sha256(episode.model_dump_json().encode()).hexdigest()


def _code_hash() -> str:
    digest = hashlib.sha256()
    for package in _SESSION_PACKAGES:
        root = Path(str(files(package)))
        for path in _sources(root):
            digest.update(f"{package}/{path.relative_to(root).as_posix()}\0".encode())
            digest.update(path.read_bytes())
    return f"src{digest.hexdigest()[:12]}"


def _sources(root: Path) -> Iterator[Path]:
    for path in sorted(root.rglob("*")):
        inside = path.relative_to(root)
        if not path.is_file() or set(inside.parts) & set(_NO_PART_OF_A_SESSION):
            continue
        if root.name == "atr_client" and inside.name.startswith(_AFTER_SESSIONS):
            continue
        yield path
