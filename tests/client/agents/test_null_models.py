"""The null models: what they guess, what they may know, and that they never know more."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from atr_client.agents import OFFLINE_MODELS, RULE_BLIND_MODELS
from atr_client.agents.majority import Majority, Ranking, lessons_of
from atr_client.agents.nulls import Drawn, First
from atr_client.agents.reading import Row
from atr_client.errors import ManifestMismatch
from atr_client.models.base import ToolSpec
from atr_client.outputs.manifest import gate
from atr_client.sweep.config_file import load_config
from atr_client.sweep.plan import Overrides, null_config, plan_cells
from atr_client.sweep.sweep_runner import run_sweep
from atr_data import load_trajectory
from atr_data.episode import Episode
from atr_data.errors import DataError
from atr_ontology import load_ontology, names_object

LAMPS = [
    ("oak", 40, 4.1),
    ("brass", 25, 4.9),
    ("paper", 12, 3.2),
    ("steel", 33, 4.4),
]
"""Name, price, rating, in listed order."""


def buying(persona: str, gold: str) -> dict[str, Any]:
    """A test of an order, about one of the lamps."""
    return _test(
        persona,
        "lamp",
        "commerce",
        "Please order a lamp for the hall.",
        [
            {"id": f"prd_{name}", "type": "product", "attributes": {"name": "Lamp", "price": p, "rating": r}}
            for name, p, r in LAMPS
        ],
        {"tool": "place_order", "arguments": {"product_id": f"prd_{gold}"}, "compare_args": ["product_id"]},
    )


def returning(persona: str, gold: str) -> dict[str, Any]:
    """A test of a return, about what is wanted for it."""
    return _test(
        persona,
        "return",
        "commerce",
        "The toaster came broken; please return that order.",
        [
            {
                "id": "prd_toaster",
                "type": "product",
                "attributes": {
                    "name": "Toaster",
                    "price": 30,
                    "order_id": "ord_1",
                    "order_status": "delivered",
                },
            }
        ],
        {
            "tool": "return_order",
            "arguments": {"resolution_type": gold},
            "compare_args": ["resolution_type"],
        },
    )


def _test(
    persona: str,
    name: str,
    domain: str,
    instruction: str,
    references: list[dict[str, Any]],
    required: dict[str, Any],
) -> dict[str, Any]:
    return {
        "session_id": f"{persona}_{name}_test",
        "domain": domain,
        "rule_id": f"{persona}_{name}",
        "instruction": instruction,
        "local_env": {
            "tools": [tool.name for tool in load_ontology().offered(domain)],
            "references": references,
        },
        "labels": {"task_success": {"required_actions": [required]}},
    }


def episode(persona: str, *tests: dict[str, Any]) -> Episode:
    def rule(test: dict[str, Any]) -> dict[str, Any]:
        (required,) = test["labels"]["task_success"]["required_actions"]
        (param,) = required["compare_args"]
        return {
            "rule_id": test["rule_id"],
            "rule_text": "x",
            "canonical_answer": "As I like it.",
            "check_type": "param_id" if names_object(param) else "param_enum",
            "action_step": {"tool": required["tool"], "param": param},
        }

    return Episode.model_validate(
        {
            "episode_id": f"{persona}_seed000",
            "raw_persona": {"persona_id": persona, "narrative": "n"},
            "structured_persona": {},
            "rules": [rule(test) for test in tests],
            "learning_sessions": [],
            "test_sessions": list(tests),
        }
    )


def write(folder: Path, *episodes: Episode) -> Path:
    folder.mkdir(exist_ok=True)
    for written in episodes:
        (folder / f"{written.episode_id}.json").write_text(written.model_dump_json())
    return folder


def plan(tmp_path: Path, models: Sequence[str], *, select: str = "all", shuffle: int | None = None):
    path = tmp_path / "run.yaml"
    seed = "" if shuffle is None else f"shuffle_references: {shuffle}, "
    path.write_text(
        f"name: x\nepisodes: {{{seed}select: [{select}]}}\nvariants: [oracle_target]\n"
        f"models: {list(models)}\ntraces: false\n"
    )
    overrides = Overrides(episodes=tmp_path / "episodes")
    return plan_cells(load_config(str(path)), tmp_path / "outputs", overrides)


async def actions(tmp_path: Path, model: str, **how: Any) -> dict[str, tuple[str, dict[str, Any]]]:
    """Test session to the call that acted."""
    cells = plan(tmp_path, [model], **how)
    report = await run_sweep(cells)
    assert [row["error"] for row in report.sorted_rows] == [None] * len(cells)
    found: dict[str, tuple[str, dict[str, Any]]] = {}
    for path in sorted((tmp_path / "outputs").rglob("trajectories/*.json")):
        run = load_trajectory(path)
        calls = [call for message in run.messages for call in message.tool_calls or ()]
        (acted,) = [c for c in calls if not c.name.startswith(("search_", "list_", "review_", "finish_"))]
        found[run.session_id] = (acted.name, acted.arguments)
    return found


async def test_first_takes_what_is_listed_first_and_the_stock_value(tmp_path: Path) -> None:
    write(tmp_path / "episodes", episode("pp_a", buying("pp_a", "paper"), returning("pp_a", "store_credit")))
    acted = await actions(tmp_path, "offline/first")
    assert acted["pp_a_lamp_test"][0] == "place_order"
    assert acted["pp_a_lamp_test"][1]["product_id"] == "prd_oak"
    parameter = load_ontology().tool("return_order").parameter("resolution_type")  # type: ignore[union-attr]
    assert parameter is not None
    tool, arguments = acted["pp_a_return_test"]
    assert (tool, arguments["resolution_type"]) == ("return_order", parameter.enum[0])


async def test_majority_does_what_was_right_for_the_others(tmp_path: Path) -> None:
    others = [
        episode(name, buying(name, "paper"), returning(name, "exchange")) for name in ("pp_b", "pp_c", "pp_d")
    ]
    own = episode("pp_a", buying("pp_a", "oak"), returning("pp_a", "store_credit"))
    write(tmp_path / "episodes", own, *others)
    acted = await actions(tmp_path, "offline/majority", select="pp_a")
    assert acted["pp_a_lamp_test"][1]["product_id"] == "prd_paper"
    assert acted["pp_a_return_test"][1]["resolution_type"] == "exchange"


async def test_majority_never_sees_the_labels_of_the_persona_it_serves(tmp_path: Path) -> None:
    write(tmp_path / "episodes", *(episode(name, buying(name, "brass")) for name in ("pp_b", "pp_c")))
    seen: list[Any] = []
    for gold in ("oak", "paper"):
        own = episode("pp_a", buying("pp_a", gold))
        later = own.model_copy(update={"episode_id": "pp_a_seed001"})
        write(tmp_path / "episodes", own, later)
        seen.append(await actions(tmp_path, "offline/majority", select="pp_a_seed000"))
        (tmp_path / "outputs").rename(tmp_path / f"outputs_{gold}")
    assert seen[0] == seen[1]
    assert seen[0]["pp_a_lamp_test"][1]["product_id"] == "prd_brass"


async def test_majority_alone_guesses_as_first_does(tmp_path: Path) -> None:
    write(tmp_path / "episodes", episode("pp_a", buying("pp_a", "paper"), returning("pp_a", "exchange")))
    alone = await actions(tmp_path, "offline/majority")
    (tmp_path / "outputs").rename(tmp_path / "outputs_majority")
    assert alone == await actions(tmp_path, "offline/first")


def test_a_majority_learnt_elsewhere_is_another_model(tmp_path: Path) -> None:
    write(tmp_path / "episodes", episode("pp_a", buying("pp_a", "oak")))
    (alone,) = plan(tmp_path, ["offline/majority"])
    write(tmp_path / "episodes", episode("pp_b", buying("pp_b", "paper")))
    (taught,) = plan(tmp_path, ["offline/majority"], select="pp_a")
    assert alone.manifest.model_sha256 != taught.manifest.model_sha256
    assert not taught.manifest.privileged


def test_a_peer_that_cannot_be_read_is_named_only_when_somebody_learns_of_it(tmp_path: Path) -> None:
    write(tmp_path / "episodes", episode("pp_a", buying("pp_a", "oak")))
    (tmp_path / "episodes" / "pp_b_seed000.json").write_text("{")
    assert len(plan(tmp_path, ["offline/first"], select="pp_a")) == 1
    with pytest.raises(DataError, match="pp_b_seed000"):
        plan(tmp_path, ["offline/majority"], select="pp_a")


async def test_random_draws_by_session_and_draws_the_same_again(tmp_path: Path) -> None:
    write(tmp_path / "episodes", *(episode(f"pp_{n}", buying(f"pp_{n}", "oak")) for n in range(12)))
    acted = await actions(tmp_path, "offline/random")
    (tmp_path / "outputs").rename(tmp_path / "outputs_before")
    assert await actions(tmp_path, "offline/random") == acted
    assert len({arguments["product_id"] for _, arguments in acted.values()}) >= 3


def test_draws_are_independent_of_each_other() -> None:
    rows = [Row({"product_id": str(n)}) for n in range(50)]
    drawn = {
        (tool, seed): Drawn(seed).objects(tool, "product_id", rows)[0].fields["product_id"]
        for tool in ("place_order", "build_shopping_list")
        for seed in ("a", "b")
    }
    assert len(set(drawn.values())) > 1


def test_a_default_is_the_stock_value_before_the_first_one() -> None:
    assert First().value("t", "p", {"enum": ["a", "b"], "default": "b"}) == "b"
    assert First().value("t", "p", {"enum": ["a", "b"]}) == "a"


@pytest.mark.parametrize(
    ("ranking", "top"),
    [
        (Ranking(None, False, 0), [0, 1]),
        (Ranking(None, True, 0), [3, 2]),
        (Ranking("price", False, 0), [2, 1]),
        (Ranking("price", False, 1), [1, 3]),
        (Ranking("rating", True, 0), [1, 3]),
        (Ranking("popularity", True, 0), [0, 1]),
    ],
)
def test_objects_are_ranked_by_place_or_number(ranking: Ranking, top: list[int]) -> None:
    pool = [{"name": name, "price": price, "rating": rating} for name, price, rating in LAMPS]
    assert ranking.top(pool, 2) == top
    assert ranking.top(pool[:1], 2) == [0]


def test_what_lacks_a_number_stands_behind() -> None:
    assert Ranking("price", True, 0).top([{}, {"price": True}, {"price": 3}], 1) == [2]


def test_the_words_of_a_request_tell_rivals_apart_and_the_commoner_wins_a_tie() -> None:
    gold = [("cancel_order", "call off the order"), ("return_order", "it is broken")]
    tests = [
        _test(
            f"pp_{n}", "x", "commerce", words, [], {"tool": tool, "arguments": {}, "compare_args": ["a_id"]}
        )
        for n, (tool, words) in enumerate([*gold, *gold, gold[0]])
    ]
    majority = Majority(
        [lesson for n, test in enumerate(tests) for lesson in lessons_of(episode(f"pp_{n}", test))]
    )
    tools = [ToolSpec(name, "", {}) for name in ("return_order", "cancel_order")]
    for request, expected in (("the lamp is broken", "return_order"), ("do it", "cancel_order")):
        chosen = majority.tool(tools, request, [])
        assert chosen is not None and chosen.name == expected


async def test_shuffled_references_reach_the_agent_and_gate_the_cell(tmp_path: Path) -> None:
    write(tmp_path / "episodes", episode("pp_a", buying("pp_a", "oak")))
    plain = await actions(tmp_path, "offline/first")
    (on_disk,) = (tmp_path / "outputs").rglob("cell_manifest.json")
    before = json.loads(on_disk.read_text())
    assert before["shuffle_references"] is None
    (tmp_path / "outputs").rename(tmp_path / "outputs_plain")
    chosen = set[str]()
    for seed in range(6):
        (cell,) = plan(tmp_path, ["offline/first"], shuffle=seed)
        assert cell.manifest.shuffle_references == seed
        assert cell.manifest.episode_sha256 == before["episode_sha256"]
        for compatible in (False, True):
            with pytest.raises(ManifestMismatch, match="shuffle_references was null, is"):
                gate(before, cell.manifest, compatible=compatible)
        acted = await actions(tmp_path, "offline/first", shuffle=seed)
        chosen.add(acted["pp_a_lamp_test"][1]["product_id"])
        (tmp_path / "outputs").rename(tmp_path / f"outputs_{seed}")
    assert plain["pp_a_lamp_test"][1]["product_id"] == "prd_oak"
    assert len(chosen) > 1


def test_only_models_without_a_rule_are_rule_blind() -> None:
    assert set(RULE_BLIND_MODELS) == {
        "offline/noop",
        "offline/naive",
        "offline/first",
        "offline/random",
        "offline/majority",
    }
    assert not any(OFFLINE_MODELS[name].privileged for name in RULE_BLIND_MODELS)


async def calls_of(tmp_path: Path, model: str) -> list[tuple[str, dict[str, Any]]]:
    (cell,) = plan(tmp_path, [model])
    report = await run_sweep([cell])
    assert [row["error"] for row in report.sorted_rows] == [None]
    (path,) = (tmp_path / "outputs").rglob("trajectories/*test*.json")
    messages = load_trajectory(path).messages
    return [(call.name, call.arguments) for m in messages for call in m.tool_calls or ()]


async def test_confirming_announces_its_write_and_then_makes_it(tmp_path: Path) -> None:
    write(tmp_path / "episodes", episode("pp_a", buying("pp_a", "oak")))
    calls = dict(await calls_of(tmp_path, "offline/confirming"))
    assert calls["get_user_confirmation"]["target_tool"] == "place_order"
    assert calls["get_user_confirmation"]["target_params"] == calls["place_order"]
    assert calls["place_order"]["product_id"] == "prd_oak"


async def test_spraying_calls_every_tool_that_writes_once(tmp_path: Path) -> None:
    write(tmp_path / "episodes", episode("pp_a", returning("pp_a", "refund")))
    names = [name for name, _ in await calls_of(tmp_path, "offline/spraying")]
    reading = ("search_", "compare_", "track_", "review_")
    writing = [t.name for t in load_ontology().domain("commerce").tools if not t.name.startswith(reading)]
    assert all(names.count(name) == 1 for name in writing) and names[-1] == "finish_session"
    assert "get_user_confirmation" not in names


def test_no_model_is_held_against_reflexes() -> None:
    assert not {"offline/confirming", "offline/spraying"} & set(RULE_BLIND_MODELS)
    assert {"offline/confirming", "offline/spraying"} <= OFFLINE_MODELS.keys()


def test_nulls_are_added_once_and_play_no_learning_session() -> None:
    config = null_config(load_config("quickstart"))
    assert config.variants == ["oracle_target"]
    assert [choice.id for choice in config.models] == list(RULE_BLIND_MODELS)
    assert null_config(config).models == []


async def official_score(model: str, tmp_path: Path, official_dir: Path, seed: int | None) -> float:
    (tmp_path / "episodes").symlink_to(official_dir / "episodes")
    select = "'a*', 'c*', 'j*', 'm*', 'v*'"
    report = await run_sweep(plan(tmp_path, [model], select=select, shuffle=seed))
    rows = report.sorted_rows
    return sum(row["ts_pass"] for row in rows) / sum(row["ts_total"] for row in rows)


@pytest.mark.parametrize(
    ("model", "seed", "low", "high"),
    [
        ("offline/first", None, 0.45, 0.60),
        ("offline/first", 1, 0.15, 0.32),
        ("offline/majority", None, 0.80, 0.95),
    ],
)
async def test_the_official_answers_can_be_guessed_and_less_so_when_shuffled(
    model: str, seed: int | None, low: float, high: float, tmp_path: Path, official_dir: Path
) -> None:
    assert low <= await official_score(model, tmp_path, official_dir, seed) <= high
