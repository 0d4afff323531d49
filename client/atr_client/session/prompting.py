"""The agent's prompts: which parts a system prompt has, and in which order."""

from __future__ import annotations

import hashlib
from functools import cache
from importlib.resources import files

from atr_data.variants import VARIANTS
from atr_ontology import load_ontology


@cache
def prompt(name: str) -> str:
    """The text of one prompt file, without its file ending."""
    return files("atr_client.session").joinpath("prompts", f"{name}.md").read_text(encoding="utf-8").strip()


def system_prompt_parts(
    session_type: str, variant: str, domain: str, context: str | None
) -> list[tuple[str, str]]:
    """Name and text of each part, in order.

    The mode follows the context on purpose: contexts are long, and constraints hold better near the end.
    Raises ValueError for a variant that does not exist.
    """
    if variant not in VARIANTS:
        raise ValueError(f"unknown variant {variant!r}; one of: {', '.join(VARIANTS)}")
    parts = [("base", prompt("base"))]
    if domain in (domains := load_ontology().domains):
        parts.append((f"domain_{domain}", domains[domain].policy))
    if context:
        parts.append(("context", f"<context>\n{context}\n</context>"))
    if session_type == "test":
        return [*parts, ("mode_test", prompt("mode_test"))]
    names = ["mode_learning", "send_protocol"]
    if VARIANTS[variant].asks:
        names += ["standing_rule_def", f"variant_{variant}"]
    return parts + [(name, prompt(name)) for name in names]


def system_prompt(session_type: str, variant: str, domain: str, context: str | None) -> str:
    return "\n\n".join(text for _, text in system_prompt_parts(session_type, variant, domain, context))


def prompt_hashes(package: str) -> dict[str, str]:
    """SHA-256 of every prompt file of a package, by file name."""
    folder = files(package).joinpath("prompts")
    return {
        entry.name: hashlib.sha256(entry.read_bytes()).hexdigest()
        for entry in sorted(folder.iterdir(), key=lambda entry: entry.name)
        if entry.name.endswith(".md")
    }
