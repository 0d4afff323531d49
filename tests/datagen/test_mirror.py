"""Two faces of one test: what a second face changes, who draws it, and what it gives away."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from atr_data import DataError, load_episode, validate_episode
from atr_datagen.gates.face_gates import second_faces
from atr_datagen.gates.static_gates import check_sources
from atr_datagen.source.compile import (
    Compiled,
    compile_source,
    compile_sources,
    read_sources,
    show_second_faces,
)
from atr_datagen.source.document import SourceError
from atr_datagen.source.grammar import SourceFile
from atr_datagen.source.mirror import MIN_SALT, Salt
from tests.conftest import ROOT
from tests.support.sources import SOURCE, compiled, edited, named

SOURCES = ROOT / "data" / "sources"
SALT = Salt("forty owls in a belfry")
RULES = [f"rule_{number:02d}" for number in range(40)]
ENUM = """  mirror:
    text: Broken goods are paid back in kind at her counter.
    answer: Whoever sent me rubbish may owe me something from the same shelf.
    value: store_credit
"""
TOOL = """  mirror:
    text: A complaint is answered at once.
    answer: Somebody cross about a bell hears from me before lunch.
    default: Keep the letter back.
    tool: send_message
"""


def with_all_types(tmp_path: Path) -> Path:
    return edited(
        tmp_path, ("- key: pen_first", f"{ENUM}- key: pen_first"), ("learning:\n", f"{TOOL}learning:\n")
    )


def second(path: Path = SOURCE) -> Compiled:
    (first,) = read_sources(path)
    return show_second_faces(first, 0, {test.rule_id for test in first.tests if test.rule.mirror})


def required(c: Compiled, index: int) -> Mapping[str, Any]:
    test = c.episode["test_sessions"][index]
    return test["labels"]["task_success"]["required_actions"][0]


def test_a_second_face_of_an_object_rule_has_the_other_gold_and_tags() -> None:
    faced = second()
    test = faced.tests[0]
    assert {row.key: row.tag for row in test.world.candidates()} == {
        "mill": "pull",
        "rail": "pull",
        "dove": "gold",
        "ivy": "off",
    }
    gold = test.world.ids["dove"]
    assert faced.episode["test_sessions"][0]["gold_value"] == gold
    assert required(faced, 0)["arguments"] == {"restaurant_id": gold}


def test_wording_follows_the_face_wherever_the_rule_is_told() -> None:
    first, faced = compiled().episode, second().episode
    rule, test = faced["rules"][0], faced["test_sessions"][0]
    assert rule["canonical_answer"].startswith("Chapel people love to choose a tune")
    assert "put on a record" in rule["rule_text"]
    assert test["rule_ref"] == {name: rule[name] for name in ("rule_id", "rule_text", "canonical_answer")}
    assert rule["counterfactual_default"] == first["rules"][0]["counterfactual_default"]
    assert test["instruction"] == first["test_sessions"][0]["instruction"]


def test_a_second_face_without_a_text_of_its_own_shows_its_answer(tmp_path: Path) -> None:
    text = "    text: When a chapel committee comes to dine, Pavla picks a place where"
    rule = second(edited(tmp_path, (f"{text} they can put on a record.\n", ""))).episode["rules"][0]
    assert rule["rule_text"] == rule["canonical_answer"]


def test_a_second_face_of_a_closed_choice_has_the_other_value_and_tool(tmp_path: Path) -> None:
    faced = second(with_all_types(tmp_path))
    returned, written = faced.tests[2].rule, faced.tests[3].rule
    assert required(faced, 2)["arguments"] == {"resolution_type": "store_credit"}
    assert faced.episode["test_sessions"][2]["gold_value"] == "store_credit"
    assert (returned.gold, returned.blind) == ("store_credit", "refund")
    assert required(faced, 3)["tool"] == "send_message"
    assert faced.episode["rules"][3]["action_step"]["tool"] == "send_message"
    assert (written.tool, written.blind) == ("send_message", "draft_message")
    assert written.default == "Keep the letter back."


def test_what_a_tool_cannot_take_is_no_target_of_its_face(tmp_path: Path) -> None:
    block = TOOL.replace("send_message", "archive_messages") + "    target: {message_ids: [club]}\n"
    block = block.replace("    default: Keep the letter back.\n", "")
    faced = second(edited(tmp_path, ("learning:\n", f"{block}learning:\n")))
    assert faced.tests[3].target == {"message_ids": [faced.tests[3].world.ids["club"]]}


def test_signal_is_counted_for_the_face_that_is_shown(tmp_path: Path) -> None:
    path = with_all_types(tmp_path)
    (first,) = read_sources(path)
    assert "pavla_ondrus_communication_01" not in first.episode["metadata"]["selected_rules"]
    assert "pavla_ondrus_communication_01" in second(path).episode["metadata"]["selected_rules"]


MISTAKES = [
    ("    rule_is: [sound ~ jukebox]\n", "", "mirror.rule_is: is missing; the other face of a param_id rule"),
    (
        "    rule_is: [sound ~ jukebox]\n",
        "    value: x\n",
        "mirror.value: does not belong to a param_id rule",
    ),
    ("[sound ~ jukebox]", "[sond ~ jukebox]", "mirror.rule_is[0]: no object here has 'sond'"),
    ("    rule_is: [sound ~ j", "    target: {guests: 3}\n    rule_is: [sound ~ j", "no parameter 'guests'"),
    ("    answer: Chapel people love", "    anser: Chapel people love", "did you mean 'answer'?"),
]
CLOSED = [
    (ENUM, "value: store_credit", "value: voucher", "mirror.value: resolution_type has no value 'voucher'"),
    (
        ENUM,
        "value: store_credit",
        "value: exchange",
        "mirror.value: is the gold of the first face, 'exchange'",
    ),
    (
        ENUM,
        "value: store_credit",
        "value: refund",
        "mirror.default: is missing; this face asks for what `blind`",
    ),
    (TOOL, "    default: Keep the letter back.\n", "", "mirror.default: is missing"),
    (
        TOOL,
        "tool: send_message",
        "tool: send_massage",
        "mirror.tool: communication has no tool 'send_massage'",
    ),
    (TOOL, "tool: send_message", "tool: draft_message", "mirror.tool: is the gold of the first face"),
]


@pytest.mark.parametrize(("old", "new", "reason"), MISTAKES, ids=[m[2][:35] for m in MISTAKES])
def test_a_mistake_in_a_mirror_is_told_in_one_line(tmp_path: Path, old: str, new: str, reason: str) -> None:
    path = edited(tmp_path, (old, new))
    with pytest.raises(SourceError) as caught:
        read_sources(path)
    assert any(reason in line and line.startswith(f"{path}:") for line in str(caught.value).splitlines())


@pytest.mark.parametrize(("block", "old", "new", "reason"), CLOSED, ids=[m[3][:40] for m in CLOSED])
def test_a_mistake_in_the_mirror_of_a_closed_choice_is_told(
    tmp_path: Path, block: str, old: str, new: str, reason: str
) -> None:
    place = "- key: pen_first" if block is ENUM else "learning:\n"
    path = edited(tmp_path, (place, f"{block.replace(old, new)}{place}"))
    with pytest.raises(SourceError) as caught:
        read_sources(path)
    assert reason in str(caught.value)


def test_a_confirm_rule_has_no_second_face(tmp_path: Path) -> None:
    path = edited(
        tmp_path, ("- key: keep_money_near", "  mirror: {answer: Ask nobody.}\n- key: keep_money_near")
    )
    with pytest.raises(SourceError, match="mirror: does not belong to a confirm rule"):
        read_sources(path)


GATES = [
    ("S1", "[sound ~ jukebox]", "[sound ~ hush]", "mirrored rule are met by mill, dove"),
    ("2nd face S2", "[sound ~ jukebox]", "[sound ~ trio]", "what is best on rating within the limits"),
    (
        "bounds",
        "    answer: Chapel people love to",
        "    answer: Chapel people " + "really " * 24 + "love to",
        "mirror.answer: has 35 words",
    ),
    (
        "2nd face S6",
        "love to choose a tune themselves",
        "love haircuts, aprons, gutters, ladders and leaks",
        "shares gutter, ladder, leak with rule quiet_bench",
    ),
]


@pytest.mark.parametrize(("name", "old", "new", "reason"), GATES, ids=[g[0] for g in GATES])
def test_a_gate_on_second_faces_fails_and_says_where_and_why(
    tmp_path: Path, name: str, old: str, new: str, reason: str
) -> None:
    path = edited(tmp_path, (old, new))
    gate = named(check_sources(path), name)
    assert any(reason in failure for failure in gate.failures), gate.failures
    assert all(failure.startswith(f"{path}:") for failure in gate.failures)


def test_a_second_face_that_another_dataset_has_is_overlap(tmp_path: Path) -> None:
    (path,) = compile_sources(SOURCES, tmp_path, only=["odalys_renner"])
    data = json.loads(path.read_text(encoding="utf-8"))
    (faced,) = second_faces(read_sources(SOURCE), 0)
    data["rules"][0]["canonical_answer"] = faced.episode["rules"][0]["canonical_answer"]
    path.write_text(json.dumps(data), encoding="utf-8")
    found = check_sources(SOURCE, official=tmp_path)
    assert named(found, "O1").ok
    assert "rules[quiet_bench]: shares the words" in " ".join(named(found, "2nd face O1").failures)


def test_without_a_salt_every_rule_shows_its_first_face() -> None:
    file = SourceFile.read(SOURCE)
    assert compile_source(file).episode["rules"][0]["rule_text"] == file.source.rules[0].text
    assert "faces" not in compile_source(file).episode["metadata"]


def test_a_salt_draws_the_same_faces_each_time_and_another_salt_others() -> None:
    def shown(salt: Salt) -> list[str]:
        return [rule["rule_text"] for c in read_sources(SOURCES, salt=salt) for rule in c.episode["rules"]]

    assert shown(SALT) == shown(Salt(SALT.text))
    assert shown(SALT) != shown(Salt("forty owls in a church"))
    plain = [rule["rule_text"] for c in read_sources(SOURCES) for rule in c.episode["rules"]]
    changed = sum(a != b for a, b in zip(shown(SALT), plain, strict=True))
    assert 0 < changed < 16


@given(st.text(min_size=MIN_SALT, max_size=40).filter(lambda text: text.isascii()))
def test_a_salt_shows_either_face_about_as_often(text: str) -> None:
    shown = sum(Salt(text).draws_second(rule) for rule in RULES)
    assert 2 <= shown <= 38


def test_over_many_salts_either_face_is_as_likely() -> None:
    draws = [Salt(f"salt number {number:06d}").draws_second("a_rule_01") for number in range(2000)]
    assert 0.46 < sum(draws) / len(draws) < 0.54


def test_a_salt_that_could_be_guessed_is_refused() -> None:
    with pytest.raises(DataError, match="the mirror salt has 5 characters; it needs 16 or more"):
        Salt("guess")


def test_the_published_digest_changes_with_faces_and_with_salt() -> None:
    one, other = {"a_01": True, "b_01": False}, {"a_01": False, "b_01": False}
    assert SALT.commitment(one) == SALT.commitment(dict(reversed(one.items())))
    assert SALT.commitment(one) != SALT.commitment(other)
    assert SALT.commitment(one) != Salt("forty owls in a church").commitment(one)
    assert SALT.commitment(one).startswith("hmac-sha256:")


FACE = {
    "rules": {"rule_text", "canonical_answer", "counterfactual_default", "evidence", "action_step"},
    "test_sessions": {"gold_value", "rule_ref", "labels"},
    "metadata": {"faces", "signal_count", "noise_count", "selected_rules"},
}
"""All that may differ between a drawn episode and the public one, apart from the id."""


def without_face(episode: Mapping[str, Any]) -> dict[str, Any]:
    kept = json.loads(json.dumps(episode)) | {"episode_id": ""}
    for block, names in FACE.items():
        for item in kept[block] if isinstance(kept[block], list) else [kept[block]]:
            for name in names:
                item.pop(name, None)
    return kept


def test_a_drawn_set_differs_from_the_public_one_in_rules_and_golds_alone() -> None:
    public, drawn = read_sources(SOURCES), read_sources(SOURCES, salt=SALT)
    assert [without_face(c.episode) for c in drawn] == [without_face(c.episode) for c in public]
    assert any(
        a.episode["test_sessions"] != b.episode["test_sessions"] for a, b in zip(public, drawn, strict=True)
    )


def test_a_drawn_episode_is_told_apart_by_its_name_and_is_sound(tmp_path: Path) -> None:
    (path,) = compile_sources(SOURCES, tmp_path, seed=3, only=["ferran_oduya"], salt=SALT)
    assert path.name == "ferran_oduya_mirror_seed003.json"
    episode = load_episode(path)
    assert (episode.persona_id, episode.short_id, episode.seed) == ("ferran_oduya", "mirror_seed003", 3)
    assert validate_episode(path) == []


def test_at_least_ten_rules_of_the_five_have_a_second_face_with_a_text_of_its_own() -> None:
    mirrors = [test.rule.mirror for c in read_sources(SOURCES) for test in c.tests if test.rule.mirror]
    assert len(mirrors) >= 10 and all(mirror.text for mirror in mirrors)
