"""Generated streams: what a salt may change, what it may not, and which settings are refused."""

from __future__ import annotations

import shutil
from collections import Counter
from dataclasses import replace
from functools import cache
from itertools import pairwise
from pathlib import Path
from random import Random
from statistics import fmean
from typing import Any

import pytest

from atr_data.timing import TimingError
from atr_data.timing.set_folder import load_set
from atr_datagen.timing.base import Base, compile_base
from atr_datagen.timing.cast import words_of
from atr_datagen.timing.chronicle import DAY_MARK
from atr_datagen.timing.clock import midnight, working_days
from atr_datagen.timing.generate import decide, generate, write_set
from atr_datagen.timing.lexicon import PUBLIC_LEXICON, load_lexicon
from atr_datagen.timing.needs import decide_needs
from atr_datagen.timing.settings import PUBLIC_SALT, Settings
from atr_datagen.timing.walk import WEEKDAYS
from tests.support.timing_sets import generated

LEXICON = load_lexicon()
JOBS = [chronicle.job for chronicle in LEXICON.chronicles]
ALLOTMENTS = Path(__file__).with_name("allotments")


@cache
def base_of(number: int) -> Base:
    """What the published lexicon's `number`-th user does before any habit is drawn."""
    return compile_base(Settings(), LEXICON, number)


def test_equal_settings_give_equal_bytes(tmp_path: Path) -> None:
    settings = Settings(split="lite")
    for folder in ("a", "b"):
        write_set(settings, tmp_path / folder, users=1)
    for path in (tmp_path / "a").iterdir():
        assert path.read_bytes() == (tmp_path / "b" / path.name).read_bytes()
    assert load_set(tmp_path / "a")[0].stream.header.source.seed == 0


def test_users_differ_in_job_until_all_jobs_have_come() -> None:
    jobs = [base_of(number).walk.chronicle.job for number in range(len(JOBS) + 2)]
    assert sorted(jobs[: len(JOBS)]) == sorted(JOBS)
    assert jobs[len(JOBS) :] == jobs[:2]
    header = generated(1)[0].stream.header
    assert header.source.parameters["job"] in JOBS
    assert header.role in {chronicle.role for chronicle in LEXICON.chronicles}


def test_a_chronicle_is_played_whole_in_order_and_in_a_circle() -> None:
    base = base_of(0)
    days = base.walk.chronicle.days
    shown: dict[int, list[str]] = {}
    for day, (first, last) in zip(base.days, base.blocks, strict=True):
        shown.setdefault(day, []).extend(event.app_category for event in base.events[first:last])
    written = [[line.category for line in day.lines] for day in days]
    start = written.index(shown[1])
    assert list(shown) == list(range(1, 21))
    for day, categories in shown.items():
        assert categories == written[(start + day - 1) % len(days)]


def test_colleagues_stay_and_those_outside_change_with_each_pass() -> None:
    base = base_of(0)
    chronicle = base.walk.chronicle
    passes = base.walk.names
    assert len(passes) >= 5
    for names, following in pairwise(passes):
        for group, stay in ((chronicle.staff, True), (chronicle.outside, False)):
            for person in group:
                one, other = (
                    [by[name.casefold()] for name in (person.first, person.last)] for by in (names, following)
                )
                assert (one == other) == stay
    first = passes[0]
    said = " ".join(f"{e.window_title} {e.summary} {e.screen_text} {e.target}" for e in base.events)
    assert not words_of(said) & first.keys()
    assert words_of(said) & {name.casefold() for name in first.values()}


def test_a_weekday_is_that_of_the_calendar() -> None:
    """What chronicle and remarks call `{0}`, the stream calls by the day on which it happens."""
    found = 0
    for number in range(len(JOBS)):
        base = base_of(number)
        for day, (first, last) in zip(base.days, base.blocks, strict=True):
            said = " ".join(f"{event.summary} {event.screen_text}" for event in base.events[first:last])
            assert not DAY_MARK.search(said)
            written = base.walk.day(day)
            texts = [line.said for line in written.lines]
            texts += [text for plot in written.plots for pair in plot.remarks.values() for text in pair]
            marks = [int(mark) for text in texts for mark in DAY_MARK.findall(text)]
            weekday = base.events[first].t_release.weekday()
            wanted = {WEEKDAYS[(weekday + mark) % 5] for mark in marks}
            assert {word for word in WEEKDAYS if word in said} <= wanted
            found += any(word in said for word in WEEKDAYS)
    assert found > 20


def test_no_block_ends_within_a_scene() -> None:
    for number in range(3):
        base = base_of(number)
        block = {e.event_id: n for n, (a, b) in enumerate(base.blocks) for e in base.events[a:b]}
        assert all(len({block[name] for name in scene.event_ids}) == 1 for scene in base.scenes)
        assert all(b - a <= 40 for a, b in base.blocks)


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
    assert [e.window_title for e in first] != [e.window_title for e in second]


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
    assert 0.15 < len(changed) / (4 * 10) < 0.55


def test_every_need_is_announced_before_its_onset_and_followed_by_self_help() -> None:
    for user in generated(2):
        helps = {event.t_release for event in user.stream.events if event.self_help}
        for need in user.gold.needs:
            assert need.t_cue is None or need.t_cue < need.t_onset
            assert need.t_onset in helps


@pytest.mark.parametrize("process", ["calendar", "regular"])
def test_time_never_runs_backwards(process: Any) -> None:
    for seed in range(20):
        chronicle = LEXICON.chronicles[seed % len(JOBS)]
        blocks = working_days(Random(seed), Settings(process=process), chronicle.days * 5)
        moments = [step for block in blocks for step in block.steps]
        assert all(a < b for a, b in pairwise(moments))
        assert all(block.steps[-1] < block.free_until for block in blocks)


def test_lunch_is_about_noon_and_long_steps_take_long() -> None:
    lunches: list[float] = []
    gaps: dict[bool, list[float]] = {True: [], False: []}
    for chronicle in LEXICON.chronicles:
        blocks = working_days(Random(0), Settings(), chronicle.days * 5)
        for before, block in pairwise(blocks):
            if block.first == chronicle.days[(block.day - 1) % len(chronicle.days)].lunch:
                lunches.append((before.steps[-1] - midnight(block.day)) / 3600)
                assert block.steps[0] - before.steps[-1] >= 25 * 60
        for block in blocks:
            lines = chronicle.days[(block.day - 1) % len(chronicle.days)].lines[block.first :]
            for line, (one, following) in zip(lines, pairwise(block.steps), strict=False):
                if line.category != "meeting":
                    gaps[line.long].append(following - one)
    assert len(lunches) == 20 * len(JOBS)
    assert 11.5 < fmean(lunches) < 12.75
    assert fmean(gaps[True]) > 2 * fmean(gaps[False])


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


def test_application_category_tells_nothing_of_the_intent() -> None:
    """Among the users of a role, the best guess from the category in which a scene ends, over habits drawn
    many times, is hardly better than the best guess without it."""
    told: dict[str, Counter[tuple[str, str]]] = {}
    for number in range(len(JOBS)):
        base = base_of(number)
        category = {event.event_id: event.app_category for event in base.events}
        cues = {scene.scene_id: category[scene.event_ids[-1]] for scene in base.scenes}
        for salt in range(12):
            _, needs = decide_needs(base, Settings(salt=f"salt {salt}"), LEXICON)
            pairs = [(cues[need.scene_id], need.intent or "") for need in needs if need.scene_id]
            told.setdefault(base.desk.role, Counter()).update(pairs)
    for role, counts in told.items():
        intents, by_category = Counter[str](), dict[str, int]()
        for (name, intent), number in counts.items():
            intents[intent] += number
            by_category[name] = max(by_category.get(name, 0), number)
        ahead = (sum(by_category.values()) - max(intents.values())) / counts.total()
        assert ahead <= 0.10, (role, ahead)


def test_burstiness_is_reached() -> None:
    for user in generated(4):
        assert user.stream.header.burstiness.self_help == pytest.approx(0.787, abs=0.02)


def test_a_user_with_few_needs_reaches_it_too() -> None:
    """Of all drawings of `remarks1` this one has the fewest needs; no length of its first episodes does."""
    made = decide(base_of(24), Settings(salt="remarks1-7"), LEXICON)
    assert len(made.gold.needs) < 100
    assert made.stream.header.burstiness.self_help == pytest.approx(0.787, abs=0.02)


@pytest.mark.parametrize(("target", "process"), [(0.7, "calendar"), (0.166, "regular")])
def test_other_targets_can_be_asked_for(target: float, process: Any) -> None:
    settings = Settings(split="lite", target_b=target, process=process)
    (only,) = generate(settings, users=1)
    assert only.stream.header.burstiness.self_help == pytest.approx(target, abs=0.02)


def test_a_scene_states_its_two_values_in_the_words_of_its_place_and_day() -> None:
    """Of the two wordings of a value at a place, one is for the history and one for the last days, the same
    one for all users and places."""
    sides: dict[tuple[str, str, bool], set[int]] = {}
    for number in range(3):
        base = base_of(number)
        text = {event.event_id: f"{event.summary} {event.screen_text}" for event in base.events}
        for scene in base.scenes:
            said = "\n".join(text[name] for name in scene.event_ids)
            plot = base.staged[scene.scene_id].plot
            for (name, value), pair in plot.remarks.items():
                stated = [n for n, wording in enumerate(pair) if base.walk.said(wording, scene.day) in said]
                assert len(stated) == (scene.attributes[name] == value), (plot.name, name, value)
                sides.setdefault((name, value, scene.day <= 16), set()).update(stated)
    assert all(len(found) == 1 for found in sides.values())
    assert all(sides[name, value, True] != sides[name, value, False] for name, value, _ in sides)


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
    settings = Settings(split="lite", days=2, history_days=1, calibrate=False, follow=1.0, need_if_face=0.2)
    with pytest.raises(TimingError, match="at least 72"):
        list(generate(settings, users=1))


def private_lexicon(folder: Path) -> Path:
    """The published words, and remarks for two of its chronicles: the published ones, back to front."""
    (folder / "remarks").mkdir(parents=True)
    for path in PUBLIC_LEXICON.glob("*.txt"):
        shutil.copy(path, folder)
    for path in sorted((PUBLIC_LEXICON / "remarks").glob("*.txt"))[:2]:
        lines = path.read_text("utf-8").splitlines()
        turned = [line if line.startswith("<<") else _turned(line) for line in lines]
        (folder / "remarks" / path.name).write_text("\n".join(turned) + "\n", encoding="utf-8")
    return folder


def _turned(line: str) -> str:
    head, colon, texts = line.partition(":")
    sides = [" ".join(reversed(text.split())) for text in texts.split("//")]
    return f"{head}{colon} {' // '.join(sides)}"


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
        ("attributes.txt", "client: it", "colleague: it", r"\[owner\] has 2 values"),
        ("kinds.txt", "dims: owner familiarity", "dims: owner mood", "needs two known attributes"),
        (
            "kinds.txt",
            "intents: error_correction coding",
            "intents: error_correction cooking",
            "known intents",
        ),
        ("kinds.txt", "[failing_build]", "[failing_boat]", "chronicles/.*'kinds:' names 10 kinds"),
        ("injections.txt", "[titles]", "titles", "before the first section"),
    ],
)
def test_a_lexicon_that_falls_short_is_refused(
    tmp_path: Path, file: str, old: str, new: str, said: str
) -> None:
    folder = tmp_path / "lexicon"
    shutil.copytree(PUBLIC_LEXICON, folder)
    text = (folder / file).read_text(encoding="utf-8")
    assert old in text
    (folder / file).write_text(text.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(TimingError, match=said):
        load_lexicon(folder)


@pytest.mark.parametrize("name", ["attributes.txt", "kinds.txt", "injections.txt", "remarks"])
def test_a_lexicon_that_lacks_something_is_refused(tmp_path: Path, name: str) -> None:
    folder = private_lexicon(tmp_path / "lexicon")
    (folder / name).rename(tmp_path / "elsewhere")
    with pytest.raises(TimingError, match=f"the lexicon has no {name}"):
        load_lexicon(folder)


def test_a_value_with_too_few_wordings_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "lexicon"
    shutil.copytree(ALLOTMENTS, folder)
    for path in PUBLIC_LEXICON.glob("*.txt"):
        shutil.copy(path, folder)
    with pytest.raises(TimingError, match="urgency hours has 2 of 24 wordings"):
        load_lexicon(folder)


def test_a_lexicon_may_have_chronicles_of_its_own(tmp_path: Path) -> None:
    folder = private_lexicon(tmp_path / "lexicon")
    assert [one.job for one in load_lexicon(folder).chronicles] == JOBS[:2]
    (folder / "chronicles").mkdir()
    shutil.copy(ALLOTMENTS / "chronicles" / "allotments.txt", folder / "chronicles")
    with pytest.raises(TimingError, match=r"there is no remarks/allotments\.txt"):
        load_lexicon(folder)
    shutil.copy(ALLOTMENTS / "remarks" / "allotments.txt", folder / "remarks")
    own = "secretary of an allotment association"
    assert sorted(one.job for one in load_lexicon(folder).chronicles) == sorted([*JOBS[:2], own])
    (folder / "remarks" / "allotments.txt").rename(folder / "remarks" / "gardens.txt")
    with pytest.raises(TimingError, match=r"there is no chronicles/gardens\.txt"):
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
