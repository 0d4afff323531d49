"""Sources to episodes: the same bytes on every run, and one clear line for every mistake."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from atr_data import DataError, load_episode
from atr_datagen.source.compile import compile_source, compile_sources, read_sources, with_faces
from atr_datagen.source.document import SourceError
from atr_datagen.source.draw_faces import PUBLIC
from atr_datagen.source.episodes import as_text
from atr_datagen.source.reading import SourceFile
from atr_datagen.source.world import Naming, opaque_ids
from atr_ontology import load_ontology
from tests.support.sources import SOURCE, compiled, edited

FIRST = {
    f"pavla_ondrus_{name}_{number:02d}": 0
    for name, number in (
        ("reservation", 1),
        ("scheduling", 1),
        ("commerce", 1),
        ("communication", 1),
        ("scheduling", 2),
    )
}
"""Every rule on its first face."""


def episode(path: Path = SOURCE) -> dict[str, Any]:
    return json.loads(as_text(with_faces(compiled(path), FIRST, 0).episode))


def test_the_two_rules_of_the_worked_example_compile(shared_dir: Path, tmp_path: Path) -> None:
    """The second version of the example has rules alone; persona and sessions are those of the first."""
    first, second = (shared_dir / "spec" / name / "marit_solheim.yaml" for name in ("example", "example_v2"))
    if not second.is_file():
        pytest.skip("no worked example here")
    whole, rules = first.read_text(encoding="utf-8"), second.read_text(encoding="utf-8")
    head, learning = whole.partition("rules:\n")[0], whole.partition("learning:\n")[2]
    path = tmp_path / "marit_solheim.yaml"
    learning = learning.replace("for: crew_yes", "for: crew_invites")
    path.write_text(f"{head}rules:\n{rules.partition('rules:')[2]}\nlearning:\n{learning}", encoding="utf-8")
    made = compiled(path)
    assert [[face.block.key for face in test.faces] for test in made.tests] == [
        ["unaided", "greeted", "fetched"],
        ["accept", "tentative"],
    ]
    golds = [[row.key for row in face.golds] for face in made.tests[0].faces]
    assert golds == [["perp"], ["amet"], ["spru"]]


def test_compiling_twice_gives_the_same_bytes_and_the_file_loads(tmp_path: Path) -> None:
    (first,) = compile_sources(SOURCE, tmp_path / "a" / "b")
    (second,) = compile_sources([SOURCE.parent], tmp_path / "c", only=["pavla_ondrus"])
    assert first.name == second.name == "pavla_ondrus_seed000.json"
    assert first.read_bytes() == second.read_bytes()
    assert load_episode(first).episode_id == "pavla_ondrus_seed000"


def test_another_seed_gives_other_ids_and_no_other_wording() -> None:
    zero, one = (compile_source(SourceFile.read(SOURCE), seed).episode for seed in (0, 1))
    ids = [[r["id"] for r in e["test_sessions"][0]["local_env"]["references"]] for e in (zero, one)]
    assert not set(ids[0]) & set(ids[1])
    assert one["episode_id"] == "pavla_ondrus_seed001" and one["metadata"]["seed"] == 1
    assert zero["rules"] == one["rules"]


def test_a_param_id_rule_compares_the_gold_row_and_keeps_the_rest_as_target() -> None:
    test = episode()["test_sessions"][0]
    (action,) = test["labels"]["task_success"]["required_actions"]
    (gold,) = [r for r in test["local_env"]["references"] if r["attributes"]["name"] == "Mill Street Larder"]
    assert action == {
        "tool": "book_restaurant",
        "arguments": {"restaurant_id": gold["id"]},
        "compare_args": ["restaurant_id"],
    }
    assert test["gold_value"] == gold["id"]
    assert test["labels"]["target"] == {"date_time": "2027-03-12T18:30", "party_size": 5}
    assert test["instruction"].startswith("The chapel committee is in Salina on")
    assert gold["attributes"] == {
        "name": "Mill Street Larder",
        "rating": 4.2,
        "price_per_head": 34,
        "sound": "unamplified hush",
        "location": "Salina",
    }


def test_a_confirm_rule_pins_the_call_to_be_confirmed() -> None:
    data = episode()
    test, rule = data["test_sessions"][1], data["rules"][1]
    (action,) = test["labels"]["task_success"]["required_actions"]
    (dean,) = [r["id"] for r in test["local_env"]["references"] if "Jitka" in r["attributes"]["title"]]
    assert action == {
        "tool": "get_user_confirmation",
        "arguments": {"target_tool": "set_reminder", "target_params": {"target_id": dean}},
        "compare_args": ["target_tool", "target_params"],
    }
    assert rule["action_step"] == {"tool": "get_user_confirmation", "param": "set_reminder"}
    assert test["gold_value"] is None


def test_linking_attributes_become_the_ids_that_tools_take() -> None:
    data = episode()
    products = {r["attributes"]["name"]: r for r in data["test_sessions"][2]["local_env"]["references"]}
    order = products["Graphite crucible"]["attributes"]["order_id"]
    assert order.startswith("ord_") and order != products["Lifting tongs"]["attributes"]["order_id"]
    assert data["test_sessions"][2]["labels"]["target"] == {"order_id": order}
    session = data["learning_sessions"][0]
    returned = session["gold_trajectory"][1]["arguments"]["order_id"]
    assert session["task_params"]["order"] == returned
    assert returned in [r["attributes"]["order_id"] for r in session["local_env"]["references"]]


def test_a_tool_identity_rule_compares_the_tool_alone() -> None:
    (action,) = episode()["test_sessions"][3]["labels"]["task_success"]["required_actions"]
    assert action == {"tool": "draft_message", "arguments": {}, "compare_args": None}


def test_signal_is_a_learning_session_that_uses_a_tool_of_some_face() -> None:
    assert episode()["metadata"] == {
        "seed": 0,
        "K": 4,
        "signal_count": 2,
        "noise_count": 2,
        "trajectory_length": 4,
        "all_test_rules": list(FIRST),
        "selected_rules": ["pavla_ondrus_commerce_01", "pavla_ondrus_communication_01"],
        "source_version": "2.0.0",
        "faces": {"salt": PUBLIC.text, "counts": dict(zip(FIRST, (3, 1, 3, 2, 2), strict=True))},
    }


def test_every_session_offers_its_whole_domain_and_the_confirmation() -> None:
    data = episode()
    for session in (*data["learning_sessions"], *data["test_sessions"]):
        tools = [tool.name for tool in load_ontology().domain(session["domain"]).tools]
        assert session["local_env"]["tools"] == [*tools, "get_user_confirmation"]


def test_a_null_cell_leaves_an_attribute_out_even_if_all_rows_share_it(tmp_path: Path) -> None:
    path = edited(
        tmp_path,
        (
            "product: [key, name, price, seller, order_id]",
            "product: [key, name, price, seller, order_id, order_status]",
        ),
        ('88, "@smith", o_cru]', '88, "@smith", o_cru, null]'),
        ('41, "@smith", o_tong]', '41, "@smith", o_tong, shipped]'),
    )
    found = {
        r["attributes"]["name"]: r["attributes"]
        for r in episode(path)["test_sessions"][2]["local_env"]["references"]
    }
    assert "order_status" not in found["Graphite crucible"]
    assert found["Lifting tongs"]["order_status"] == "shipped"


@given(st.lists(st.text(min_size=1), unique=True, max_size=60), st.integers(0, 5))
def test_ids_are_distinct_and_opaque(keys: list[str], seed: int) -> None:
    ids = opaque_ids(Naming(seed, "p", "s"), dict.fromkeys(keys, "prd"))
    assert list(ids) == keys and len(set(ids.values())) == len(keys)
    assert all(len(i) == 9 and int(i[4:], 16) >= 0 for i in ids.values())


def test_keys_that_hash_alike_still_get_different_ids() -> None:
    # More keys than the five hex digits can hold apart by luck: some are bound to collide.
    keys = [f"k{number}" for number in range(4000)]
    ids = opaque_ids(Naming(0, "p", "s"), dict.fromkeys(keys, "prd"))
    assert len(set(ids.values())) == len(keys)


def test_nothing_is_written_when_one_source_is_wrong(tmp_path: Path) -> None:
    (tmp_path / "sources").mkdir()
    good = edited(tmp_path / "sources")
    bad = good.with_name("zora_ash.yaml")
    bad.write_text(good.read_text().replace("value: exchange", "value: swap"))
    with pytest.raises(SourceError, match=r"persona\.id: should be the name of the file"):
        compile_sources(tmp_path / "sources", tmp_path / "out")
    assert not (tmp_path / "out").exists()
    assert [c.file_name for c in read_sources(tmp_path / "sources", only=["pavla_ondrus"])]


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "out").write_text("a file")
    with pytest.raises(DataError, match="out: cannot be written"):
        compile_sources(SOURCE, tmp_path / "out")


def test_question_lines_lie_beside_the_episode_and_never_in_it(tmp_path: Path) -> None:
    (path,) = compile_sources(SOURCE, tmp_path)
    data = json.loads((tmp_path / "pavla_ondrus.lines.json").read_text(encoding="utf-8"))
    assert (data["persona_id"], list(data["rules"])) == ("pavla_ondrus", list(FIRST))
    mine = data["rules"]["pavla_ondrus_communication_01"]
    assert mine["asked"]["a"][0] == "Does a reply about a fault go out right away?"
    assert [len(mine["not_asked"][hand]) for hand in "ab"] == [2, 2]
    assert mine["about"]["narrow"] == [] and len(mine["about"]["decision"]) == 10
    text = path.read_text(encoding="utf-8")
    lines = [
        x
        for rule in data["rules"].values()
        for kind in ("asked", "not_asked")
        for h in "ab"
        for x in rule[kind][h]
    ]
    assert len(lines) == 50 and not any(line in text for line in lines)


def test_no_source_and_an_unknown_persona_are_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no persona sources"):
        compile_sources(tmp_path, tmp_path / "out")
    with pytest.raises(DataError, match="no source of 'pavla_ondru'; did you mean 'pavla_ondrus'"):
        compile_sources(SOURCE.parent, tmp_path / "out", only=["pavla_ondru"])


def test_a_learning_step_may_announce_a_call(tmp_path: Path) -> None:
    steps = '["search_messages(sender)", "send_message('
    announced = steps.replace(', "send', ', "get_user_confirmation(target_tool=send_message)", "send')
    session = episode(edited(tmp_path, (steps, announced)))["learning_sessions"][3]
    assert session["gold_trajectory"][1] == {
        "tool": "get_user_confirmation",
        "arguments": {"target_tool": "send_message"},
    }
