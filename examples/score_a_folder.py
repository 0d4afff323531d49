"""Score the trajectories of a cell without MCP, models or the client.

atr-client run --config quickstart
python examples/score_a_folder.py EPISODE.json CELL_FOLDER VARIANT
"""

from __future__ import annotations

import sys
from pathlib import Path

from atr_data import load_episode, load_trajectory
from atr_evaluator import evaluate_episode


def main(episode_file: str, cell: str, variant: str) -> None:
    trajectories = [load_trajectory(file) for file in sorted(Path(cell, "trajectories").glob("*.json"))]
    evaluation = evaluate_episode(load_episode(episode_file), trajectories, variant)
    print(len(trajectories), "trajectories")
    print("test-session accuracy", evaluation["metrics"]["ts_payoff_accuracy"])


if __name__ == "__main__":
    main(*sys.argv[1:])
