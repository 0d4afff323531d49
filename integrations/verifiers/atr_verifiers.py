"""ATR as a taskset of verifiers, with the harness that plays it.

`atr-client serve-episodes` plays the episodes, in its own environment:

    atr-client serve-episodes split:mini --token-file token
    ATR_STEP_TOKEN=$(cat token) eval atr_verifiers --env.taskset.variants '["atr"]' --model ...
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from typing import Any

import httpx
import verifiers.v1 as vf

__all__ = ["AtrHarness", "AtrTaskset"]


class AtrData(vf.TaskData):
    url: str
    episode: str
    variant: str


class AtrTask(vf.Task[AtrData]):
    pass


class AtrConfig(vf.TasksetConfig):
    """`url` is that of the step host; its bearer token is in the environment variable ATR_STEP_TOKEN."""

    url: str = "http://127.0.0.1:8767"
    variants: tuple[str, ...] = ("atr",)


class AtrTaskset(vf.Taskset[AtrTask, AtrConfig]):
    """An episode in a variant is a task."""

    def load(self) -> Iterator[AtrTask]:
        listed = httpx.get(f"{self.config.url}/episodes", headers=_token()).raise_for_status().json()
        for episode in listed["episodes"]:
            for variant in self.config.variants:
                data = AtrData(
                    prompt=f"Episode {episode} in variant {variant}.",
                    name=f"{episode}/{variant}",
                    url=self.config.url,
                    episode=episode,
                    variant=variant,
                )
                yield AtrTask(data, self.config.task)


class AtrHarness(vf.Harness[vf.HarnessConfig]):
    """Plays all sessions of an episode, each a conversation of its own. Rewards the share of tests passed."""

    EXECUTES_CODE = False
    NEEDS_CONTAINER = False

    async def launch(
        self,
        ctx: vf.ModelContext,
        trace: vf.Trace,
        runtime: vf.Runtime,
        endpoint: str,
        secret: str,
        mcp_urls: dict[str, str],
        data: AtrData,
    ) -> vf.ProgramResult:
        bearer = {"Authorization": f"Bearer {secret}"}
        async with (
            httpx.AsyncClient(base_url=data.url, headers=_token(), timeout=None) as host,
            httpx.AsyncClient(base_url=endpoint, headers=bearer, timeout=None) as model,
        ):
            wanted = {"episode": data.episode, "variant": data.variant}
            step = await _asked(host, "/episodes", wanted)
            path, said = f"/episodes/{step['id']}", list[dict[str, Any]]()
            while not step["done"]:
                said[step["kept"] :] = map(_as_chat, step["messages"])
                tools = [{"type": "function", "function": _as_function(tool)} for tool in step["tools"]]
                request = {"model": ctx.model, "messages": said, "tools": tools}
                answer = await _asked(model, "/chat/completions", request)
                step = await _asked(host, f"{path}/step", _as_reply(answer["choices"][0]["message"]))
            await host.delete(path)
        passed, tests = step["result"]["passed"], step["result"]["tests"]
        trace.record_reward("passed", passed / tests if tests else 0.0)
        trace.record_metrics({"tests_passed": passed, "tests": tests})
        return vf.ProgramResult(0, f"{passed} of {tests} tests passed", "")


def _token() -> dict[str, str]:
    return {"Authorization": f"Bearer {os.environ['ATR_STEP_TOKEN']}"}


async def _asked(client: httpx.AsyncClient, path: str, body: dict[str, Any]) -> dict[str, Any]:
    return (await client.post(path, json=body)).raise_for_status().json()


def _as_chat(message: dict[str, Any]) -> dict[str, Any]:
    chat = {name: message[name] for name in ("role", "content", "tool_call_id") if name in message}
    if calls := message.get("tool_calls"):
        functions = [{"name": c["name"], "arguments": json.dumps(c["arguments"])} for c in calls]
        chat["tool_calls"] = [
            {"id": c["id"], "type": "function", "function": f} for c, f in zip(calls, functions, strict=True)
        ]
    return chat


def _as_function(tool: dict[str, Any]) -> dict[str, Any]:
    return {"name": tool["name"], "description": tool["description"], "parameters": tool["input_schema"]}


def _as_reply(message: dict[str, Any]) -> dict[str, Any]:
    """Arguments that are no object become none, which the tool then refuses."""
    calls = [(call["id"], call["function"]) for call in message.get("tool_calls") or ()]
    return {
        "content": message.get("content"),
        "tool_calls": [
            {"id": i, "name": f["name"], "arguments": _arguments(f["arguments"])} for i, f in calls
        ],
    }


def _arguments(text: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}
