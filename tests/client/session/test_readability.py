"""Whether a test session could read its rule: decided when it is played, stored in its trajectory."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from atr_client import play_episode
from atr_client.agents import OFFLINE_MODELS
from atr_client.cell.play_episode import EpisodeResult
from atr_client.outputs.export import for_original
from atr_client.session.readability import context_digest, folded, rule_readability
from atr_data import Episode, Trajectory, load_episode
from atr_data.variants import VARIANTS
from atr_user_sim.answer_token import append, substitute
from tests.conftest import ROOT
from tests.support.cells import small_episode

EPISODE = ROOT / "data" / "episodes" / "odalys_renner_seed000.json"


def _with_answer(answer: str) -> Episode:
    document = small_episode(tests=1).model_dump(mode="json")
    document["rules"][0]["canonical_answer"] = answer
    return Episode.model_validate(document)


@pytest.mark.parametrize(
    ("answer", "memory", "readable"),
    [
        ("I keep 1.", None, False),
        ("I keep 1.", "", False),
        ("I keep 1.", "[user]: Well, i keep 1, always", True),
        ("I keep 1.", "[user]: I\n   KEEP -- 1!", True),
        ("I keep 1.", "[user]: I keep 10.", False),
        ("I keep 1.", "[user]: I keep nothing.\n[user]: 1", False),
        ("Straße zuerst", "STRASSE ZUERST", True),
        ("don’t call me", "Don't call me.", True),
        ("...", "anything ...", None),
    ],
)
def test_the_words_of_the_answer_decide(answer: str, memory: str | None, readable: bool | None) -> None:
    episode = _with_answer(answer)
    found, how = rule_readability(episode, episode.test_sessions[0], "atr", memory)
    assert found is readable
    if readable is None:
        assert how is None
    else:
        assert how is not None
        assert (how.method, how.memory_sha256) == ("verbatim", context_digest(memory))


def test_a_context_is_known_by_its_digest_and_none_is_as_an_empty_one() -> None:
    empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    assert context_digest(None) == context_digest("") == empty
    assert context_digest("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"


@pytest.mark.parametrize("variant", [name for name, variant in VARIANTS.items() if variant.is_oracle])
def test_an_oracle_can_read_by_construction(variant: str) -> None:
    episode = _with_answer("I keep 1.")
    found, how = rule_readability(episode, episode.test_sessions[0], variant, "reworded beyond recognition")
    assert (found, how and how.method) == (True, "told")


def test_nothing_is_said_of_learning_and_of_a_rule_that_is_not_there() -> None:
    episode = _with_answer("I keep 1.")
    lost = episode.model_copy(update={"rules": []})
    assert rule_readability(episode, episode.learning_sessions[0], "atr", "I keep 1.") == (None, None)
    assert rule_readability(lost, episode.test_sessions[0], "atr", "I keep 1.") == (None, None)


_PROSE = st.text(st.sampled_from("ab I'.,!?\n 3"), max_size=12)


@given(_PROSE, _PROSE, st.text(st.sampled_from("ab I'.,7"), min_size=1, max_size=12))
def test_whatever_way_the_user_says_the_answer_it_is_readable(before: str, after: str, answer: str) -> None:
    said = substitute(f"{before} <RULE_ANSWER> {after}", answer), append(before, answer)
    if folded(answer):
        for reply in said:
            assert f" {folded(answer)} " in f" {folded(reply)} "


async def _played(variant: str, layer: str = "context") -> EpisodeResult:
    return await play_episode(EPISODE, variant, OFFLINE_MODELS["offline/asker"].model(), memory=layer)


async def test_what_was_heard_is_readable_and_nothing_else() -> None:
    played = await _played("always_ask")
    heard: dict[str, Any] = played.evaluation["metrics"]["rule_coverage"]["per_rule_hit_map"]
    rules = {test.session_id: test.rule_id for test in load_episode(EPISODE).test_sessions}
    readable = {t.session_id: t.rule_readable for t in played.trajectories}
    assert 0 < len(heard) < len(rules)
    assert {name: readable[name] for name in rules} == {n: rule in heard for n, rule in rules.items()}
    assert all(readable[t.session_id] is None for t in played.trajectories if t.session_type == "learning")


@pytest.mark.parametrize(
    ("variant", "layer", "readable"),
    [("always_ask", "none", False), ("default", "context", False), ("oracle_target", "context", True)],
)
async def test_memory_and_variant_decide(variant: str, layer: str, readable: bool) -> None:
    tests = [t for t in (await _played(variant, layer)).trajectories if t.session_type == "test"]
    assert {t.rule_readable for t in tests} == {readable}


def test_files_of_other_programs_say_nothing_and_get_nothing(tmp_path: Path) -> None:
    foreign = Trajectory(session_id="t", session_type="test", agent_variant="atr")
    assert (foreign.rule_readable, foreign.readability) == (None, None)
    assert not {"rule_readable", "readability"} & set(json.loads(for_original(foreign)))
