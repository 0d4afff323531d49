"""Whether a stranger reads the values that scenes state: a sheet of drawn scenes of every job, and its score.

python tests/benchmarks/values_timing.py sheet.txt key.json [--seed 0] [--scenes 8]
python tests/benchmarks/values_timing.py --score answers.json key.json
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from random import Random

from atr_datagen.timing.base import compile_base
from atr_datagen.timing.lexicon import PUBLIC_LEXICON, load_lexicon
from atr_datagen.timing.settings import Settings

Values = dict[str, dict[str, str]]

TASK = """\
Each scene below states two things of itself. Answer in JSON, for each number which value it states:
{"1": {"stage": "end", "urgency": "hours"}, ...}. These are the values and what they mean:
"""


def sheet(seed: int, scenes: int) -> tuple[str, Values]:
    lexicon, random = load_lexicon(), Random(seed)
    parts = [TASK, (PUBLIC_LEXICON / "attributes.txt").read_text("utf-8")]
    key: Values = {}
    for number in range(len(lexicon.chronicles)):
        base = compile_base(Settings(seed=seed), lexicon, number)
        events = {event.event_id: event for event in base.events}
        for scene in random.sample(base.scenes, scenes):
            code = str(len(key) + 1)
            key[code] = dict(scene.attributes)
            parts.append(
                f"[{code}] {', '.join(scene.attributes)}; {scene.slots['about']}, {scene.slots['detail']}"
            )
            for event in (events[name] for name in scene.event_ids):
                said = (event.window_title, event.summary, event.screen_text)
                parts.append("   " + " | ".join(text for text in said if text))
    return "\n".join(parts) + "\n", key


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("file", type=Path)
    parser.add_argument("key", type=Path)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--scenes", type=int, default=8, help="of each job")
    parser.add_argument("--score", action="store_true")
    given = parser.parse_args()
    if not given.score:
        text, key = sheet(given.seed, given.scenes)
        given.file.write_text(text, encoding="utf-8")
        given.key.write_text(json.dumps(key, indent=1) + "\n", encoding="utf-8")
        return
    answers, key = (json.loads(path.read_text("utf-8")) for path in (given.file, given.key))
    told = [(code, name, value) for code, values in key.items() for name, value in values.items()]
    wrong = [one for one in told if answers.get(one[0], {}).get(one[1]) != one[2]]
    print(f"{len(told) - len(wrong)} of {len(told)} values of {len(key)} scenes as they were meant")
    for code, name, value in wrong:
        print(f"[{code}] {name}: {value}, read {answers.get(code, {}).get(name)}")


if __name__ == "__main__":
    main()
