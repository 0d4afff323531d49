"""The plan of the dataset: what was drawn, that it can be drawn again, and that every bound can fail."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from atr_data import DataError
from atr_datagen.plan.bounds import check_plan
from atr_datagen.plan.draw import draw_plan, render_plan_check, write_plan
from atr_datagen.plan.model import Plan, PlannedRule, PlannedSession, families, roster
from atr_datagen.plan.shape import check_shape, keeps_shape
from atr_datagen.plan.simulation import simulate
from atr_datagen.plan.table import plan_text, read_plan
from atr_ontology import load_ontology
from tests.conftest import ROOT

PLAN = ROOT / "data" / "plan.csv"


@pytest.fixture(scope="module")
def plan() -> Plan:
    return read_plan(PLAN)


def test_drawing_seed_zero_again_gives_the_committed_plan(tmp_path: Path) -> None:
    write_plan(tmp_path / "new" / "plan.csv", 0)
    assert (tmp_path / "new" / "plan.csv").read_bytes() == PLAN.read_bytes()


def test_the_committed_plan_keeps_every_bound(plan: Plan) -> None:
    gates = render_plan_check(plan)
    assert [failure for gate in gates for failure in gate.failures] == []
    assert {gate.gate for gate in gates} >= {"plan counts", "plan composition", "plan shape", "mini shape"}
    assert any(gate.note and "shortcut.best_lopo " in gate.note for gate in gates)


def test_the_plan_has_the_counts_of_the_dataset(plan: Plan) -> None:
    rules, sessions = list(plan.rules()), list(plan.sessions())
    assert (len(plan.personas), len(rules), len(sessions)) == (20, 284, 568)
    types = Counter(rule.type for _, rule in rules)
    assert types == {"param_id": 116, "param_enum": 82, "tool_identity": 62, "confirm": 24}
    assert Counter(session.role for _, session in sessions) == {"direct": 284, "near": 142, "far": 142}
    assert {rule.faces for _, rule in rules if rule.type == "param_id"} == {3}
    assert plan.mini[0] == "odalys_renner" and len(plan.mini) == 5


def test_a_table_reads_back_as_the_plan_it_was_written_from(plan: Plan, tmp_path: Path) -> None:
    (tmp_path / "plan.csv").write_text(plan_text(plan), encoding="utf-8")
    assert read_plan(tmp_path / "plan.csv") == plan


def test_only_tools_and_values_of_the_ontology_are_planned(plan: Plan) -> None:
    for _, rule in plan.rules():
        for name in rule.tools:
            tool = load_ontology().tool(name)
            assert tool in load_ontology().domain(rule.domain).tools
            parameter = tool.parameter(rule.parameter) if tool and rule.parameter else None
            values = {*rule.choices, rule.blind}
            assert rule.type != "param_enum" or (parameter and values <= {*parameter.enum})
    for _, session in plan.sessions():
        offered = {tool.name for tool in load_ontology().offered(session.domain)}
        assert set(session.path) <= offered
        assert {slot.partition(".")[0] for slot in session.drawn} <= set(session.path)


def test_every_family_of_the_catalogue_has_paths_of_its_own() -> None:
    paths = Counter(path for own in families().values() for family in own for path in family.paths)
    assert max(paths.values()) == 1
    assert min(len(own) for own in families().values()) >= 14


def test_no_invented_name_occurs_in_the_official_episodes(official_dir: Path) -> None:
    text = " ".join(path.read_text(encoding="utf-8") for path in official_dir.glob("episodes/*.json"))
    official = set(re.findall(r"[a-z]+", text.lower()))
    names = {name for character in roster() for name in character.id.split("_")}
    assert not names & official


def test_simulated_golds_stand_where_the_plan_puts_them(plan: Plan) -> None:
    assert simulate(plan, 1) == simulate(plan, 1) != simulate(plan, 2)
    persona = plan.persona("ferran_oduya")
    (episode,) = simulate(plan, 0, ["ferran_oduya"])
    assert persona is not None
    for rule, test in zip(persona.rules, episode.test_sessions, strict=True):
        objects = test.local_env.references
        assert len(objects) == rule.candidates
        for pull in rule.pulls:
            by_draw = sorted(
                objects, key=lambda r: r.attributes[pull.field], reverse=pull.direction == "high"
            )
            assert [by_draw[rank - 1].id for rank in pull.ranks] == [f"face_{n}" for n in range(3)]
            assert by_draw[0].id == "decoy_0"


def test_simulated_faces_are_drawn_and_those_of_a_pair_differ(plan: Plan) -> None:
    persona = plan.persona("wilhelmina_sprague")
    assert persona is not None
    first, second = (rule for rule in persona.rules if rule.pair == "respond_to_event_invite.response")
    seen: set[tuple[str, str]] = set()
    for throw in range(40):
        (episode,) = simulate(plan, throw, ["wilhelmina_sprague"])
        actions = [test.labels.task_success.required_actions[0] for test in episode.test_sessions]
        one, other = (actions[rule.index].arguments["response"] for rule in (first, second))
        seen.add((one, other))
    assert all(one != other for one, other in seen) and len(seen) == 6


def test_limit_rows_repeat_what_the_plan_says(plan: Plan) -> None:
    (episode,) = simulate(plan, 0, ["ferran_oduya"])
    persona = plan.persona("ferran_oduya")
    assert persona is not None
    for rule, test in zip(persona.rules, episode.test_sessions, strict=True):
        decides = {r.id: r.attributes["decides"] for r in test.local_env.references}
        for place, repeated in enumerate(rule.limits):
            row = f"decoy_{rule.candidates - rule.faces - 1 - place}"
            source = "decoy_0" if repeated == "pull" else f"face_{int(repeated) - 1}"
            assert decides[row] == decides[source]


# ------------------------------------------------------------------ every bound can fail
def edited(
    plan: Plan,
    rules: Callable[[PlannedRule], PlannedRule] = lambda rule: rule,
    learning: Callable[[Sequence[PlannedSession]], Sequence[PlannedSession]] = lambda sessions: sessions,
) -> Plan:
    personas = [
        replace(p, rules=[rules(rule) for rule in p.rules], learning=list(learning(p.learning)))
        for p in plan.personas
    ]
    return replace(plan, personas=personas)


def each(change: Callable[[PlannedSession], PlannedSession]) -> Callable[[Plan], Plan]:
    return lambda plan: edited(plan, learning=lambda sessions: [change(session) for session in sessions])


def every(change: Callable[[PlannedRule], PlannedRule]) -> Callable[[Plan], Plan]:
    return lambda plan: edited(plan, rules=change)


def of_type(kind: str, **fields: object) -> Callable[[Plan], Plan]:
    return every(lambda rule: replace(rule, **fields) if rule.type == kind else rule)


FAILING: list[tuple[str, Callable[[Plan], Plan], str]] = [
    ("plan counts", lambda plan: replace(plan, personas=plan.personas[:19]), "should be {14: 16, 15: 4}"),
    (
        "plan counts",
        lambda plan: edited(plan, learning=lambda s: s[1:]),
        "27 learning sessions; should be two",
    ),
    ("plan composition", of_type("confirm", domain="travel"), "travel confirm has 24 rules; should be 4"),
    ("plan tools", each(lambda s: replace(s, path=("send_draft",))), "place_order is used in 0"),
    ("plan slots", of_type("param_enum", slot="modify_event.field"), "modify_event.field is bound"),
    ("plan slots", every(lambda r: replace(r, slot="x", type="confirm")), "1 slots; at least 42"),
    ("plan scope pairs", every(lambda r: replace(r, pair="")), "0 scope pairs; at least 30"),
    ("plan scope pairs", every(lambda r: replace(r, faces=2)), "has fewer than 3 faces"),
    ("plan scope pairs", every(lambda r: replace(r, choices=(str(r.index),))), "have different faces"),
    ("plan scope pairs", every(lambda r: replace(r, slot=f"x{r.index}")), "is not two rules on one slot"),
    ("plan faces", of_type("param_id", faces=2), "has faces 2; should be 3 or more"),
    ("plan faces", of_type("param_enum", choices=("low", "low", "high")), "low, low, high; should be 2 or"),
    (
        "plan faces",
        of_type("tool_identity", choices=("send_message", "x"), faces=2),
        "expected of 31.0 rules",
    ),
    ("plan guess bound", of_type("param_id", faces=2), "guess bound of the plan is 0.4"),
    ("plan guess bound", of_type("param_id", faces=2), "guess bound of the mini split is 0.4"),
    (
        "plan reading",
        of_type("param_enum", slot="search_messages.folder", domain="communication"),
        "filters of",
    ),
    (
        "plan ranks",
        every(lambda r: replace(r, pulls=[replace(pull, ranks=(1, 2, 3)) for pull in r.pulls])),
        "ranks 1/2/3 of 5",
    ),
    (
        "plan ranks",
        every(lambda r: replace(r, pulls=[replace(pull, ranks=(2, 2, 3)) for pull in r.pulls])),
        "ranks 2/2/3 of 5",
    ),
    ("plan ranks", of_type("param_id", limits=()), "limit rows repeat nothing"),
    ("plan ranks", of_type("param_id", limits=("1", "1")), "limit rows repeat 1, 1"),
    (
        "plan confirm",
        of_type("confirm", slot="place_order", sibling=None),
        "has no sibling on place_order that",
    ),
    ("plan confirm", of_type("confirm", slot="place_order"), "1 tools to be confirmed; at least 16"),
    ("plan confirm", of_type("confirm", pinned=False), "0 confirm rules pin arguments; at least 12"),
    ("plan roles", each(lambda s: replace(s, role="far")), "should be one direct per rule"),
    ("plan roles", each(lambda s: replace(s, rule=0)), "has not one direct session for each rule"),
    (
        "plan rivals shown",
        of_type("tool_identity", choices=("fold_paper", "send_message")),
        "fold_paper is in no learning session",
    ),
    (
        "plan sides",
        each(lambda s: replace(s, trigger="inside")),
        "odalys_renner has 14 direct sessions inside the trigger and 0 outside; should be half of each",
    ),
    ("plan sides", of_type("param_id", type="confirm"), "of rule 0, which cannot be neutral there"),
    (
        "plan sides",
        of_type("param_enum", choices=("general_admission",)),
        "draws general_admission, which is a face of rule 4",
    ),
    ("plan families", each(lambda s: replace(s, family="travel.x")), "travel.x is used 568 times; at most 9"),
    ("plan families", each(lambda s: replace(s, family="travel.x")), "has travel.x 28 times"),
    ("plan families", each(lambda s: replace(s, family="travel.x")), "1 families; at least 84"),
    ("plan paths", each(lambda s: replace(s, path=("send_draft",))), "1 tool paths; at least 120"),
    ("plan paths", each(lambda s: replace(s, path=s.path[:1])), "of the sessions are one call; at most 5%"),
    ("plan paths", each(lambda s: replace(s, path=s.path[:3])), "four calls or more; at least 20%"),
    ("plan paths", each(lambda s: replace(s, path=("a", "b"))), "holds 100.0% of the sessions"),
    ("plan signal", each(lambda s: replace(s, path=("send_draft",))), "0.0% of the rules have 1 signal"),
    (
        "plan order",
        each(lambda s: replace(s, role="direct", domain="travel")),
        "sessions 0 and 1: both direct and of one domain",
    ),
    ("plan order", each(lambda s: replace(s, day=7 * s.index)), "comes 7 days later"),
]


@pytest.mark.parametrize(("gate", "change", "reason"), FAILING)
def test_a_plan_that_breaks_a_bound_is_refused(
    plan: Plan, gate: str, change: Callable[[Plan], Plan], reason: str
) -> None:
    failures = {result.gate: result.failures for result in check_plan(change(plan))}
    assert any(reason in failure for failure in failures[gate]), failures[gate]


def test_a_plan_with_little_variety_has_no_good_shape(plan: Plan) -> None:
    one_slot = of_type("param_enum", slot="book_flight.seat_preference", choices=("aisle", "window"))(plan)
    broken = {g.note.split()[0] for g in check_shape(one_slot) if not g.ok and g.note}
    assert broken >= {"dup.binding_top_share", "ask.ten_slot_coverage"}
    few = [persona for persona in one_slot.personas if persona.id in one_slot.mini]
    assert not keeps_shape(replace(one_slot, personas=few))


# ------------------------------------------------------------------ bad input
def test_personas_whose_sizes_do_not_add_up_are_refused() -> None:
    with pytest.raises(DataError, match="rules are left for 14 personas; their sizes do not add up"):
        draw_plan(0, [character for character in roster() if character.id != "rurik_bellamy"])


@pytest.mark.parametrize(
    ("damage", "reason"),
    [
        (lambda text: text.replace("kind,", "sort,", 1), "is no plan; its columns should be kind,persona"),
        (
            lambda text: text.replace("high 2/4/6;", "high 2/x/6;", 1),
            "line 2: pulls.0.ranks.1: Input should be",
        ),
        (lambda text: text.replace(",param_id,", ",param_ids,", 1), "line 2: type: Input should be"),
        (lambda text: text + "session,odalys_renner\n", "line 854: index: Input should be a valid integer"),
    ],
)
def test_a_damaged_table_is_one_line_with_the_place(
    plan: Plan, tmp_path: Path, damage: Callable[[str], str], reason: str
) -> None:
    (tmp_path / "plan.csv").write_text(damage(plan_text(plan)), encoding="utf-8")
    with pytest.raises(DataError) as caught:
        read_plan(tmp_path / "plan.csv")
    assert reason in str(caught.value) and "\n" not in str(caught.value)


def test_a_missing_table_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"plan\.csv: cannot be read"):
        read_plan(tmp_path / "plan.csv")
