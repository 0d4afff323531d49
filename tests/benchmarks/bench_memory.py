"""What each memory layer keeps when all is told: `python tests/benchmarks/bench_memory.py [PERSONA ...]`.

The offline asker plays whole episodes in which the user answers every question about what holds in general
with a rule of theirs, so that what is lost is lost by the memory. Printed per layer, over the personas: tests
passed, and of the tests whose rule was heard in how many it was stored, findable and found; what was pushed
and read per test.
"""

from __future__ import annotations

import sys
from pathlib import Path

import anyio

sys.path.insert(0, str(Path(__file__).parents[2]))

from atr_client import play_episode
from atr_client.agents import OFFLINE_MODELS
from atr_client.session.memory_writer import ModelWriter
from atr_data import load_episode
from atr_evaluator.memory_companions import memory_companions, pooled_memory
from atr_memory import LAYER_KINDS, LayerHelp
from tests.conftest import ROOT
from tests.support.telling import telling_users

SHELF = str(ROOT / "tests" / "support" / "memory_program.py")
LAYERS = {
    "none": {},
    "context": {},
    "notes": {},
    "retrieval": {},
    "retrieval, pushed": {"kind": "retrieval", "read": "pushed"},
    "rules": {},
    "rewrite": {},
    "external": {
        "command": [sys.executable, SHELF, "{folder}/shelf.json"],
        "freeze": {"copy": ["{folder}"]},
    },
}


async def main(personas: list[str]) -> None:
    model = OFFLINE_MODELS["offline/asker"].model()
    print("| layer | passed | stored | findable | found | tokens pushed | tokens read | calls |")
    print("|---|---|---|---|---|---|---|---|")
    for name, settings in LAYERS.items():
        kind = settings.get("kind", name)
        passed = total = 0
        blocks = []
        for persona in personas:
            episode = load_episode(ROOT / "data" / "episodes" / f"{persona}_seed000.json")
            help_ = LayerHelp(writer=ModelWriter(model))  # pyright: ignore[reportArgumentType]
            layer = LAYER_KINDS[kind](kind, {"kind": kind, **settings}, help_)
            played = await play_episode(
                episode, "always_ask", model, user=telling_users(), memory=layer, at_once=4
            )
            metrics = played.evaluation["metrics"]
            passed, total = passed + metrics["success_count"], total + metrics["total_test"]
            blocks.append(memory_companions(episode, played.trajectories))
        pooled = pooled_memory(blocks)
        kept, cost = pooled["retained"], pooled["memory"]
        answers = (
            f"{kept[n]}/{kept[n + '_known']}" if kept[n + "_known"] else "-"
            for n in ("stored", "findable", "found")
        )
        per_test = (round(cost[n] / cost["tests"] / 4) for n in ("pushed_characters", "returned_characters"))
        calls = round(cost["tool_calls"] / cost["tests"], 1)
        print(
            " | ".join([f"| {name}", f"{passed}/{total}", *answers, *map(str, per_test), f"{calls} |"]),
            flush=True,
        )


anyio.run(main, sys.argv[1:] or ["dashiell_okonjo", "wilhelmina_sprague", "ferran_oduya"])
