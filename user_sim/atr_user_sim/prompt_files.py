"""The texts in `prompts/`, with `{{name}}` as a gap to fill."""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files

_GAP = re.compile(r"\{\{(\w+)\}\}")


def prompt(name: str, /, **values: str) -> str:
    """The text of `prompts/NAME.md` with its gaps filled; gaps inside a filled value stay as they are.

    Raises KeyError for a gap without a value.
    """
    return _GAP.sub(lambda gap: values[gap[1]], _text(name))


@cache
def _text(name: str) -> str:
    return files("atr_user_sim").joinpath("prompts", f"{name}.md").read_text(encoding="utf-8").strip()
