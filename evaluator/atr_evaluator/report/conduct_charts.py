"""Charts of asking and of what it costs."""

from __future__ import annotations

from atr_evaluator.aggregate.figures import FigureTable
from atr_evaluator.report.chart_parts import (
    PERCENT,
    Chart,
    Frame,
    Spec,
    nominal,
    number,
    text_mark,
    variant_marks,
)


def asking_chart(table: FigureTable, frame: Frame) -> Chart | None:
    spec = _against(table, frame, "RuleAsk", {"title": "questions per learning session"})
    caption = (
        "Questions about standing rules per learning session, and the tests passed. One mark per model and "
        "variant."
    )
    return Chart("asking", "Asking against accuracy", caption, "published", spec) if spec else None


def coverage_chart(table: FigureTable, frame: Frame) -> Chart | None:
    unit = {"title": "rules heard", "axis": PERCENT, "scale": {"domain": [0, 1]}}
    spec = _against(table, frame, "RuleCov", unit)
    caption = "The share of the rules that were heard, and the tests passed. One mark per model and variant."
    return Chart("coverage", "Coverage against accuracy", caption, "published", spec) if spec else None


def _against(table: FigureTable, frame: Frame, measure: str, x: Spec) -> Spec | None:
    accuracies = [f for f in table.figures if f.measure == "TSAcc"]
    passed = {(frame.labels.get(f.setting), f.variant): f.value for f in accuracies}
    rows = [
        {**row, "accuracy": accuracy}
        for row in frame.rows(f for f in table.figures if f.measure == measure)
        if (accuracy := passed.get((row["setting"], row["variant"]))) is not None
    ]
    if not rows:
        return None
    y = number("accuracy", title="tests passed (TSAcc)", axis=PERCENT, scale={"domain": [0, 1]})
    place = {"x": number("value", **x), "y": y}
    mark = {"type": "point", "filled": True, "size": 110, "opacity": 0.9}
    layers: list[Spec] = [{"mark": mark, "encoding": {**place, **variant_marks(rows)}}]
    if len({row["setting"] for row in rows}) > 1:
        layers.append(text_mark("left", (9, 0), {**place, "text": {"field": "setting"}}))
    return frame.spec(rows, {"layer": layers, "height": 300}, facet=False)


def quarter_chart(table: FigureTable, frame: Frame) -> Chart | None:
    rows = [
        {**row, "quarter": int(row["measure"][-1])}
        for row in frame.rows(f for f in table.figures if f.measure.startswith("hit rate, quarter"))
    ]
    if not rows:
        return None
    x = {"field": "quarter", "type": "ordinal", "title": "quarter of the learning sessions"}
    encoding = {
        "x": {**x, "axis": {"labelAngle": 0}},
        "y": number("value", axis=PERCENT, scale={"domain": [0, 1]}, title="hits"),
        **variant_marks(rows),
        "strokeDash": nominal("variant", legend=None),
    }
    mark = {"type": "line", "point": {"size": 80, "filled": True}, "strokeWidth": 2}
    return Chart(
        "quarters",
        "Do questions get better?",
        "How many of the questions about rules met a rule that the user has, as the sessions went on.",
        "asking",
        frame.spec(rows, {"mark": mark, "encoding": encoding, "height": 150}),
    )


def cost_chart(table: FigureTable, frame: Frame) -> Chart | None:
    rows = frame.rows(f for f in table.figures if f.measure == "each pass costs" and f.value)
    if not rows:
        return None
    most = max(row["value"] for row in rows)
    y = nominal("variant")
    x = number("value", title="US dollars for each passed test", scale={"domain": [0, most * 1.25]})
    layers = [
        {"mark": {"type": "bar", "color": "#0072B2"}, "encoding": {"y": y, "x": x}},
        text_mark("left", (4, 0), {"y": y, "x": x}),
    ]
    return Chart(
        "cost",
        "What a point costs",
        "All roles together, the simulated user included.",
        "accuracy",
        frame.spec(rows, {"layer": layers, "height": {"step": 30}}),
    )
