"""How well the user's Classifier tells rules in a memory that rewords.

Run: `python tests/benchmarks/check_rewording.py`. Each sentence stands alone, and is held against every rule
of its persona. Printed per Classifier: of the sentences that say a rule in other words (`rewordings.yaml`;
then the neutral wordings of the episodes), in how many it is told, and in how many another rule is; of those
that say none, though they are about its matter (notes; then sentences of instructions), in how many
some rule is.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from pathlib import Path

import anyio
import yaml

sys.path.insert(0, str(Path(__file__).parents[2]))

from atr_client.session.rewording import RewordedRules
from atr_data import Episode, load_episode
from atr_user_sim.lines import lines_beside, load_lines
from atr_user_sim.offline import OfflineClassifier, offline_encoder
from tests.conftest import ROOT

FOLDER = ROOT / "data" / "episodes"
WRITTEN = yaml.safe_load((Path(__file__).parent / "rewordings.yaml").read_text(encoding="utf-8"))
_SENTENCE = re.compile(r"(?<=[.!?])\s+")


def cases(episode: Episode, kind: str) -> Iterable[tuple[str, str]]:
    """Sentences, each with the rule that it says or is about."""
    rules = {rule.rule_id for rule in episode.rules}
    match kind:
        case "neutral":
            return [(rule.rule_text, rule.rule_id) for rule in episode.rules]
        case "instructions":
            tests = episode.test_sessions
            return [(s, t.rule_id) for t in tests for s in _SENTENCE.split(t.instruction)]
        case _:
            return [(text, rule) for rule, text in WRITTEN[kind].items() if rule in rules]


async def main() -> None:
    print("| Classifier | reworded | neutral wording | another rule | notes beside | instructions |")
    print("|---|---|---|---|---|---|")
    for comparison in ("lexical", "minilm"):
        for with_lines in (True, False):
            counts = {kind: [0, 0, 0] for kind in ("rewordings", "neutral", "beside", "instructions")}
            shared = OfflineClassifier(offline_encoder(comparison))
            for path in sorted(FOLDER.glob("*_seed000.json")):
                episode = load_episode(path)
                lines = load_lines(lines_beside(path, episode.persona_id)) if with_lines else {}
                for kind, count in counts.items():
                    judge = RewordedRules(shared.with_lines(lines), episode.rules)
                    for sentence, about in cases(episode, kind):
                        said = [r.rule_id for r in episode.rules if (await judge.says(sentence, r))[0]]
                        count[0] += about in said
                        count[1] += any(rule != about for rule in said)
                        count[2] += 1
            told = {kind: f"{own}/{whole}" for kind, (own, _, whole) in counts.items()}
            some = {kind: f"{own + other}/{whole}" for kind, (own, other, whole) in counts.items()}
            wrong = counts["rewordings"][1] + counts["neutral"][1]
            print(
                f"| {comparison}, {'with' if with_lines else 'no'} question lines | {told['rewordings']} "
                f"| {told['neutral']} | {wrong} | {some['beside']} | {some['instructions']} |",
                flush=True,
            )


if __name__ == "__main__":
    anyio.run(main)
