"""Each mistake in a source gives one line: file, line, key, what is wrong and what would be right."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from atr_datagen.source.compile import read_sources
from atr_datagen.source.document import SourceError, scalar
from tests.support.sources import SOURCE, edited

MISTAKES = [
    (
        "occupation: bell founder",
        "occupation: [bell, founder]",
        "persona.facts.occupation: should be one value",
    ),
    (
        "  id: pavla_ondrus",
        "  id: Pavla Ondrus",
        "persona.id: should be lower-case words joined by _; is 'Pavla Ondrus'",
    ),
    ("  name: Pavla Ondrus\n", "", "persona.name: is missing"),
    ("  smith: Radomir Vesely", "  smith: 7", "vocab.smith: should be text; put it in quotes; is 7"),
    ("  smith: Radomir Vesely", '  smith: "@town man"', "vocab.smith: holds an @key"),
    ("from @smith arrived", "from @smit arrived", "test.say: @smit is not in vocab; did you mean 'smith'?"),
    (
        "    default: Enter it at once.",
        "    defualt: Enter it at once.",
        "rules[first_look].faces[ask].defualt: is no key here; did you mean 'default'?",
    ),
    ("  blind: once", "  blnd: once", "rules[nudges].blnd: is no key here; did you mean 'blind'?"),
    (
        "  blind: once",
        "  answer: once",
        "rules[nudges].answer: is no key here; it stands in each of the faces",
    ),
    ("    must: [loc", "    mst: [loc", "test.mst: is no key here; did you mean 'must'?"),
    (
        "    decision: [timing",
        "    decisions: [timing",
        "about.decisions: is no key here; did you mean 'decision'?",
    ),
    ("learning:\n", "lerning:\n", "lerning: is no key here; did you mean 'learning'?"),
    ("  type: confirm", "  type: confirmed", "rules[first_look].type: should be 'tool_identity', 'param_id'"),
    (
        "{type: direct, content: Jitka",
        "{type: told, content: Jitka",
        "evidence[0].type: should be 'direct' or 'inferred'",
    ),
    ("- key: pen_first", "- key: quiet_bench", "rules: key 'quiet_bench' stands 2 times"),
    ("  domain: commerce", "  domain: comerce", "domain: no domain 'comerce'; did you mean 'commerce'?"),
    (
        "tool: draft_message",
        "tool: draft_mesage",
        "faces[overnight].tool: communication has no tool 'draft_mesage'; did you mean 'draft_message'?",
    ),
    (
        "bind: return_order.resolution_type",
        "bind: return_order.resolution",
        "bind: return_order has no 'resolution'; did you mean",
    ),
    (
        "bind: return_order.resolution_type",
        "bind: return_order.order_id",
        "should be tool.parameter, where the parameter has an enum",
    ),
    (
        "bind: book_restaurant.restaurant_id",
        "bind: book_restaurant.party_size",
        "where the parameter takes an id",
    ),
    ("bind: set_reminder\n", "bind: set_reminder.cadence\n", "should be a tool alone; the rule is confirm"),
    (
        "  blind: {face: at_once}",
        "  bind: send_message\n  blind: {face: at_once}",
        "rules[pen_first].bind: does not belong to a tool_identity rule",
    ),
    (
        "value: exchange",
        "value: swap",
        "value: resolution_type has no value 'swap'; one of: refund, exchange, store_credit",
    ),
    (
        "key: owed, value: store_credit,",
        "key: owed,",
        "faces[owed].value: is missing; a face of a param_enum",
    ),
    ("key: owed, value", "key: owed, tool", "faces[owed].tool: does not belong to a param_enum rule"),
    ("value: store_credit", "value: exchange", "value: is the gold of face sound_one too, 'exchange'"),
    ("tool: draft_message", "tool: send_message", "tool: is the gold of face overnight too, 'send_message'"),
    ("key: owed,", "key: money,", "rules[keep_money_near].faces: key 'money' stands 2 times"),
    ("  blind: {face: money}\n", "", "blind: is missing; a param_enum rule needs it"),
    ("blind: {face: money}", "blind: {face: mony}", "blind: no face 'mony'; did you mean 'money'?"),
    (
        "blind: {face: money}",
        "blind: refund",
        "blind: is what face money asks for; if that is meant, write {face: money}",
    ),
    ("blind: {face: money}", "blind: voucher", "blind: resolution_type has no value 'voucher'"),
    ("  blind: once", "  pin: {}\n  blind: once", "pin: does not belong to a param_enum rule"),
    (
        "blind: {face: at_once}",
        "blind: send_massage",
        "blind: communication has no tool 'send_massage'; did you mean",
    ),
    ("  sibling: nudges", "  blind: x\n  sibling: nudges", "blind: does not belong to a confirm rule"),
    (
        "sibling: nudges",
        "sibling: pen_first",
        "sibling: should be the key of a rule on set_reminder that asks for no confirmation",
    ),
    ("  - key: ask\n", "  - key: Ask it\n", "faces[Ask it].key: should be lower-case words joined by _"),
    (
        'pin: {target_id: "#dean"}',
        'pin: {target_id: "#den"}',
        "pin.target_id: #den is no key of this session; did you mean 'dean'?",
    ),
    (
        'pin: {target_id: "#dean"}',
        'pin: {target: "#dean"}',
        "pin.target: set_reminder has no parameter 'target'; did you mean 'target_id'?",
    ),
    ("    pulls: {rating: high}\n", "", "test: needs pulls; the rule is param_id"),
    ("    rule_is: [sound ~ hush]\n", "", "faces[silent].rule_is: is missing; a face of a param_id rule"),
    (
        "    evidence: [{type: inferred, content: She tests",
        "    evidnce: [{type: inferred, content: She tests",
        "did you mean 'evidence'?",
    ),
    (
        "    evidence: [{type: inferred, content: She tests pitch by ear all day long.}]\n",
        "",
        "faces[silent].evidence: is missing",
    ),
    (
        "    evidence: [{type: inferred, content: She tests pitch by ear all day long.}]",
        "    evidence: []",
        "faces[silent].evidence: is empty",
    ),
    ("price_per_head <= 40", "price_per_head < 40", "test.must[1]: 'price_per_head < 40' is no predicate"),
    (
        "price_per_head <= 40",
        "price_a_head <= 40",
        "no object here has 'price_a_head'; did you mean 'price_per_head'?",
    ),
    (
        "rule_is: [sound ~ jukebox]",
        "rule_is: [sond ~ jukebox]",
        "faces[chosen].rule_is[0]: no object here has 'sond'; did you mean 'sound'?",
    ),
    (
        "pulls: {rating: high}",
        "pulls: {rating: best}",
        "test.pulls.rating: should be 'high' or 'low'; is 'best'",
    ),
    (
        "target: {order_id: o_cru}",
        "target: {order_id: o_crux}",
        "test.target.order_id: #o_crux is no key of this session",
    ),
    (
        "target: {order_id: o_cru}",
        "target: {order: o_cru}",
        "return_order has no parameter 'order'; did you mean 'order_id'?",
    ),
    (
        "    restaurant: [tag, key,",
        "    resturant: [tag, key,",
        "test.resturant: is no key here and no reference type of reservation; did you mean 'restaurant'?",
    ),
    ("    restaurant: [tag, key,", "    restaurant: [tag, id,", "needs the column key, and each column once"),
    ("Ivy Court, 4.6, 55,", "Ivy Court, 4.6,", "rows[4]: has 5 cells for 6 columns"),
    ("[pull,  rail,", "[pulled, rail,", "no tag 'pulled'; did you mean 'pull'?"),
    (
        "[sound ~ players]",
        "[sound ~ oboe]",
        "faces[live].rule_is: limits and face are met by none; should be one",
    ),
    ("[sound ~ players]", "[sound ~ e]", "are met by mill, dove, fern, rail; should be one"),
    ("[sound ~ players]", "[sound ~ juke]", "faces[live].rule_is: singles out what face chosen does, dove"),
    ("[face,  dove,", "[face,  mill,", "key 'mill' stands twice in this session"),
    ("  name: Pavla Ondrus\n", "  name: TO WRITE\n", "persona.name: is still to be written"),
    ("    - Who pays the postage?", "    - TO WRITE", "not_asked.a: is still to be written"),
    ("vocab:\n  smith: Radomir Vesely\n  town: Salina\n", "vocab: {}\n", "vocab: is empty; people, places"),
    ('41, "@smith", o_tong]', '41, "@smith", cru]', "order_id 'cru' is the key of something else"),
    ('rows: [[cru, Graphite crucible, 88, "@smith", o_cru],', "rows: [cru,", "rows[0]: should be a list"),
    (
        "{for: pen_first, role",
        "{for: pen_frist, role",
        "learning[3].for: no rule 'pen_frist'; did you mean 'pen_first'?",
    ),
    ("{for: workspace, role", "{for: travel, role", "for: should be the domain 'workspace' for role far"),
    ("family: communication.answer", "family: commerce.answer", "family: should start with communication"),
    ("family: workspace.log_line", "family: workspace", "family: should be domain.what_happens"),
    ("day: 3,", "day: 1,", "learning[1].day: should be after day 1"),
    ("day: 3,", "day: soon,", "learning[1].day: should be a whole number; is 'soon'"),
    ('"#o_apron"', "#o_apron\n   ", "know"),
    ('order: "#o_apron"', "order: null", "learning[0].know.order: has no value"),
    ('order: "#o_apron"', 'order: "#o_apro"', "#o_apro is no key of this session; did you mean 'o_apron'?"),
    (
        '"list_trackers()"',
        '"list_tracker()"',
        "learning[2].steps[0]: workspace has no tool 'list_tracker'; did you mean",
    ),
    ("*entry_points)", "*entry_point)", "learning[2].steps[1]: 'entry_point' is no fact under know"),
]


@pytest.mark.parametrize(("old", "new", "reason"), MISTAKES, ids=[f"{m[1][:25].strip()}" for m in MISTAKES])
def test_a_mistake_is_told_in_one_line(tmp_path: Path, old: str, new: str, reason: str) -> None:
    path = edited(tmp_path, (old, new))
    with pytest.raises(SourceError) as caught:
        read_sources(path)
    lines = str(caught.value).splitlines()
    assert any(reason in line for line in lines), lines
    assert all(line.startswith(f"{path}:") for line in lines)


def test_the_line_is_that_of_the_mistake(tmp_path: Path) -> None:
    path = edited(tmp_path, ("rule_is: [sound ~ hush]", "rule_is: [sound ~ hash]"))
    number = path.read_text().splitlines().index("    rule_is: [sound ~ hash]") + 1
    with pytest.raises(SourceError, match=f":{number}: rules.quiet_bench..faces.silent..rule_is"):
        read_sources(path)


def test_all_mistakes_are_told_at_once(tmp_path: Path) -> None:
    """Of several blocks, and of one block what its keys, its header, its test and its faces have wrong."""
    path = edited(
        tmp_path,
        ("    answer: With chapel people", "    anser: With chapel people"),
        ("bind: set_reminder\n", "bind: set_remind\n"),
        ("value: exchange", "value: swap"),
        ("    key: silent".strip(), "key: Silent"),
        ("price_per_head <= 40", "price_per_head < 40"),
        ("open: A supplier wants", "opn: A supplier wants"),
    )
    with pytest.raises(SourceError) as caught:
        read_sources(path)
    told = [problem.key for problem in caught.value.problems]
    assert "rules[quiet_bench].faces[Silent].anser" in told or "anser" in " ".join(told)
    assert {"rules[first_look].bind", "rules[keep_money_near].faces[sound_one].value", "learning[3].opn"} <= {
        *told
    }


def test_faults_of_test_and_faces_are_told_beside_a_misspelt_key(tmp_path: Path) -> None:
    path = edited(
        tmp_path,
        ("    answer: With chapel people", "    anser: With chapel people"),
        ("price_per_head <= 40", "price_per_head < 40"),
        ("[sound ~ players]", "[sond ~ players]"),
        ("target: {date_time", "target: {date_tim"),
    )
    with pytest.raises(SourceError) as caught:
        read_sources(path)
    told = [problem.key.partition("].")[2] for problem in caught.value.problems]
    assert told[:3] == ["test.must[1]", "test.target.date_tim", "faces[silent].anser"]
    assert "faces[live].rule_is[0]" in told


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "should be a mapping"),
        ("- a", "should be a mapping"),
        ("persona: [", "not YAML"),
        ("rules: [{key: a, key: b}]", "key: stands twice"),
        ("a: &x [*x]", "an alias stands inside what it names"),
        (
            "a: &a [x, x]\nb: &b [*a, *a]\nc: &c [*b, *b]\nd: [*c, *c]",
            "a: is used again by an alias|b.*alias",
        ),
        ("a: " + "[" * 40 + "]" * 40, "nested too deeply"),
        ("persona: \x07", "not YAML"),
    ],
)
def test_what_is_no_source_at_all_is_refused(tmp_path: Path, text: str, reason: str) -> None:
    path = tmp_path / "x.yaml"
    path.write_text(text)
    with pytest.raises(SourceError, match=reason):
        read_sources(path)


def test_a_missing_source_is_named(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match=r"x\.yaml:1: file: cannot be read"):
        read_sources(tmp_path / "x.yaml")


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("yes", "yes"),
        ("on", "on"),
        ("18:30", "18:30"),
        ("0712", "0712"),
        ("2027-03-12", "2027-03-12"),
        ("1_000", "1_000"),
        ("12", 12),
        ("-3", -3),
        ("4.0", 4.0),
        ("true", True),
        ("False", False),
        ("null", None),
        ("~", None),
    ],
)
def test_unquoted_values_are_read_as_authors_mean_them(text: str, value: object) -> None:
    assert scalar(text) == value and type(scalar(text)) is type(value)


@given(st.integers() | st.floats(-1e6, 1e6).map(lambda x: round(x, 3)))
def test_numbers_are_read_back(number: float) -> None:
    text = str(number)
    if "e" not in text:
        assert scalar(text) == number


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_a_source_with_lines_lost_or_swapped_is_compiled_or_told_wrong(data: st.DataObject) -> None:
    lines = SOURCE.read_text(encoding="utf-8").splitlines(keepends=True)
    place = st.integers(0, len(lines) - 1)
    for _ in range(data.draw(st.integers(1, 4))):
        a, b = data.draw(place), data.draw(place)
        lines[a] = data.draw(
            st.sampled_from(["", lines[b], lines[a].partition(":")[0] + ":\n", lines[a][:9] + "\n"])
        )
    with TemporaryDirectory() as folder:
        path = Path(folder) / SOURCE.name
        path.write_text("".join(lines), encoding="utf-8")
        try:
            read_sources(path)
        except SourceError as error:
            assert error.problems
