"""ATR as an environment of OpenEnv. `atr-client serve-episodes` plays the episodes, in its own environment:

atr-client serve-episodes split:mini --token-file token
ATR_STEP_URL=http://127.0.0.1:8767 ATR_STEP_TOKEN=$(cat token) uvicorn atr_openenv:app --port 8000
"""

from __future__ import annotations

import os
from typing import Any

import httpx
from openenv.core.env_server.http_server import create_app
from openenv.core.env_server.interfaces import Environment
from openenv.core.env_server.types import Action, Observation, State
from pydantic import Field


class AtrAction(Action):
    """The agent's reply: text, calls (`name`, `arguments`, `id`), or both."""

    content: str | None = None
    tool_calls: list[dict[str, Any]] = Field(default_factory=list)


class AtrObservation(Observation):
    """What is new in a session: its transcript is what it was, cut to `kept` messages, and `messages`."""

    session_id: str | None = None
    messages: list[dict[str, Any]] = Field(default_factory=list)
    kept: int = 0
    tools: list[dict[str, Any]] = Field(default_factory=list)
    ended: list[dict[str, Any]] = Field(default_factory=list)
    result: dict[str, int] | None = None


class AtrEnvironment(Environment[AtrAction, AtrObservation, State]):
    """One episode at a time; `reset(episode=..., variant=...)` takes what `POST /episodes` does."""

    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(self) -> None:
        super().__init__()
        headers = {"Authorization": f"Bearer {os.environ['ATR_STEP_TOKEN']}"}
        self._host = httpx.Client(base_url=os.environ["ATR_STEP_URL"], headers=headers, timeout=None)
        self._state = State()

    def reset(self, seed: int | None = None, episode_id: str | None = None, **wanted: Any) -> AtrObservation:
        self._close_episode()
        opened = self._ask("/episodes", {"variant": "atr", **wanted})
        self._state = State(episode_id=opened["id"])
        return _observed(opened)

    def step(self, action: AtrAction, timeout_s: float | None = None, **_: Any) -> AtrObservation:
        self._state.step_count += 1
        reply = action.model_dump(exclude={"metadata"})
        return _observed(self._ask(f"/episodes/{self._state.episode_id}/step", reply))

    @property
    def state(self) -> State:
        return self._state

    def list_splits(self) -> list[str]:
        return ["served"]

    def list_tasks(self, split: str) -> list[dict[str, str]]:
        listed = self._host.get("/episodes").raise_for_status().json()["episodes"]
        return [{"episode": episode} for episode in listed]

    def num_tasks(self, split: str) -> int:
        return len(self.list_tasks(split))

    def get_task(self, split: str, index: int) -> dict[str, str]:
        return self.list_tasks(split)[index]

    def close(self) -> None:
        self._close_episode()
        self._host.close()

    def _close_episode(self) -> None:
        if self._state.episode_id:
            self._host.delete(f"/episodes/{self._state.episode_id}")
        self._state = State()

    def _ask(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        answer = self._host.post(path, json=body)
        if answer.is_error:
            raise ValueError(answer.json()["error"])
        return answer.json()


def _observed(step: dict[str, Any]) -> AtrObservation:
    return AtrObservation(**{name: step[name] for name in AtrObservation.model_fields if name in step})


app = create_app(AtrEnvironment, AtrAction, AtrObservation, env_name="atr", max_concurrent_envs=64)
