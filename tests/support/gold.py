"""What an agent must not see of an episode, and what it may, to look through all that was sent to one."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from atr_data.episode import Episode
from atr_ontology import load_ontology
from atr_servers.server import describe_tool

_ESCAPED = re.compile(r"\\+u([0-9a-fA-F]{4})")
_BETWEEN = re.compile(r"[\W_]+")
_SHORTEST = 4
"""Letters of a string that is looked for. A shorter one stands in any text."""


def plain(text: str) -> str:
    """Words in small letters with one space between, however often the text was put into JSON."""
    text = _ESCAPED.sub(lambda match: chr(int(match[1], 16)), text)
    words = _BETWEEN.sub(" ", text.replace("\\n", " ").lower())
    return f" {words.strip()} "


def leaked(sent: str, episode: Episode, *legitimate: str) -> set[str]:
    """Strings of the episode's gold that stand in what was sent. Left out are those that an agent may see by
    right: whatever stands in its tasks, its objects, the tools, the persona's address, or in `legitimate`."""
    shown = plain(" ".join((*_shown(episode), *legitimate)))
    found = plain(sent)
    secret = {plain(text) for text in _gold(episode)}
    return {text for text in secret if len(text.strip()) >= _SHORTEST and text not in shown and text in found}


def secrets(episode: Episode, *legitimate: str) -> set[str]:
    """All that `leaked` looks for."""
    return leaked(" ".join(_gold(episode)), episode, *legitimate)


def _gold(episode: Episode) -> Iterator[str]:
    """Rules with all that belongs to them; labels, ids and plans of sessions; who the persona is."""
    raw = episode.model_dump(mode="json")
    yield from _strings([raw["rules"], raw["metadata"], raw["raw_persona"], raw["episode_id"]])
    for session in raw["learning_sessions"]:
        yield from _strings([session[name] for name in ("session_id", "expected_tools", "gold_trajectory")])
    for session in raw["test_sessions"]:
        open_to_all = ("instruction", "domain", "local_env", "session_type")
        yield from _strings([value for name, value in session.items() if name not in open_to_all])


def _shown(episode: Episode) -> Iterator[str]:
    raw = episode.model_dump(mode="json")
    for session in (*raw["learning_sessions"], *raw["test_sessions"]):
        told = ("instruction", "reason_for_call", "task_params", "domain", "local_env")
        yield from (json.dumps(session.get(name), ensure_ascii=False) for name in told)
    place = raw["structured_persona"].get("demographics", {})
    yield json.dumps([place.get(name) for name in ("city", "state", "zipcode")])
    ontology = load_ontology()
    for domain in ontology.domains.values():
        yield from (describe_tool(tool).model_dump_json() for tool in (*domain.tools, *ontology.base_tools))


def _strings(value: Any) -> Iterator[str]:
    match value:
        case str():
            yield value
        case dict():
            for inner in value.values():
                yield from _strings(inner)
        case list():
            for inner in value:
                yield from _strings(inner)
        case _:
            pass
