"""Plays one episode through the OpenEnv server with a model behind Chat Completions; prints what came of it.

python play_openenv.py SERVER MODEL_BASE_URL MODEL EPISODE VARIANT
"""

from __future__ import annotations

import asyncio
import json
import sys
from typing import Any

import httpx
from openenv import GenericEnvClient


async def main(server: str, base_url: str, model: str, episode: str, variant: str) -> None:
    said: list[dict[str, Any]] = []
    rewards = 0.0
    async with (
        GenericEnvClient(base_url=server) as env,
        httpx.AsyncClient(base_url=base_url, timeout=None) as chat,
    ):
        result = await env.reset(episode=episode, variant=variant)
        while not result.done:
            seen = result.observation
            said[seen["kept"] :] = map(as_chat, seen["messages"])
            tools = [{"type": "function", "function": as_function(tool)} for tool in seen["tools"]]
            answer = await chat.post(
                "/chat/completions", json={"model": model, "messages": said, "tools": tools}
            )
            result = await env.step(as_action(answer.raise_for_status().json()["choices"][0]["message"]))
            rewards += result.reward or 0.0
    print(json.dumps({"reward": rewards, **result.observation["result"]}))


def as_chat(message: dict[str, Any]) -> dict[str, Any]:
    chat = {name: message[name] for name in ("role", "content", "tool_call_id") if name in message}
    if calls := message.get("tool_calls"):
        chat["tool_calls"] = [
            {
                "id": c["id"],
                "type": "function",
                "function": {"name": c["name"], "arguments": json.dumps(c["arguments"])},
            }
            for c in calls
        ]
    return chat


def as_function(tool: dict[str, Any]) -> dict[str, Any]:
    return {"name": tool["name"], "description": tool["description"], "parameters": tool["input_schema"]}


def as_action(message: dict[str, Any]) -> dict[str, Any]:
    calls = [(call["id"], call["function"]) for call in message.get("tool_calls") or ()]
    return {
        "content": message.get("content"),
        "tool_calls": [
            {"id": i, "name": f["name"], "arguments": json.loads(f["arguments"])} for i, f in calls
        ],
    }


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
