"""What the charts of the report share: plain data in the words of Vega-Lite, drawn elsewhere.

Colours are those of Okabe and Ito, which colour-blind people can tell apart; what a colour says is also said
by a shape, a label or a place.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from atr_evaluator.aggregate.figures import Figure
from atr_evaluator.aggregate.settings import Setting

Spec = Mapping[str, Any]
Rows = Sequence[Mapping[str, Any]]

WIDE, NARROW = 560, 215
"""Pixels of the plotting area, on a desk and on a telephone."""

PERCENT: Spec = {"format": "%", "tickCount": 5}
INK: Spec = {"condition": {"test": "datum.dark", "value": "#ffffff"}, "value": "#000000"}
"""Text that stands on a colour."""

_VARIANT_COLOURS = {
    "default": "#000000",
    "atr": "#0072B2",
    "always_ask": "#D55E00",
    "oracle_target": "#009E73",
    "oracle_full": "#CC79A7",
}
_SHAPES = ("circle", "square", "triangle-up", "diamond", "cross")
_HEADER: Spec = {
    "labelAngle": 0,
    "labelAnchor": "start",
    "labelFontWeight": "bold",
    "labelOrient": "top",
    "title": None,
}


@dataclass(frozen=True, slots=True)
class Frame:
    """Where a chart is drawn: how its settings are called, and how wide it may be."""

    labels: Mapping[Setting, str]
    width: int = WIDE

    @property
    def narrow(self) -> bool:
        return self.width < WIDE

    def rows(self, figures: Iterable[Figure]) -> list[dict[str, Any]]:
        return [
            {
                "setting": self.labels[figure.setting],
                "variant": figure.variant,
                "measure": figure.measure,
                "value": figure.value,
                "low": figure.interval[0] if figure.interval else figure.value,
                "high": figure.interval[1] if figure.interval else figure.value,
                "text": figure.short.split(" ")[0] if self.narrow else figure.short,
            }
            for figure in figures
            if figure.value is not None and figure.setting in self.labels
        ]

    def spec(self, rows: Rows, body: Spec, *, facet: bool = True) -> Spec:
        """With `facet`, settings stand below each other, each with its name."""
        shared = {"data": {"values": list(rows)}, "config": self._config}
        if not facet:
            return {**shared, **body, "width": self.width}
        return {
            **shared,
            "facet": {"row": {"field": "setting", "type": "nominal", "header": _HEADER, "sort": None}},
            "spec": {**body, "width": self.width},
            "spacing": 14,
            "resolve": {"scale": {"y": "independent"}},
        }

    @property
    def _config(self) -> Spec:
        columns, label, header = (2, 96, 225) if self.narrow else (4, 300, 700)
        return {
            "font": "sans-serif",
            "axis": {"labelFontSize": 13, "titleFontSize": 13, "labelLimit": label, "gridColor": "#dddddd"},
            "legend": {"labelFontSize": 13, "labelLimit": 300, "orient": "bottom", "columns": columns},
            "header": {"labelFontSize": 14, "labelLimit": header},
            "view": {"stroke": "#cccccc"},
        }


@dataclass(frozen=True, slots=True)
class Chart:
    """`title` says what is shown, `caption` how to read it; `table` names the table with the same figures."""

    name: str
    title: str
    caption: str
    table: str
    spec: Spec


def nominal(field: str, **more: Any) -> Spec:
    return {"field": field, "type": "nominal", "sort": None, "title": None, **more}


def number(field: str, **more: Any) -> Spec:
    return {"field": field, "type": "quantitative", "title": None, **more}


def text_mark(align: str, shift: tuple[int, int], encoding: Spec) -> Spec:
    """The text of a row, so many pixels beside a place."""
    mark = {"type": "text", "align": align, "dx": shift[0], "dy": shift[1], "fontSize": 12}
    return {"mark": mark, "encoding": {"text": {"field": "text"}, **encoding}}


def variant_marks(rows: Rows) -> Spec:
    """Colour and shape of each variant."""
    seen = list(dict.fromkeys(row["variant"] for row in rows))
    known = [name for name in _VARIANT_COLOURS if name in seen]
    names = [*known, *(name for name in seen if name not in known)]
    colours = [_VARIANT_COLOURS.get(name, "#777777") for name in names]
    shapes = [_SHAPES[place % len(_SHAPES)] for place in range(len(names))]
    return {
        "color": nominal("variant", scale={"domain": names, "range": colours}),
        "shape": nominal("variant", scale={"domain": names, "range": shapes}),
    }
