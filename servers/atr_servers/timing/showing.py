"""How an event is shown to an agent: as data fields, free of control characters."""

from __future__ import annotations

from typing import Any

from atr_data.timing.events import WorkEvent


def shown(event: WorkEvent, *, screenshots: bool = False) -> dict[str, Any]:
    """The fields that an agent may see; empty ones are left out. When an event ends is not told."""
    files = [clean(path) for path in event.screenshots] if screenshots else []
    fields: dict[str, Any] = {
        "event_id": event.event_id,
        "time": event.t_release.isoformat(),
        "app": clean(event.app),
        "app_category": event.app_category,
        "window_title": clean(event.window_title),
        "summary": clean(event.summary) if event.summary else None,
        "screen_text": clean(event.screen_text) if event.screen_text else None,
        "target": clean(event.target) if event.target else None,
        "screenshots": files or None,
        "self_help": True if event.self_help else None,
    }
    return {name: value for name, value in fields.items() if value is not None}


def clean(text: str) -> str:
    """Without control and other characters that are no text; lone surrogates become question marks."""
    kept = "".join(c if c.isprintable() else " " for c in text)
    return kept.encode(errors="replace").decode()
