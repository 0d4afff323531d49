"""Brings hand-written pools, lines, questions and turns into the calibration data, or into files to measure.

    python -m atr_user_training.import_raw --pools POOLS --questions QUESTIONS
    python -m atr_user_training.import_raw --pools POOLS --questions QUESTIONS --export FOLDER
    python -m atr_user_training.import_raw --whole PERSONAS --export FOLDER
    python -m atr_user_training.import_raw --official LINES

PERSONAS has a `<persona>.yaml` with all of it: who wrote what, the rules with the lines of two hands,
questions and turns. POOLS has a folder per writer with `<persona>.yaml`; QUESTIONS is one writer's folder, or
a folder of such, with `<persona>.jsonl`; only personas that have questions are read. A persona that is there
already is replaced. With `--export` nothing is added: FOLDER gets `classifier.jsonl`, `router.jsonl`,
`lines.json` with the lines of both hands and `first_hand.json` with those of the hand that wrote no question.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import yaml

from atr_user_sim.calibration.records import DATA
from atr_user_sim.lines import OFFICIAL_LINES

Record = dict[str, Any]

_FILES = ("statements", "lines", "questions", "turns")
_ABOUT = ("decision", "situation", "narrow", "beside")


def read_persona(pools: Path, questions: Path) -> dict[str, list[Record]]:
    """The four kinds of records of the persona that a file of questions is about."""
    name, writer = questions.stem, questions.parent.name
    found = sorted(pools.glob(f"*/{name}.yaml"))
    if len(found) != 1:
        raise SystemExit(f"{name}: expected one pool, found {len(found)}")
    hand = found[0].parent.name
    rules: list[Record] = yaml.safe_load(found[0].read_text(encoding="utf-8"))["rules"]
    raw = [json.loads(line) for line in questions.read_text(encoding="utf-8").splitlines() if line.strip()]
    records: dict[str, list[Record]] = {name: [] for name in _FILES}
    for rule in rules:
        about = _about(rule["about"])
        records["statements"].append(
            {"persona": name, "writer": hand, "rule": rule["id"], "domain": rule["domain"]}
            | {"statement": rule["answer"], "about": about}
        )
        records["lines"].append(_lines(name, hand, rule["id"], rule))
    for item in raw:
        match item["t"]:
            case "line":
                records["lines"].append(_lines(name, writer, item["rule"], item))
            case "q":
                asked = {"kind": item["kind"], "gold": item["gold"], "question": item["q"]}
                records["questions"].append({"persona": name, "writer": writer} | asked)
            case _:
                turn = {key: item[key] for key in ("kind", "span", "output", "reason")}
                records["turns"].append({"persona": name, "writer": writer} | turn)
    return records


def read_whole(file: Path) -> dict[str, list[Record]]:
    """The same of a file that has all of a persona."""
    raw: Record = yaml.safe_load(file.read_text(encoding="utf-8"))
    name, writers = raw["persona"], raw["writers"]
    first, second, asking = (f"{name}:{writers[part]}" for part in ("rules", "second", "questions"))
    statements = [
        {"persona": name, "writer": first, "rule": rule["id"], "domain": rule["domain"]}
        | {"statement": rule["answer"], "about": _about(rule["about"])}
        for rule in raw["rules"]
    ]
    lines = [
        _lines(name, hand, rule["id"], rule[part])
        for rule in raw["rules"]
        for part, hand in (("first", first), ("second", second))
    ]
    by = {"persona": name, "writer": asking}
    return {
        "statements": statements,
        "lines": lines,
        "questions": [
            by | {"kind": q["kind"], "gold": q["gold"], "question": q["q"]} for q in raw["questions"]
        ],
        "turns": [by | {key: t[key] for key in ("kind", "span", "output", "reason")} for t in raw["turns"]],
    }


def _about(source: Record) -> dict[str, list[str]]:
    """YAML takes a number, a date or `no` for something else than a word."""
    lists: dict[str, list[object]] = {key: source.get(key) or [] for key in _ABOUT}
    return {key: [str(term) for term in terms] for key, terms in lists.items()}


def _lines(persona: str, hand: str, rule: str, source: Record) -> Record:
    return {"persona": persona, "hand": hand, "rule": rule} | {
        key: source[key] for key in ("asked", "not_asked")
    }


def add(records: dict[str, list[Record]]) -> None:
    """Replaces what the calibration data has on these personas."""
    new = {record["persona"] for record in records["statements"]}
    for kind in _FILES:
        file = DATA / f"{kind}.jsonl"
        kept = [r for r in _read(file) if r["persona"] not in new] if file.exists() else []
        _write(file, sorted([*kept, *records[kind]], key=lambda record: record["persona"]))


def export(records: dict[str, list[Record]], folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    pools: dict[str, list[Record]] = {}
    for record in records["statements"]:
        statement = {"rule_id": record["rule"], "statement": record["statement"]}
        pools.setdefault(record["persona"], []).append(statement)
    _write(
        folder / "classifier.jsonl",
        [
            {"source": f"{r['persona']}_{number:03}", "kind": r["kind"], "rule_question_span": r["question"]}
            | {"gold_rule_id": r["gold"], "rule_pool": pools[r["persona"]]}
            for number, r in enumerate(records["questions"], start=1)
        ],
    )
    _write(
        folder / "router.jsonl",
        [
            {"source": f"{r['persona']}_{number:03}", "kind": r["kind"], "reason": r["reason"]}
            | {"output": r["output"], "gold_is_strict_rule_question": r["span"] is not None}
            | {"gold_rule_question_span": r["span"]}
            for number, r in enumerate(records["turns"], start=1)
        ],
    )
    hands = {record["writer"] for record in records["statements"]}
    _write_lines(folder / "lines.json", records["statements"], records["lines"])
    first = [record for record in records["lines"] if record["hand"] in hands]
    _write_lines(folder / "first_hand.json", records["statements"], first)


def import_official(folder: Path) -> None:
    """Lines for the official rules: a folder per hand; the first one has the word lists too."""
    found: dict[str, Record] = {}
    for file in sorted(folder.glob("*/*.yaml")):
        for rule, source in yaml.safe_load(file.read_text(encoding="utf-8")).items():
            entry = found.setdefault(rule, {"asked": {}, "not_asked": {}, "about": {}})
            _add_hand(entry, file.parent.name, source)
            if about := source.get("about"):
                entry["about"] = _about(about)
    _write_rules(OFFICIAL_LINES, found)


def _write_lines(file: Path, statements: Sequence[Record], lines: Sequence[Record]) -> None:
    found: dict[str, Record] = {
        r["rule"]: {"asked": {}, "not_asked": {}, "about": r["about"]} for r in statements
    }
    for line in lines:
        _add_hand(found[line["rule"]], line["hand"], line)
    _write_rules(file, found)


def _add_hand(entry: Record, hand: str, source: Record) -> None:
    for kind in ("asked", "not_asked"):
        entry[kind][hand] = source[kind]


def _write_rules(file: Path, rules: dict[str, Record]) -> None:
    """One rule a line, so that a change shows as one."""
    entries = [f"{json.dumps(id_)}: {json.dumps(rules[id_], ensure_ascii=False)}" for id_ in sorted(rules)]
    file.write_text('{"rules": {\n' + ",\n".join(entries) + "\n}}\n", encoding="utf-8")


def _read(file: Path) -> list[Record]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").split("\n") if line.strip()]


def _write(file: Path, records: Iterable[Record]) -> None:
    lines = [json.dumps(record, ensure_ascii=False) + "\n" for record in records]
    file.write_text("".join(lines), encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    for name in ("pools", "questions", "whole", "export", "official"):
        parser.add_argument(f"--{name}", type=Path)
    chosen = parser.parse_args()
    if chosen.official:
        import_official(chosen.official)
    if chosen.whole:
        found = [read_whole(file) for file in sorted(chosen.whole.glob("*.yaml"))]
        export({kind: [r for one in found for r in one[kind]] for kind in _FILES}, chosen.export)
    if chosen.questions:
        files = sorted(chosen.questions.glob("*.jsonl")) or sorted(chosen.questions.glob("*/*.jsonl"))
        records: dict[str, list[Record]] = {kind: [] for kind in _FILES}
        for file in files:
            for kind, found in read_persona(chosen.pools, file).items():
                records[kind] += found
        if chosen.export:
            export(records, chosen.export)
        else:
            add(records)


if __name__ == "__main__":
    main()
