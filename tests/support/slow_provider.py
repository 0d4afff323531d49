"""A provider on loopback whose models end each session with their first reply, as soon as they may."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable
from typing import Any

from tests.support.mock_provider import Answer, CannedServer, answer
from tests.support.strict_provider import reply_of

PATIENCE = 90.0
"""Seconds after which a held request goes through, and nobody waits any more."""


class SlowProvider:
    """`hold` lets so many requests of a model through, and keeps the later ones until `release`."""

    def __init__(self) -> None:
        self.asked: Counter[str] = Counter()
        self._lock = threading.Lock()
        self._allowed: dict[str, int] = {}
        self._released = threading.Event()
        self._server = CannedServer(self._answer)

    @property
    def url(self) -> str:
        return f"{self._server.url}/v1"

    def start(self) -> None:
        self._server.start()

    def stop(self) -> None:
        self.release()
        self._server.stop()

    def reset(self) -> None:
        self.release()
        self.asked.clear()

    def hold(self, model: str, after: int) -> None:
        self._released = threading.Event()
        self._allowed[model] = after

    def release(self) -> None:
        self._allowed.clear()
        self._released.set()

    def model(self, name: str) -> dict[str, Any]:
        """An entry of `models`; `lab/NAME` is its id. Prices are a dollar for each call."""
        price = {"input": 1_000_000, "output": 0}
        return {
            "id": f"lab/{name}",
            "model": name,
            "wire": "openai_chat",
            "base_url": self.url,
            "price": price,
        }

    def _answer(self, body: dict[str, Any]) -> Answer:
        model = body["model"]
        with self._lock:
            self.asked[model] += 1
            held = self.asked[model] > self._allowed.get(model, self.asked[model])
            released = self._released
        if held:
            released.wait(PATIENCE)
        usage = {"prompt_tokens": 1, "completion_tokens": 0, "total_tokens": 1}
        return answer(reply_of("openai_chat", ("end", "finish_session", "{}"), usage=usage))


def until(true: Callable[[], object], seconds: float = PATIENCE) -> bool:
    """Waits for something; whether it came about."""
    waiting = threading.Event()
    for _ in range(int(seconds / 0.02)):
        if true():
            return True
        waiting.wait(0.02)
    return False
