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
        "  default: Book at once.",
        "  defualt: Book at once.",
        "rules[first_look].defualt: is no key here; did you mean 'default'?",
    ),
    ("  type: confirm", "  type: confirmed", "rules[first_look].type: should be 'tool_identity', 'param_id'"),
    (
        "{type: direct, content: Jitka",
        "{type: told, content: Jitka",
        "evidence[0].type: should be 'direct' or 'inferred'",
    ),
    ("- key: pen_first", "- key: quiet_bench", "rules: key 'quiet_bench' stands 2 times"),
    ("  domain: commerce", "  domain: comerce", "domain: no domain 'comerce'; did you mean 'commerce'?"),
    (
        "bind: draft_message",
        "bind: draft_mesage",
        "bind: communication has no tool 'draft_mesage'; did you mean 'draft_message'?",
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
    ("bind: draft_message", "bind: draft_message.body", "should be a tool alone; the rule is tool_identity"),
    (
        "gold: exchange",
        "gold: swap",
        "gold: resolution_type has no value 'swap'; one of: refund, exchange, store_credit",
    ),
    ("  gold: exchange\n", "", "gold: is missing; a param_enum rule needs it"),
    ("blind: refund", "pin: {}", "pin: does not belong to a param_enum rule"),
    (
        "blind: send_message",
        "blind: send_massage",
        "blind: communication has no tool 'send_massage'; did you mean",
    ),
    (
        "  blind: book_restaurant\n",
        "  blind: book_event_ticket\n",
        "blind: should be book_restaurant, the tool itself",
    ),
    (
        "sibling: quiet_bench",
        "sibling: pen_first",
        "sibling: should be the key of another rule on book_restaurant",
    ),
    (
        'pin: {restaurant_id: "#kiln"}',
        'pin: {restaurant_id: "#kil"}',
        "pin.restaurant_id: #kil is no key of this session; did you mean 'kiln'?",
    ),
    (
        'pin: {restaurant_id: "#kiln"}',
        'pin: {restaurant: "#kiln"}',
        "pin.restaurant: book_restaurant has no parameter 'restaurant'",
    ),
    ("    rule_is: [sound == unamplified hush]\n", "", "test: needs rule_is and pulls"),
    ("price_per_head <= 40", "price_per_head < 40", "test.must[1]: 'price_per_head < 40' is no predicate"),
    (
        "price_per_head <= 40",
        "price_a_head <= 40",
        "no object here has 'price_a_head'; did you mean 'price_per_head'?",
    ),
    (
        "rule_is: [sound ~ jukebox]",
        "rule_is: [sond ~ jukebox]",
        "mirror.rule_is[0]: no object here has 'sond'",
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
    ("Ivy Court, 4.6, 55,", "Ivy Court, 4.6,", "rows[3]: has 5 cells for 6 columns"),
    ("[pull,  rail,", "[pulled, rail,", "no tag 'pulled'; did you mean 'pull'?"),
    ("[gold,  mill,", "[off,  mill,", "test: needs exactly one row tagged gold; has 0"),
    ("[near,  dove,", "[gold,  dove,", "test: needs exactly one row tagged gold; has 2"),
    ("[near,  dove,", "[near,  mill,", "key 'mill' stands twice in this session"),
    ('41, "@smith", o_tong]', '41, "@smith", cru]', "order_id 'cru' is the key of something else"),
    ("[[kiln, Kiln Room, 4.3], [oak", "[kiln, [oak", "rows[0]: should be a list, [...]; is 'kiln'"),
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
    path = edited(tmp_path, ("gold: exchange", "gold: swap"))
    number = path.read_text().splitlines().index("  gold: swap") + 1
    with pytest.raises(SourceError, match=f":{number}: rules.keep_money_near..gold"):
        read_sources(path)


def test_all_mistakes_are_told_at_once(tmp_path: Path) -> None:
    path = edited(tmp_path, ("gold: exchange", "gold: swap"), ("bind: draft_message", "bind: draft"))
    with pytest.raises(SourceError) as caught:
        read_sources(path)
    assert len(caught.value.problems) == 2


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "should be a mapping"),
        ("- a", "should be a mapping"),
        ("persona: [", "not YAML"),
        ("a: 1\na: 2", "a: stands twice"),
        ("a: &x [*x]", "nested too deeply"),
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
