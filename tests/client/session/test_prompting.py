"""Which parts an agent's system prompt has, and in which order."""

from __future__ import annotations

import hashlib
from importlib.resources import files

import pytest

from atr_client.session.prompting import prompt_hashes, system_prompt, system_prompt_parts
from atr_ontology import load_ontology

TOLD = ["mode_learning", "send_protocol"]
RULES = "standing_rule_def"


@pytest.mark.parametrize(
    ("session_type", "variant", "domain", "context", "names"),
    [
        ("learning", "default", "travel", None, ["base", "domain_travel", *TOLD]),
        ("learning", "atr", "travel", "", ["base", "domain_travel", *TOLD, RULES, "variant_atr"]),
        (
            "learning",
            "always_ask",
            "travel",
            "Tea.",
            ["base", "domain_travel", "context", *TOLD, RULES, "variant_always_ask"],
        ),
        ("learning", "oracle_full", "elsewhere", "Tea.", ["base", "context", *TOLD]),
        ("test", "atr", "travel", "Tea.", ["base", "domain_travel", "context", "mode_test"]),
        ("test", "oracle_target", "workspace", None, ["base", "domain_workspace", "mode_test"]),
    ],
)
def test_parts_follow_from_session_variant_domain_and_memory(
    session_type: str, variant: str, domain: str, context: str | None, names: list[str]
) -> None:
    parts = dict(system_prompt_parts(session_type, variant, domain, context))
    assert list(parts) == names
    assert parts.pop("context", None) == (f"<context>\n{context}\n</context>" if context else None)
    for name, text in parts.items():
        if name == f"domain_{domain}":
            assert text == load_ontology().domains[domain].policy
        else:
            file = files("atr_client.session").joinpath("prompts", f"{name}.md")
            assert text == file.read_text(encoding="utf-8").strip() != ""
    whole = [text for _, text in system_prompt_parts(session_type, variant, domain, context)]
    assert system_prompt(session_type, variant, domain, context) == "\n\n".join(whole)


def test_an_unknown_variant_has_no_prompt() -> None:
    with pytest.raises(ValueError, match="unknown variant 'art'; one of: default, atr"):
        system_prompt_parts("learning", "art", "travel", None)


def test_every_prompt_has_a_digest_and_nothing_else_has() -> None:
    folder = files("atr_client.session").joinpath("prompts")
    names = sorted(entry.name for entry in folder.iterdir() if entry.name.endswith(".md"))
    found = prompt_hashes("atr_client.session")
    assert list(found) == names
    assert found["base.md"] == hashlib.sha256(folder.joinpath("base.md").read_bytes()).hexdigest()
    assert all(name.endswith(".md") for name in prompt_hashes("atr_user_sim"))
