"""Generated streams: what a salt may change, what it may not, and which settings are refused."""

from __future__ import annotations

import re
import shutil
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

import pytest

from atr_data.timing import TimingError
from atr_data.timing.set_folder import load_set
from atr_datagen.timing.base import compile_base
from atr_datagen.timing.clock import working_days
from atr_datagen.timing.generate import decide, generate, write_set
from atr_datagen.timing.halves import content_words, halves
from atr_datagen.timing.lexicon import PUBLIC_LEXICON, load_lexicon
from atr_datagen.timing.settings import PUBLIC_SALT, Settings
from tests.support.timing_sets import generated

LEXICON = load_lexicon()


def test_equal_settings_give_equal_bytes(tmp_path: Path) -> None:
    settings = Settings(split="lite")
    for folder in ("a", "b"):
        write_set(settings, tmp_path / folder, users=1)
    for path in (tmp_path / "a").iterdir():
        assert path.read_bytes() == (tmp_path / "b" / path.name).read_bytes()
    assert load_set(tmp_path / "a")[0].stream.header.source.seed == 0


def test_a_matter_goes_on_in_order() -> None:
    """A thread that reaches its last step has taken its first; few events say nothing of themselves."""
    user = generated(1)[0]
    told = [event.summary or "" for event in user.stream.events]
    asked = [n for n, line in enumerate(told) if re.fullmatch(r"ticket \d+: the print comes out grey", line)]
    closed = [n for n, line in enumerate(told) if line == "closes the ticket"]
    begun = [any(n - 200 < start < n for start in asked) for n in closed]
    assert len(begun) > 3
    assert sum(begun) / len(begun) > 0.75
    assert not any(n < asked[0] for n in closed if n > 200)


def test_a_salt_changes_self_help_and_gold_alone() -> None:
    one, other = generated(1, "salt one")[0], generated(1, "salt two")[0]
    ordinary = [[e.model_dump() for e in user.stream.events if not e.self_help] for user in (one, other)]
    assert ordinary[0] == ordinary[1]
    assert one.stream.header.sittings == other.stream.header.sittings
    bare = [[s.model_dump(exclude={"need_id"}) for s in user.gold.scenes] for user in (one, other)]
    assert bare[0] == bare[1]
    assert one.gold.habits != other.gold.habits


def test_another_seed_gives_another_stream() -> None:
    settings = Settings(split="lite", calibrate=False)
    first = compile_base(settings, LEXICON, 0).events
    second = compile_base(replace(settings, seed=1), LEXICON, 0).events
    assert {e.window_title for e in first} != {e.window_title for e in second}


def test_needs_follow_the_habits() -> None:
    users = generated(4)
    scenes = [
        (scene, {h.habit_id: h for h in user.gold.habits}) for user in users for scene in user.gold.scenes
    ]
    held = [
        scene.need_id is not None
        for scene, habits in scenes
        if any(
            h.kind == scene.kind
            and h.first_day <= scene.day <= h.last_day
            and scene.attributes.get(h.attribute) == h.value
            for h in habits.values()
        )
    ]
    assert 0.30 < len(held) / len(scenes) < 0.37
    assert 0.80 < sum(held) / len(held) < 0.90
    all_needs = [need for user in users for need in user.gold.needs]
    assert 0.01 < sum(need.scene_id is None for need in all_needs) / len(all_needs) < 0.06


def test_habits_change_on_one_day_only() -> None:
    habits = [habit for user in generated(4) for habit in user.gold.habits]
    changed = [habit for habit in habits if habit.first_day != 1]
    assert {habit.first_day for habit in changed} == {9}
    assert 0.15 < len(changed) / (4 * len(LEXICON.kinds)) < 0.55


def test_every_need_is_announced_before_its_onset_and_followed_by_self_help() -> None:
    for user in generated(2):
        helps = {event.t_release for event in user.stream.events if event.self_help}
        for need in user.gold.needs:
            assert need.t_cue is None or need.t_cue < need.t_onset
            assert need.t_onset in helps


@pytest.mark.parametrize("process", ["calendar", "regular"])
def test_time_never_runs_backwards(process: Any) -> None:
    for seed in range(20):
        blocks = working_days(Random(seed), Settings(process=process))
        moments = [step for block in blocks for step in block.steps]
        assert all(a < b for a, b in pairwise(moments))
        assert all(block.steps[-1] < block.free_until for block in blocks)


def test_scenes_do_not_overlap() -> None:
    for user in generated(2):
        scenes = user.gold.scenes
        assert all(a.t_onset < b.t_first for a, b in pairwise(scenes))


def test_the_target_is_rarely_the_file_last_in_focus() -> None:
    latest = total = 0
    for user in generated(4):
        targets = [(e.t_release, e.target) for e in user.stream.events if e.target and not e.self_help]
        for need in user.gold.needs:
            if need.target is not None:
                total += 1
                latest += [t for at, t in targets if at < need.t_onset][-1] == need.target
    assert latest / total <= 1 / 3


def test_application_category_tells_nothing_of_the_kind() -> None:
    """Within one role, the share of each category is the same for every kind of scene, up to chance. An
    application stays in front for a while, so only the first event of each scene is counted."""
    user = generated(1)[0]
    category = {event.event_id: event.app_category for event in user.stream.events}
    by_kind: dict[str, list[str]] = {}
    for scene in user.gold.scenes:
        by_kind.setdefault(scene.kind, []).append(category[scene.event_ids[0]])
    everything = [one for group in by_kind.values() for one in group]
    names = sorted(set(everything))
    expected = {name: everything.count(name) / len(everything) for name in names}
    chi = sum(
        (group.count(name) - len(group) * expected[name]) ** 2 / (len(group) * expected[name])
        for group in by_kind.values()
        for name in names
    )
    freedom = (len(by_kind) - 1) * (len(names) - 1)
    assert chi < freedom + 4 * (2 * freedom) ** 0.5


def test_burstiness_is_reached() -> None:
    for user in generated(4):
        assert user.stream.header.burstiness.self_help == pytest.approx(0.787, abs=0.02)


@pytest.mark.parametrize(("target", "process"), [(0.7, "calendar"), (0.166, "regular")])
def test_other_targets_can_be_asked_for(target: float, process: Any) -> None:
    settings = Settings(split="lite", target_b=target, process=process)
    (only,) = generate(settings, users=1)
    assert only.stream.header.burstiness.self_help == pytest.approx(target, abs=0.02)


def test_the_halves_of_a_value_share_no_word() -> None:
    for name, values in LEXICON.wordings.items():
        for value, lines in values.items():
            early, late = halves(lines, 0, name, value)
            assert sorted(early + late) == sorted(lines)
            assert abs(len(early) - len(late)) <= 4, (name, value)
            shared = {w for line in early for w in content_words(line)} & {
                w for line in late for w in content_words(line)
            }
            assert not shared, (name, value, shared)


def test_evaluation_days_use_late_wordings_only() -> None:
    user = generated(1)[0]
    text = {True: "", False: ""}
    start = user.stream.header.first_evaluation_day
    for event in user.stream.events:
        text[event.t_release >= start] += f" {event.summary} {event.screen_text}"
    for name, values in LEXICON.wordings.items():
        for value, lines in values.items():
            early, late = halves(lines, 0, name, value)
            assert not any(f": {line}" in text[True] for line in early), (name, value)
            assert not any(f": {line}" in text[False] for line in late), (name, value)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"tolerance": 0.0}, "tolerance"),
        ({"tolerance": float("nan")}, "tolerance"),
        ({"days": 1}, "days"),
        ({"history_days": 20}, "history_days"),
        ({"need_if_face": 1.2}, "need_if_face"),
        ({"need_otherwise": -0.1}, "need_otherwise"),
        ({"need_if_face": 1.0, "need_otherwise": 0.95, "sceneless_share": 0.5}, "sum to more than 1"),
        ({"back_to_work": 0.0}, "back_to_work"),
        ({"target_b": 1.5}, "target_b"),
        ({"active_hours": 0.0}, "active_hours"),
        ({"follow": 0.5}, "follow"),
        ({"sitting_decisions": 10}, "sitting_decisions"),
    ],
)
def test_settings_that_cannot_work_are_refused(change: dict[str, Any], said: str) -> None:
    with pytest.raises(TimingError, match=said) as caught:
        Settings(**change)
    assert caught.value.code == "bad_config"


def test_a_burstiness_out_of_reach_names_the_reachable_range() -> None:
    with pytest.raises(TimingError, match=r"best 0\.\d+, reachable 0\.\d+ to 0\.\d+"):
        list(generate(Settings(split="lite", target_b=0.95), users=1))


def test_too_few_self_help_events_are_refused() -> None:
    settings = Settings(
        split="lite", days=2, history_days=1, calibrate=False, follow=1.0, need_if_face=0.2, active_hours=2.0
    )
    with pytest.raises(TimingError, match="at least 72"):
        list(generate(settings, users=1))


def private_lexicon(folder: Path) -> Path:
    """The published one with every wording of an attribute spelled backwards."""
    shutil.copytree(PUBLIC_LEXICON, folder)
    for path in folder.glob("*.txt"):
        if path.stem not in ("kinds", "queries", "threads", "work"):
            lines = path.read_text("utf-8").splitlines()
            turned = [line if line.startswith("[") else line[::-1].strip() for line in lines]
            path.write_text("\n".join(turned) + "\n", encoding="utf-8")
    return folder


SECRET = "not-a-published-salt"


def test_a_private_set_tells_its_salt_nowhere(tmp_path: Path) -> None:
    folder = private_lexicon(tmp_path / "lexicon")
    made = next(generate(Settings(split="private", salt=SECRET), lexicon_folder=folder))
    assert made.gold.header.salt is None
    assert made.gold.header.salt_digest
    assert SECRET not in made.stream.model_dump_json() + made.gold.model_dump_json()
    assert "not-a-published" not in str(made.stream.header.source)


@pytest.mark.parametrize(
    ("salt", "words", "said"),
    [
        (PUBLIC_SALT, True, "salt of at least 16"),
        ("short", True, "salt of at least 16"),
        (SECRET, False, "is in the public one"),
    ],
)
def test_a_private_set_needs_its_own_salt_and_words(
    tmp_path: Path, salt: str, words: bool, said: str
) -> None:
    folder = private_lexicon(tmp_path / "lexicon") if words else tmp_path / "lexicon"
    if not words:
        shutil.copytree(PUBLIC_LEXICON, folder)
    with pytest.raises(TimingError, match=said) as caught:
        next(generate(Settings(split="private", salt=salt), lexicon_folder=folder))
    assert caught.value.code == "bad_config"


@pytest.mark.parametrize(
    ("file", "old", "new", "said"),
    [
        ("owner.txt", "own initiative, own mess\n", "", "has 23 of 24"),
        ("owner.txt", "[client]", "[colleague]", "2 values"),
        ("kinds.txt", "dims: owner familiarity", "dims: owner mood", "two attributes"),
        (
            "kinds.txt",
            "intents: error_correction coding",
            "intents: error_correction cooking",
            "known intents",
        ),
        ("queries.txt", "[follow_up]", "[other]", "follow_up"),
        ("work.txt", "[ide looks]", "[ide stares]", "ide looks"),
        ("work.txt", "reads the news page of {org}", "reads of {firm}", r"nothing fills \{firm\}"),
        ("work.txt", "jumps back to {obj}", "jumps {wording} {fact}", r"nothing fills \{fact\}"),
        ("kinds.txt", "fact: step {n} |", "fact: step {m} |", r"nothing fills \{m\}"),
        ("kinds.txt", "say: {obj} stops", "say: {thing} stops", r"nothing fills \{thing\}"),
        ("kinds.txt", "tell:", "told:", "lacks tell"),
        ("queries.txt", "find me the current figure for {fact}", "find {fact", "bad_config"),
        ("threads.txt", "mail: asks {org} what", "post: asks {org} what", "names no application"),
        ("threads.txt", "is not there", "is not {where}", r"nothing fills \{where\}"),
    ],
)
def test_a_lexicon_that_falls_short_is_refused(
    tmp_path: Path, file: str, old: str, new: str, said: str
) -> None:
    folder = tmp_path / "lexicon"
    shutil.copytree(PUBLIC_LEXICON, folder)
    text = (folder / file).read_text(encoding="utf-8")
    assert old in text
    (folder / file).write_text(text.replace(old, new, -1 if old == "tell:" else 1), encoding="utf-8")
    with pytest.raises(TimingError, match=said):
        load_lexicon(folder)


def test_sittings_are_short_and_start_a_block() -> None:
    for user in generated(4):
        stream = user.stream
        assert len(stream.header.sittings) == 3
        for events in stream.sitting_events().values():
            assert 20 <= sum(not event.self_help for event in events) <= 60
            assert events[0].t_release >= stream.header.first_evaluation_day


def test_no_salt_enters_the_stream() -> None:
    base = compile_base(Settings(split="lite"), LEXICON, 0)
    made = decide(base, Settings(split="lite", salt="only-in-gold"), LEXICON)
    assert "only-in-gold" not in made.stream.model_dump_json()
