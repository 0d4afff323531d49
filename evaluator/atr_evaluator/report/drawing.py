"""Draws charts as SVG, in this process: no browser, no network."""

from __future__ import annotations

import json
from importlib import import_module

from atr_data.errors import DataError
from atr_evaluator.report.chart_parts import Chart

_VEGA_LITE = "5.21"


def drawn(chart: Chart) -> str:
    """The chart as an SVG element with a name for those who do not see it. Raises DataError without the
    library."""
    try:
        converter = import_module("vl_convert")
    except ImportError as error:
        raise DataError(
            "charts need the package vl-convert-python: pip install 'atrbench[report]'"
        ) from error
    spec = {"$schema": "https://vega.github.io/schema/vega-lite/v5.json", **chart.spec}
    svg: str = converter.vegalite_to_svg(json.dumps(spec), vl_version=_VEGA_LITE)
    title = chart.title.replace("&", "&amp;").replace("<", "&lt;").replace('"', "&quot;")
    return svg.replace("<svg ", f'<svg role="img" aria-label="{title}" ', 1)
