"""What a finished chronicle has beyond its form: enough of everything, and nothing said over and over."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from itertools import chain, pairwise

from atr_datagen.timing.cast import words_of
from atr_datagen.timing.chronicle import MARK, Chronicle, Fault
from atr_datagen.timing.read_chronicle import line_room
from atr_datagen.timing.telling_words import FEW_TEXTS, MOST_SHARED, shared_words
from atr_datagen.timing.windows import in_focus, pages

DAYS, DAY_EVENTS, SCENES_OF_A_KIND, EVENTS_PER_SCENE = 4, (160, 215), (5, 7), (9.0, 13.0)
LOOSE, LOOSE_INTENTS, FOLLOW, PARAGRAPH, SAME_THING = 12, 8, 40, 20, 3
_COLUMNS = "browser ide terminal office reader files mail chat other meeting".split()
_ROWS = {
    "developer": (20, 30, 13, 5, 4, 5, 8, 10, 3, 2),
    "case_worker": (16, 0, 0, 28, 12, 8, 19, 11, 4, 2),
    "researcher": (22, 7, 5, 19, 22, 6, 9, 6, 3, 1),
    "planner": (15, 0, 0, 25, 6, 6, 22, 20, 4, 2),
    "designer": (21, 5, 0, 24, 7, 13, 12, 13, 3, 2),
    "editor": (18, 0, 0, 32, 17, 6, 14, 9, 3, 1),
}
SHARES = {role: dict(zip(_COLUMNS, row, strict=True)) for role, row in _ROWS.items()}
"""Per cent of a role's events in each category, within `SHARE_OFF`."""
SHARE_OFF = 7


def shortfalls(chronicle: Chronicle) -> Iterator[Fault]:
    """Counts that are not yet, or not at all, what a chronicle needs."""
    days, plots = chronicle.days, chronicle.plots
    if len(days) < DAYS or any(day.lunch is None for day in days):
        yield Fault(0, f"{len(days)} days, {DAYS} at least, each with its lunch")
    for number, day in enumerate(days, start=1):
        if not DAY_EVENTS[0] <= len(day.lines) <= DAY_EVENTS[1]:
            yield Fault(0, f"day {number} has {len(day.lines)} events, {DAY_EVENTS[0]} to {DAY_EVENTS[1]}")
        ends = sorted({0, len(day.lines), day.lunch or 0, *day.rests})
        if (longest := max((b - a for a, b in pairwise(ends)), default=0)) > PARAGRAPH:
            yield Fault(0, f"day {number}: {longest} events without a blank line, {PARAGRAPH} at most")
    if len({intent for intent, _ in chronicle.loose}) < LOOSE_INTENTS or len(chronicle.loose) < LOOSE:
        yield Fault(0, f"{LOOSE} '??' questions at least, of {LOOSE_INTENTS} different intents")
    if len(set(chronicle.follow)) < FOLLOW:
        yield Fault(0, f"{len(set(chronicle.follow))} '++' follow-ups, {FOLLOW} at least")
    events = sum(len(day.lines) for day in days)
    density = events / max(1, len(plots))
    if not EVENTS_PER_SCENE[0] <= density <= EVENTS_PER_SCENE[1]:
        low, high = EVENTS_PER_SCENE
        yield Fault(0, f"a scene for every {density:.1f} events, {low} to {high}")
    of_kind = Counter(plot.kind for plot in plots)
    for kind in chronicle.kinds:
        if not SCENES_OF_A_KIND[0] <= of_kind[kind] <= SCENES_OF_A_KIND[1]:
            yield Fault(
                0, f"{of_kind[kind]} scenes of {kind}, {SCENES_OF_A_KIND[0]} to {SCENES_OF_A_KIND[1]}"
            )
    yield from chain(_spread(chronicle), _shares(chronicle, events))


def _spread(chronicle: Chronicle) -> Iterator[Fault]:
    """Where scenes begin, and whether their targets are the last thing in focus."""
    begins: dict[str, Counter[str]] = defaultdict(Counter)
    last = total = 0
    for day in chronicle.days:
        for plot in day.plots:
            begins[plot.kind][day.lines[plot.first].category] += 1
            shown = [in_focus(line.category, line.title) for line in day.lines[plot.first : plot.last + 1]]
            last += [target for target in shown if target][-1:] == [plot.target]
            total += 1
    for kind, found in begins.items():
        if (many := found.total()) >= 5 and (found.most_common(1)[0][1] > (many + 1) / 2 or len(found) < 3):
            yield Fault(
                0, f"{kind} begins in {dict(found)}: three categories at least, none in more than half"
            )
    if last > total / 2:
        yield Fault(0, f"{last} of {total} scenes show their target last, half of them may")


def _shares(chronicle: Chronicle, events: int) -> Iterator[Fault]:
    lines = [line for day in chronicle.days for line in day.lines]
    share = Counter(line.category for line in lines)
    for category, wanted in SHARES.get(chronicle.role, {}).items():
        if abs((got := 100 * share[category] / max(1, events)) - wanted) > SHARE_OFF:
            yield Fault(0, f"{category} is {got:.0f} per cent of the events, about {wanted} is right")
    if chronicle.role not in SHARES:
        yield Fault(0, f"role {chronicle.role!a} is none of {', '.join(SHARES)}")
    marked = [line for line in lines if line.remarks]
    told = [
        ("screen text in", lines, [line for line in lines if line.text], (8, 40)),
        ("no summary in", lines, [line for line in lines if not line.summary], (0, 8)),
        ("remarks in the screen text in", marked, [line for line in marked if "{" in line.text], (20, 70)),
    ]
    for what, whole, part, (low, high) in told:
        if whole and not low <= (got := 100 * len(part) / len(whole)) <= high:
            yield Fault(0, f"{what} {got:.0f} per cent of them, {low} to {high}")


def repeats(chronicle: Chronicle) -> Iterator[Fault]:
    """Runs of five words that come more than twice, summaries, questions and things that come too often, and
    a file that has not always as many pages."""
    runs: dict[tuple[str, ...], list[int]] = defaultdict(list)
    whole: dict[str, list[int]] = defaultdict(list)
    sizes: dict[str, set[int]] = defaultdict(set)
    for line in (line for day in chronicle.days for line in day.lines):
        whole[MARK.sub("", line.summary).casefold().strip()].append(line.number)
        for clause in (
            clause for part in (line.summary, line.text) for clause in MARK.split(part.casefold())
        ):
            words = "".join(c if c.isalnum() or c == "'" else " " for c in clause).split()
            for five in zip(*(words[n:] for n in range(5)), strict=False):
                runs[five].append(line.number)
        if line.category == "reader" and (shown := pages(line.title)):
            sizes[in_focus("reader", line.title) or ""].add(shown[1])
    for five, lines in runs.items():
        if len(lines) > 2:
            yield Fault(lines[0], f"{' '.join(five)!a} comes {len(lines)} times: lines {lines}")
    for summary, lines in whole.items():
        if summary and len(lines) > (1 if len(summary.split()) > 2 else 3):
            yield Fault(lines[0], f"{summary!a} is said {len(lines)} times: lines {lines}")
    for name, counts in sizes.items():
        if len(counts) > 1:
            yield Fault(0, f"{name} has {' and '.join(map(str, sorted(counts)))} pages")
    plots = chronicle.plots
    asked = Counter((plot.kind, ask) for plot in plots for ask in plot.asks.values())
    yield from (Fault(0, f"asked {n} times: {ask}") for (_, ask), n in asked.items() if n > 1)
    things = Counter(plot.thing for plot in plots)
    yield from (
        Fault(0, f"{thing!a} is the thing of {n} scenes") for thing, n in things.items() if n > SAME_THING
    )


def remark_faults(chronicle: Chronicle) -> Iterator[Fault]:
    """Remarks that are said twice, that are too long where they stand, and values whose two kinds of wordings
    share what tells them."""
    texts: Counter[str] = Counter()
    for day in chronicle.days:
        for plot in day.plots:
            lines = day.lines[plot.first : plot.last + 1]
            for (attribute, value), pair in plot.remarks.items():
                texts.update(pair)
                mark = f"{{{attribute}}}"
                for room in (line_room(line, mark) for line in lines if attribute in line.remarks):
                    yield from (
                        Fault(
                            plot.number,
                            f"{attribute} {value} is {len(text) - room} letters too long: {text}",
                        )
                        for text in pair
                        if len(text) > room
                    )
    yield from (Fault(0, f"said {n} times: {text}") for text, n in texts.items() if n > 1)
    for shared in shared_words(chronicle):
        if shared.texts >= FEW_TEXTS and shared.share > MOST_SHARED:
            words = ", ".join(shared.words[:8])
            yield Fault(
                0,
                f"{shared.attribute} {shared.value}: {shared.share:.2f} of one kind of wordings have a "
                f"word that tells the value in both kinds, {MOST_SHARED} may: {words}",
            )


def hints(chronicle: Chronicle) -> Iterator[Fault]:
    """What may be right all the same: names that do not occur, or are words as well."""
    text = chronicle.text
    words, spelled = words_of(text), set(text.split())
    for person in (*chronicle.staff, *chronicle.outside):
        for name in (person.first, person.last):
            if name.casefold() not in words:
                yield Fault(0, f"{name} does not occur")
            elif name.lower() in spelled:
                yield Fault(0, f"{name.lower()} also stands in lower case: is it the name?")
