"""Whether a memory that rewords says a rule: judged by the user's Classifier, sentence by sentence."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest

from atr_client import play_episode
from atr_client.agents import OFFLINE_MODELS
from atr_client.cell.episode_runner import Users, offline_users
from atr_client.errors import CellAbort
from atr_client.session.rewording import RewordedRules, sentences
from atr_data import Episode, load_episode
from atr_data.trajectory import Trajectory
from atr_data.usage import Usage
from atr_memory import LAYER_KINDS, LayerHelp, MemoryLayer
from atr_memory.writer import Written
from atr_user_sim.interface import ClassifierVerdict, PoolRule, UserSimFault
from atr_user_sim.lines import lines_beside, load_lines
from atr_user_sim.offline import offline_classifier
from tests.conftest import ROOT
from tests.support.telling import short_episode, telling_users

PATH = ROOT / "data" / "episodes" / "dashiell_okonjo_seed000.json"
TIER, GRADES = "dashiell_okonjo_commerce_01", "dashiell_okonjo_workspace_01"


def classifier() -> Any:
    return offline_classifier(lines=load_lines(lines_beside(PATH, "dashiell_okonjo")))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("He wants aisle seats. Why is that so?", ["He wants aisle seats."]),
        ("[user]: I want tea.\n[tool result]: {}\n[tool call]: list_all_labels({})", ["I want tea."]),
        ('{"notes": [{"beginning": "[assistant to user]: In general, which tier do you wa"}]}', []),
        ("- (asked: In general, tea or coffee?) I want tea.", ["I want tea."]),
        ('{"notes": [{"text": "I want tea. Tea, always tea."}]}', ["I want tea.", "Tea, always tea."]),
        ('{"o": ["I want tea."]}\n{"o": ["I want tea.", "No milk in it"]}', ["I want tea.", "No milk in it"]),
        ("  - I want tea.", ["I want tea."]),
        (json.dumps({"a": ["I want tea.", "So it is."]}, indent=1), ["I want tea.", "So it is."]),
        ('["I want tea."]', ["I want tea."]),
        ('  {"a": "I want tea."}', ["I want tea."]),
        ("[" * 100_000, []),
        ("[user]: ## (asked: Tea?) I want tea.", ["I want tea."]),
        ("I want tea, one, two", ["I want tea, one, two"]),
        ("want tea", []),
        ("word " * 80, [("word " * 80).strip()]),
        ('"I want tea."', ['"I want tea."']),
        ('{"a": 1, "b": null, "c": true, "d": [2, {"e": "I want tea."}]}', ["I want tea."]),
        ("{I want tea.}\n[I want bread.] Nine or ten.", ["{I want tea.}", "Nine or ten."]),
        ('I want "tea?"', []),
        ("I want tea. I want tea.", ["I want tea."]),
        ("[tool call]: I want tea.\n[assistant to user]: I want tea.\nI want bread.", ["I want bread."]),
        ("SQLite\0\0\ufffdI want tea always\0\0", ["I want tea always"]),
        ("word " * 81, []),
    ],
)
def test_sentences_are_what_may_say_a_rule(text: str, expected: list[str]) -> None:
    assert list(sentences(text)) == expected


@pytest.mark.parametrize(
    ("text", "rule", "says"),
    [
        ("When his mother uses a service, he goes a single step up from the cheapest tier.", TIER, True),
        ("When his mother uses a service, he goes a single step up from the cheapest tier.", GRADES, False),
        ("Which tier do you want when your mother uses a service?", TIER, False),
        ("- Likes fish.\n- Graded student work goes to long-term storage.", GRADES, True),
        ("The concert begins at eight and the tickets are at the door.", GRADES, False),
    ],
)
async def test_the_classifier_reads_a_rule_in_other_words(text: str, rule: str, says: bool) -> None:
    episode = load_episode(PATH)
    wanted = episode.rule(rule)
    assert wanted
    assert (await RewordedRules(classifier(), episode.rules).says(text, wanted))[0] is says


class Paid:
    """A Classifier that costs something, takes every sentence for the first rule, and may be out of reach."""

    def __init__(self, *, broken: bool = False, usage: Usage | None = None) -> None:
        self.asked: list[str] = []
        self.broken = broken
        self.usage = usage or Usage(calls=1, total_tokens=10)

    async def classify(self, *, question: str, pool: Sequence[PoolRule]) -> ClassifierVerdict:
        if self.broken:
            raise UserSimFault("cls", "the model is out of reach")
        self.asked.append(question)
        return ClassifierVerdict(pool[0].rule_id, self.usage)


async def test_each_sentence_is_judged_once_and_a_text_of_too_many_is_left_open() -> None:
    episode, paid = load_episode(PATH), Paid()
    judge = RewordedRules(paid, episode.rules)
    first, second = episode.rules[:2]
    said, usage = await judge.says("One two three. Four five six.", second)
    assert (said, usage.calls) == (False, 2)
    assert await judge.says("Four five six. One two three.", second) == (False, Usage())
    assert await judge.says("One two three.", first) == (True, Usage())
    many = [f"Number {n} is it." for n in range(501)]
    assert await judge.says(" ".join(many), second) == (None, Usage())
    assert len(paid.asked) == 2
    assert (await judge.says(" ".join(many[:500]), second))[0] is False
    assert len(paid.asked) == 502
    assert (await judge.says(" ".join(many), second))[0] is False, "what was judged before is not new"


class Retells:
    """Writes each session's memory in given words."""

    def __init__(self, text: str) -> None:
        self.text = text

    async def write(self, instructions: str, material: str) -> Written:
        return Written(self.text)


def rewriting(text: str) -> MemoryLayer:
    return LAYER_KINDS["rewrite"]("rewrite", {"kind": "rewrite"}, LayerHelp(writer=Retells(text)))


async def played_tests(
    layer: MemoryLayer, users: Any, episode: Episode | None = None, variant: str = "always_ask"
) -> list[Trajectory]:
    asker = OFFLINE_MODELS["offline/asker"].model()
    played = await play_episode(episode or short_episode(1, 2), variant, asker, user=users, memory=layer)
    return [t for t in played.trajectories if t.session_type == "test"]


async def test_a_memory_that_rewords_is_read_by_the_classifier_and_one_that_does_not_by_its_words() -> None:
    episode = short_episode(1, 2)
    texts = "\n".join(rule.rule_text for rule in episode.rules)
    for users, method, readable in (
        (offline_users(classifier()), "classifier", True),
        (telling_users(), "verbatim", False),
    ):
        found = await played_tests(rewriting(texts), users, episode)
        assert [t.readability.method for t in found if t.readability] == [method] * 2
        kept = [(t.retention.stored, t.retention.findable, t.rule_readable) for t in found if t.retention]
        assert kept == [(readable,) * 3] * 2
    told = await played_tests(rewriting(texts), offline_users(classifier()), episode, "oracle_target")
    assert {t.readability.method for t in told if t.readability} == {"told"}


async def test_what_judging_takes_is_counted_and_a_classifier_that_breaks_is_a_fault() -> None:
    for usage in (Usage(calls=1, total_tokens=10), Usage(calls_without_usage=1, estimated_usd=0.1)):
        paid = Paid(usage=usage)
        users = Users(telling_users(), paid)
        first, second = await played_tests(rewriting("Tea is what he drinks. Bread comes at nine."), users)
        assert first.token_usage["classifier"] == usage + usage and len(paid.asked) == 2
        assert "classifier" not in second.token_usage
        assert (first.rule_readable, second.rule_readable) == (True, False)
    with pytest.raises(CellAbort, match=r"cls failed in session .*: the model is out of reach"):
        await played_tests(rewriting("Tea is what he drinks."), Users(telling_users(), Paid(broken=True)))
