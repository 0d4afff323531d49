"""Charts of what passed and where points are lost."""

from __future__ import annotations

from typing import Any

from atr_evaluator.aggregate.figures import FigureTable
from atr_evaluator.losses import LOSS_CLASSES
from atr_evaluator.report.chart_parts import (
    INK,
    PERCENT,
    Chart,
    Frame,
    nominal,
    number,
    text_mark,
    variant_marks,
)

_CLASS_COLOURS = {
    "passed_knowing": "#0072B2",
    "passed_unknowing": "#56B4E9",
    "not_asked": "#D55E00",
    "asked_past": "#E69F00",
    "not_kept": "#F0E442",
    "not_tried": "#CC79A7",
    "misapplied": "#882255",
    "unconfirmed": "#009E73",
    "unknown": "#BBBBBB",
    "not_played": "#555555",
}
_DARK = frozenset({"#0072B2", "#D55E00", "#882255", "#009E73", "#555555", "#000000"})
_DOMAINS = ("commerce", "communication", "reservation", "scheduling", "travel", "workspace")
_CHECK_TYPES = ("tool_identity", "param_id", "param_enum", "confirm")
_UNIT: dict[str, Any] = {"scale": {"domain": [0, 1]}, "axis": PERCENT}


def passed_chart(table: FigureTable, frame: Frame) -> Chart | None:
    blind = {
        (frame.labels.get(f.setting), f.variant): f.value
        for f in table.figures
        if f.measure == "best rule-blind"
    }
    rows = [
        {**row, "blind": blind.get((row["setting"], row["variant"]))}
        for row in frame.rows(f for f in table.figures if f.measure == "all")
    ]
    if not rows:
        return None
    y, marks = nominal("variant"), variant_marks(rows)
    interval = {"y": y, "x": number("low", **_UNIT), "x2": {"field": "high"}, "color": marks["color"]}
    point = {"type": "point", "filled": True, "size": 110, "opacity": 1}
    tick = {"type": "tick", "thickness": 3, "size": 18, "color": "#000000"}
    layers = [
        {"mark": {"type": "rule", "strokeWidth": 3, "opacity": 0.55}, "encoding": interval},
        {"mark": point, "encoding": {"y": y, "x": number("value", **_UNIT), **marks}},
        {
            "transform": [{"filter": "isValid(datum.blind)"}],
            "mark": tick,
            "encoding": {"y": y, "x": number("blind", **_UNIT)},
        },
        text_mark("left", (8, -9), {"y": y, "x": number("value", **_UNIT)}),
    ]
    return Chart(
        "overview",
        "Tests passed",
        "Points with 95 percent intervals; the black tick is the best score of a model that never learns a "
        "rule, on the same tests. In brackets: the number of tests.",
        "accuracy",
        frame.spec(rows, {"layer": layers, "height": {"step": 34}}),
    )


def loss_chart(table: FigureTable, frame: Frame) -> Chart | None:
    rows: list[dict[str, Any]] = []
    ends: dict[tuple[str, str], float] = {}
    for row in frame.rows(f for f in table.figures if f.measure in LOSS_CLASSES and f.value):
        bar = (row["setting"], row["variant"])
        start, colour = ends.get(bar, 0.0), _CLASS_COLOURS[row["measure"]]
        ends[bar] = start + row["value"]
        shown = f"{100 * row['value']:.0f}" if row["value"] >= 0.08 else ""
        place = {"start": start, "end": ends[bar], "middle": start + row["value"] / 2}
        rows.append({**row, **place, "text": shown, "dark": colour in _DARK})
    if not rows:
        return None
    seen = [name for name in LOSS_CLASSES if any(row["measure"] == name for row in rows)]
    colours = {"domain": seen, "range": [_CLASS_COLOURS[name] for name in seen]}
    y, x = nominal("variant"), number("start", **_UNIT)
    bars = {"y": y, "x": x, "x2": {"field": "end"}, "color": nominal("measure", scale=colours)}
    layers = [
        {"mark": {"type": "bar", "stroke": "#ffffff", "strokeWidth": 1}, "encoding": bars},
        text_mark("center", (0, 0), {"y": y, "x": number("middle", **_UNIT), "color": INK}),
    ]
    return Chart(
        "losses",
        "Where points are lost",
        "Every test falls into one class: blue ones are passed, the others say on which step of the way from "
        "the question to the right call the point was lost.",
        "losses",
        frame.spec(rows, {"layer": layers, "height": {"step": 32}}),
    )


def gap_chart(table: FigureTable, frame: Frame) -> Chart | None:
    rows = frame.rows(table.figures)
    if not rows:
        return None
    names = list(dict.fromkeys(row["measure"] for row in rows))
    colours = {"domain": names, "range": [_CLASS_COLOURS.get(name, "#000000") for name in names]}
    low, high = min(0, *(row["value"] for row in rows)), max(0, *(row["value"] for row in rows))
    room = (high - low) * 0.25
    domain = {"domain": [low - room if low < 0 else 0, high + room]}
    y, x = nominal("measure"), number("value", axis={"format": "+%", "tickCount": 5}, scale=domain)
    bars = {"y": y, "x": x, "color": nominal("measure", scale=colours, legend=None)}
    texts = [
        {**text_mark(side, (shift, 0), {"y": y, "x": x}), "transform": [{"filter": f"datum.value {sign} 0"}]}
        for sign, side, shift in ((">=", "left", 4), ("<", "right", -4))
    ]
    return Chart(
        "gap",
        "From default to oracle_target",
        "What the gap between the two variants is made of, in points of all tests that both played: the "
        "classes sum to the gap.",
        "gap",
        frame.spec(rows, {"layer": [{"mark": "bar", "encoding": bars}, *texts], "height": {"step": 24}}),
    )


def domain_chart(table: FigureTable, frame: Frame) -> Chart | None:
    return _heat_map(table, frame, _DOMAINS, "domains", "Tests passed by domain")


def check_type_chart(table: FigureTable, frame: Frame) -> Chart | None:
    return _heat_map(table, frame, _CHECK_TYPES, "check_types", "Tests passed by check type")


def _heat_map(
    table: FigureTable, frame: Frame, measures: tuple[str, ...], name: str, title: str
) -> Chart | None:
    rows = [
        {**row, "dark": row["value"] < 0.55}
        for row in frame.rows(f for f in table.figures if f.measure in measures)
    ]
    if not rows:
        return None
    axis = {"orient": "top", "labelAngle": -40 if frame.narrow else 0, "labelFontSize": 12}
    place = {"x": nominal("measure", axis=axis), "y": nominal("variant")}
    colour = number("value", scale={"scheme": "cividis", "domain": [0, 1]}, legend=None)
    layers = [
        {"mark": "rect", "encoding": {**place, "color": colour}},
        text_mark("center", (0, 0), {**place, "color": INK}),
    ]
    caption = "Percent passed, dark is low; in brackets, where there is room, the number of tests."
    return Chart(
        name, title, caption, "accuracy", frame.spec(rows, {"layer": layers, "height": {"step": 30}})
    )
