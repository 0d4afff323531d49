"""Draws the picture of the README: `make run`, then `python -m tests.support.picture`."""

from __future__ import annotations

import json
import re

from rich.console import Console

from atr_client.outputs.result_tables import print_results
from tests.conftest import ROOT

PICTURE = ROOT / "docs" / "img" / "quickstart.svg"


def main() -> None:
    latest = max((ROOT / "outputs" / "_summary").glob("runner_*.json"))
    console = Console(record=True, width=100, force_terminal=True)
    print_results(console, json.loads(latest.read_text(encoding="utf-8"))["rows"], ROOT / "outputs")
    drawn = console.export_svg(title="make run")
    PICTURE.parent.mkdir(parents=True, exist_ok=True)
    PICTURE.write_text(re.sub(r"@font-face \{.*?\}\s*", "", drawn, flags=re.DOTALL), encoding="utf-8")


if __name__ == "__main__":
    main()
