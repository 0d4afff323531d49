"""The page of the report, from cells in memory."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any
from xml.etree import ElementTree

import pytest

from atr_data.errors import DataError
from atr_evaluator.aggregate.all_tables import all_tables
from atr_evaluator.report.chart_parts import NARROW, Chart
from atr_evaluator.report.charts import charts
from atr_evaluator.report.drawing import drawn
from atr_evaluator.report.page import overview, packed, page, script_json
from tests.evaluator.aggregate.cells import results, scored

HOSTILE = "</script><script>alert(1)</script>&\"'<b>\u2028"
ASKING = [{"asks": 2, "hits": 1, "repeats": 0, "misses": 1, "errors": 0}] * 4
METRICS = {
    "total_learning": 4,
    "ls_send_calls_routed_rule": 3,
    "covered_hit_pass": 1,
    "rule_coverage": {"ratio": 0.5, "total": 4},
}
CELLS = [
    scored(
        results(passed, 4 - passed),
        variant=variant,
        setting={"model": model},
        asking=ASKING,
        metrics=METRICS,
        cost_usd=1.5,
        paid=True,
    )
    for model in ("lab/m", HOSTILE)
    for variant, passed in (("default", 1), ("atr", 2), ("oracle_target", 4))
]


def test_every_chart_is_drawn_for_a_desk_and_for_a_telephone() -> None:
    tables = all_tables(CELLS)
    wide, narrow = charts(tables), charts(tables, width=NARROW)
    names = ["overview", "losses", "gap", "asking", "coverage", "quarters", "domains", "check_types", "cost"]
    assert [chart.name for chart in wide] == [chart.name for chart in narrow] == names
    for chart in (wide[0], narrow[0], wide[6], wide[2]):
        svg = ElementTree.fromstring(drawn(chart))
        assert svg.get("role") == "img" and svg.get("aria-label") == chart.title
    small, large = (float(ElementTree.fromstring(drawn(c[0])).get("width", "0")) for c in (narrow, wide))
    assert small <= 358 < large


def encodings(spec: Any, outer: dict[str, Any] | None = None) -> Iterator[tuple[str, dict[str, Any]]]:
    """The mark and the channels of every layer, with those of the layers around it."""
    if isinstance(spec, dict):
        channels = {**(outer or {}), **spec.get("encoding", {})}
        if mark := spec.get("mark"):
            yield mark["type"] if isinstance(mark, dict) else mark, channels
        for inner in ("layer", "spec", "hconcat", "vconcat"):
            yield from encodings(spec.get(inner), channels)
    elif isinstance(spec, list):
        for one in spec:
            yield from encodings(one, outer)


@pytest.mark.parametrize("chart", charts(all_tables(CELLS)), ids=lambda chart: chart.name)
def test_every_mark_has_a_place_on_both_axes_and_its_fields_in_the_data(chart: Chart) -> None:
    found = list(encodings(chart.spec))
    assert found
    values: Any = chart.spec["data"]["values"]
    for mark, channels in found:
        if mark != "rule":
            assert {"x", "y"} <= channels.keys(), mark
        fields = {one["field"] for one in channels.values() if isinstance(one, dict) and "field" in one}
        assert fields <= {name for row in values for name in row}


@pytest.mark.parametrize(("served", "reached"), [(True, "'self'"), (False, "'none'")])
def test_only_a_page_that_is_served_may_ask_its_server(served: bool, reached: str) -> None:
    text = page("x", overview(CELLS[:1]), [packed([], {})], served=served)
    assert f"connect-src {reached};" in text


def test_the_blind_are_in_the_ticks_and_not_in_the_way() -> None:
    blind = scored(results(1, 3), variant="oracle_target", setting={"model": "offline/first"}, blind=True)
    found = charts(all_tables([*CELLS, blind]), hidden={blind.setting})
    assert "offline/first" not in json.dumps(found[0].spec)
    values: Any = found[0].spec["data"]["values"]
    assert {row["blind"] for row in values} == {0.25}


def test_no_name_becomes_markup() -> None:
    sessions = [packed([[n, HOSTILE, "test", "", "", "", "", "", 0, 0, 0, 0]], {}) for n in range(len(CELLS))]
    text = page(HOSTILE, overview(CELLS), sessions)
    assert len(re.findall(r"<script\b", text)) == text.count("</script>") == 2 + len(CELLS)
    assert "<script>alert" not in text and "<b>" not in text
    data = re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.DOTALL)
    assert data is not None
    assert json.loads(data[1])["rows"][0][1] == HOSTILE


def test_json_in_a_script_is_read_back() -> None:
    value = {"a": [HOSTILE, "\ud800", None, 1.5]}
    assert json.loads(script_json(value)) == value
    assert not {"<", ">", "&", "\u2028"} & set(script_json(value))


@pytest.mark.parametrize("package", ["vl_convert", "jinja2"])
def test_a_missing_package_is_named(package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, package, None)
    with pytest.raises(DataError, match=r"atrbench\[report\]"):
        page("x", overview(CELLS[:1]), [packed([], {})])
