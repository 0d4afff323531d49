"""Faces of one test: what differs between them, who draws them, and what the draw gives away."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from atr_data import DataError, load_episode, validate_episode
from atr_datagen.gates.face_gates import on_each_face, without_faces
from atr_datagen.source.compile import Compiled, compile_sources, read_sources, redrawn, with_faces
from atr_datagen.source.document import SourceError
from atr_datagen.source.draw_faces import MIN_SALT, PUBLIC, Salt, draw_faces
from tests.support.sources import SOURCE, compiled, edited

SALT = Salt("forty owls in a belfry")
SALTS = [Salt(f"salt number {number:06d}") for number in range(300)]
TABLE, RETURNS = "pavla_ondrus_reservation_01", "pavla_ondrus_commerce_01"
MAIL = "pavla_ondrus_communication_01"
PAIR = """- key: kitchen_returns
  domain: commerce
  type: param_enum
  bind: return_order.resolution_type
  blind: {face: money}
  pair: returns
  test:
    say: The copper kettle I got for the kitchen leaks. Please send it back.
    target: {order_id: o_ket}
    product: [key, name, price, order_id]
    rows: [[ket, Copper kettle, 60, o_ket], [mug, Clay mug, 9, o_mug]]
  faces:
  - {key: owed, value: store_credit, text: a, answer: b, default: c, evidence: [{type: direct, content: d}]}
  - {key: sound_one, value: exchange, text: a, answer: b, default: c, evidence: [{type: direct, content: d}]}
  - {key: money, value: refund, text: a, answer: b, default: c, evidence: [{type: direct, content: d}]}
"""


def paired(folder: Path, *changes: tuple[str, str]) -> Path:
    """The source with a scope pair of two rules on what to do with returns."""
    block = PAIR
    for old, new in changes:
        assert block.count(old) == 1
        block = block.replace(old, new)
    bind = "  bind: return_order.resolution_type\n"
    return edited(folder, (bind, f"{bind}  pair: returns\n"), ("learning:\n", f"{block}learning:\n"))


def required(c: Compiled, rule_id: str) -> Mapping[str, Any]:
    (test,) = (test for test in c.episode["test_sessions"] if test["rule_id"] == rule_id)
    return test["labels"]["task_success"]["required_actions"][0]


def shown(rule_id: str, place: int) -> Compiled:
    return with_faces(compiled(), {rule_id: place}, 0)


def test_each_face_of_an_object_rule_has_its_own_gold() -> None:
    one = compiled()
    ids = one.tests[0].world.ids
    golds = [required(shown(TABLE, place), TABLE)["arguments"]["restaurant_id"] for place in range(3)]
    assert golds == [ids[key] for key in ("mill", "dove", "fern")]
    assert shown(TABLE, 1).episode["test_sessions"][0]["gold_value"] == ids["dove"]


def test_each_face_of_a_closed_choice_has_its_value_or_tool() -> None:
    values = [required(shown(RETURNS, place), RETURNS)["arguments"] for place in range(3)]
    assert values == [{"resolution_type": v} for v in ("exchange", "store_credit", "refund")]
    assert [required(shown(MAIL, place), MAIL)["tool"] for place in range(2)] == [
        "draft_message",
        "send_message",
    ]
    steps = [shown(MAIL, place).episode["rules"][0]["action_step"]["tool"] for place in range(2)]
    assert steps == ["draft_message", "send_message"]


def test_wording_follows_the_face_wherever_the_rule_is_told() -> None:
    episode = shown(TABLE, 1).episode
    rule, test = episode["rules"][0], episode["test_sessions"][0]
    assert rule["canonical_answer"].startswith("Chapel people love to choose a tune")
    assert "put on a record" in rule["rule_text"]
    assert test["rule_ref"] == {name: rule[name] for name in ("rule_id", "rule_text", "canonical_answer")}


def test_a_tool_takes_of_the_target_what_it_has_parameters_for(tmp_path: Path) -> None:
    path = edited(
        tmp_path,
        ("blind: {face: at_once}", "blind: draft_message"),
        ("tool: draft_message,", "tool: archive_messages, target: {message_ids: [club]},"),
    )
    faces = compiled(path).tests[3].faces
    assert [sorted(face.target) for face in faces] == [["message_ids"], ["thread_id"]]


def test_only_rules_golds_labels_and_metadata_differ_between_salts() -> None:
    public = compiled()
    ids = [test.rule_id for test in public.tests]
    for salt in SALTS[:20]:
        (drawn,) = redrawn([public], 0, salt)
        assert without_faces(drawn.episode, ids) == without_faces(public.episode, ids)
        changed = {key for key in drawn.episode if drawn.episode[key] != public.episode[key]}
        assert changed <= {"episode_id", "rules", "test_sessions", "metadata"}
        assert drawn.lines == public.lines


def test_signal_tells_nothing_of_the_face() -> None:
    told = [json.dumps(c.episode["metadata"]["selected_rules"]) for c in on_each_face(compiled(), 0)[:2]]
    assert MAIL in told[0] and MAIL in told[1]


def test_a_salt_draws_the_same_faces_each_time_and_another_salt_others() -> None:
    def draws(salt: Salt) -> list[int]:
        return list(draw_faces([(f"r_{n:02d}", compiled().tests[0].rule) for n in range(20)], salt).values())

    assert draws(SALT) == draws(Salt(SALT.text)) != draws(Salt("forty owls in a church"))


def test_over_many_salts_each_face_is_as_likely() -> None:
    rules = [(test.rule_id, test.rule) for test in compiled().tests]
    draws = [draw_faces(rules, salt) for salt in SALTS]
    counts = Counter(draw[TABLE] for draw in draws)
    assert all(70 <= counts[place] <= 130 for place in range(3))
    assert {draw["pavla_ondrus_scheduling_01"] for draw in draws} == {0}


def test_the_rules_of_a_scope_pair_never_share_a_face(tmp_path: Path) -> None:
    one = compiled(paired(tmp_path))
    rules = [(test.rule_id, test.rule) for test in one.tests]
    first, second = one.tests[2], one.tests[5]
    pairs = Counter[tuple[str, str]]()
    for salt in SALTS:
        draw = draw_faces(rules, salt)
        pairs[tuple(t.faces[draw[t.rule_id]].block.key for t in (first, second))] += 1  # type: ignore[index]
    assert all(a != b for a, b in pairs) and len(pairs) == 6
    assert min(pairs.values()) >= 25


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("key: owed,", "key: credit,", "pair: needs the face keys of keep_money_near; only one of them has"),
        ("return_order.resolution_type", "change_subscription_plan.new_plan", "has no value 'store_credit'"),
        ("  pair: returns\n", "", "'returns' stands at 1 rules; a scope pair has two"),
    ],
)
def test_two_rules_that_are_no_scope_pair_are_told(tmp_path: Path, old: str, new: str, reason: str) -> None:
    with pytest.raises(SourceError) as caught:
        read_sources(paired(tmp_path, (old, new)))
    assert reason in str(caught.value)


@given(st.text(min_size=MIN_SALT, max_size=40).filter(lambda text: text.isascii()))
def test_a_salt_draws_below_the_count(text: str) -> None:
    assert all(0 <= Salt(text).below(count, "a_rule_01") < count for count in (1, 2, 3, 7))


def test_a_salt_that_could_be_guessed_is_refused() -> None:
    with pytest.raises(DataError, match="the salt has 5 characters; it needs 16 or more"):
        Salt("guess")


def test_a_public_salt_is_printed_and_a_private_one_bound_by_a_digest() -> None:
    one, other = {"a_01": "x", "b_01": "y"}, {"a_01": "x", "b_01": "z"}
    assert PUBLIC.published(one) == {"salt": PUBLIC.text}
    (digest,) = SALT.published(one).values()
    assert digest.startswith("hmac-sha256:") and SALT.text not in digest
    assert SALT.published(dict(reversed(one.items()))) == {"digest": digest}
    assert SALT.published(other) != SALT.published(one)
    assert Salt("forty owls in a church").published(one) != SALT.published(one)


def test_a_drawn_episode_is_told_apart_by_its_name_and_is_sound(tmp_path: Path) -> None:
    (path,) = compile_sources(SOURCE, tmp_path, seed=3, salt=SALT)
    assert path.name == "pavla_ondrus_drawn_seed003.json"
    episode = load_episode(path)
    assert (episode.persona_id, episode.short_id, episode.seed) == ("pavla_ondrus", "drawn_seed003", 3)
    assert validate_episode(path) == []
    assert SALT.text not in path.read_text(encoding="utf-8")
