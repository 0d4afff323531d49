"""Reading the remarks of a chronicle: what states a value at each place where one is stated."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from atr_data.reading import read_text
from atr_data.timing.faults import TimingError
from atr_datagen.timing.chronicle import Chronicle, Fault, Kind, Plot
from atr_datagen.timing.read_chronicle import said_faults

Pair = tuple[str, str]
"""Two wordings of a value at its place, of which a set shows one on its first days and one on its last."""

Values = Mapping[str, Sequence[str]]


@dataclass(slots=True)
class _Scene:
    number: int
    remarks: dict[tuple[str, str], Pair] = field(default_factory=lambda: dict[tuple[str, str], Pair]())


def with_remarks(chronicle: Chronicle, path: Path, kinds: Mapping[str, Kind], values: Values) -> Chronicle:
    """The chronicle with the remarks of a file. Raises TimingError `bad_config` with the first line that is
    wrong."""
    found, faults = parse_remarks(chronicle, path, kinds, values)
    if faults:
        raise TimingError("bad_config", faults[0].reason, path=path, line=faults[0].line or None)
    return found


def parse_remarks(
    chronicle: Chronicle, path: Path, kinds: Mapping[str, Kind], values: Values
) -> tuple[Chronicle, list[Fault]]:
    """The chronicle with the remarks as far as they can be read, and all that is wrong with them: first lines
    that cannot be read, then what is missing."""
    faults: list[Fault] = []
    scenes: dict[str, _Scene] = {}
    current: _Scene | None = None
    for number, raw in enumerate(read_text(path).splitlines(), start=1):
        line = raw.strip()
        if not line or line.startswith("#"):
            continue
        if line.startswith("<<"):
            name = " | ".join(part.strip() for part in line[2:].split("|"))
            if name in scenes:
                faults.append(Fault(number, f"{name!a} has remarks already, on line {scenes[name].number}"))
            current = scenes[name] = _Scene(number)
        elif current is None:
            faults.append(Fault(number, "a remark stands before the first '<< KIND | THING, DETAIL'"))
        else:
            faults.extend(_take(current, number, line))
    known = {plot.name for plot in chronicle.plots}
    faults.extend(
        Fault(scene.number, f"no scene of the chronicle is {name!a}")
        for name, scene in scenes.items()
        if name not in known
    )
    days = tuple(
        replace(day, plots=tuple(_joined(plot, scenes, kinds, values, faults) for plot in day.plots))
        for day in chronicle.days
    )
    return replace(chronicle, days=days), faults


def _take(scene: _Scene, number: int, line: str) -> list[Fault]:
    head, _, texts = line.partition(":")
    attribute, _, value = head.partition(" ")
    one, parted, other = (part.strip() for part in texts.partition("//"))
    if not (attribute and value and one and parted and other):
        return [Fault(number, "a remark is 'ATTRIBUTE VALUE: WORDING // OTHER WORDING'")]
    if (attribute, value) in scene.remarks:
        return [Fault(number, f"{attribute} {value} stands here twice")]
    scene.remarks[attribute, value] = (one, other)
    return [Fault(number, reason) for text in (one, other) for reason in said_faults(text)]


def _joined(
    plot: Plot, scenes: dict[str, _Scene], kinds: Mapping[str, Kind], values: Values, faults: list[Fault]
) -> Plot:
    scene = scenes.get(plot.name)
    if scene is None:
        faults.append(Fault(0, f"{plot.name!a} has no remarks"))
        return plot
    wanted = {(name, value) for name in kinds[plot.kind].attributes for value in values[name]}
    for attribute, value in sorted(wanted - scene.remarks.keys()):
        faults.append(Fault(scene.number, f"{attribute} {value} has no remark"))
    for attribute, value in sorted(scene.remarks.keys() - wanted):
        faults.append(Fault(scene.number, f"{plot.kind} states no {attribute} {value}"))
    return replace(plot, remarks=scene.remarks)
