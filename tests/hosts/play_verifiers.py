"""Evaluates a model on the taskset of `integrations/verifiers`.

python play_verifiers.py HOST MODEL_BASE_URL VARIANT...
"""

# pyright: reportMissingImports=false

from __future__ import annotations

import asyncio
import json
import sys

import verifiers.v1 as vf
from verifiers.v1.utils.loaders import load_environment, resolve_env_config


async def main(url: str, base_url: str, *variants: str) -> None:
    taskset = {"id": "atr_verifiers", "url": url, "variants": list(variants)}
    here = {"runtime": {"type": "subprocess"}}
    config = resolve_env_config({"taskset": taskset, "agent": here})
    env = load_environment(config)
    client = vf.EvalClientConfig(base_url=base_url, api_key_var="NO_KEY")
    context = vf.ModelContext(model="mock", client=client)
    played = {}
    async with env.serving():
        for task in env.taskset:
            episode = await env.run_episode(task, context)
            assert episode.ok, episode.errors or episode.traces[0].errors
            (trace,) = episode.traces
            played[task.data.name] = {"reward": trace.reward, "metrics": dict(trace.metrics)}
    print(json.dumps(played))


asyncio.run(main(*sys.argv[1:]))
