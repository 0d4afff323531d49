"""What a run is made of, as digests: two runs with equal provenance play the same sessions."""

from __future__ import annotations

import hashlib
import platform
from dataclasses import dataclass
from importlib.metadata import version

from atr_client.outputs.code_hash import code_hash
from atr_client.session.prompting import prompt_hashes
from atr_data.episode import Episode
from atr_data.json_text import episode_json
from atr_evaluator import SCORER_VERSION
from atr_ontology import load_ontology, schema_hash

_PROMPT_PACKAGES = {"atr_client": "atr_client.session", "atr_user_sim": "atr_user_sim"}
"""Whose prompts count, and the package in which they lie."""

_DISTRIBUTIONS = ("atrbench", "mcp", "pydantic")


@dataclass(frozen=True, slots=True)
class Provenance:
    """`prompt_hashes` maps `package/file` to SHA-256; `code_hash` is that of the code a session
    passes through, so documentation, scoring and presentation do not change it."""

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
            for package, home in _PROMPT_PACKAGES.items()
            for name, digest in prompt_hashes(home).items()
        },
        code_hash=code_hash(),
        tool_schemas_sha256=schema_hash(ontology),
        tool_count=len(ontology.base_tools) + domain_tools,
        packages=packages(),
        scorer_version=SCORER_VERSION,
    )


def packages() -> dict[str, str]:
    """The versions that a run stands on, by name."""
    return {name: version(name) for name in _DISTRIBUTIONS} | {"python": platform.python_version()}


def episode_sha256(episode: Episode) -> str:
    """Digest of an episode's content: the file's formatting and unknown keys do not matter."""
    return hashlib.sha256(episode_json(episode)).hexdigest()
