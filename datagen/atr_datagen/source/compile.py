"""Persona sources to episodes: the same bytes on every run."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from atr_data.constants import CONFIRMATION
from atr_data.errors import DataError
from atr_data.files import write_atomic
from atr_datagen.drawn_tools import drawn_tools
from atr_datagen.source.document import Document, SourceError, UnreadableSource, nearest
from atr_datagen.source.grammar import Problems, Source, SourceFile
from atr_datagen.source.header_checks import check_headers
from atr_datagen.source.mirror import Salt, with_second_faces
from atr_datagen.source.scenario import LearningScenario, TestScenario, read_learning, read_test
from atr_datagen.source.world import World

SOURCE_VERSION = "1.0.0"
"""Semantic version of the sources: major when a gold changes, minor for added items, patch for wording."""


@dataclass(frozen=True, slots=True)
class Compiled:
    document: Document
    source: Source
    tests: Sequence[TestScenario]
    learning: Sequence[LearningScenario]
    episode: Mapping[str, Any]

    @property
    def file_name(self) -> str:
        return f"{self.episode['episode_id']}.json"


def compile_sources(
    sources: Path | Sequence[Path],
    out: Path,
    seed: int = 0,
    only: Sequence[str] | None = None,
    salt: Salt | None = None,
) -> list[Path]:
    """Compiles source files, and those in folders, into `out` and returns the files written.

    `only` keeps the named personas; `salt` draws the faces of mirrored rules. Raises SourceError with all
    that is wrong in any of them, or DataError when there is nothing to compile or `out` cannot be written;
    nothing is written then.
    """
    return write_episodes(read_sources(sources, seed, only, salt), out)


def write_episodes(compiled: Iterable[Compiled], out: Path) -> list[Path]:
    """Writes the episodes into a folder and returns the files. Raises DataError when it cannot be written."""
    texts = {c.file_name: episode_text(c.episode) for c in compiled}
    try:
        out.mkdir(parents=True, exist_ok=True)
        for name, text in texts.items():
            write_atomic(out / name, text)
    except OSError as error:
        raise DataError(f"cannot be written: {error.strerror or error}", path=out) from error
    return [out / name for name in texts]


def read_sources(
    sources: Path | Sequence[Path],
    seed: int = 0,
    only: Sequence[str] | None = None,
    salt: Salt | None = None,
) -> list[Compiled]:
    """Source files, and those in folders, with their episodes, in the order of the file names.

    Raises SourceError or DataError as compile_sources does.
    """
    compiled: list[Compiled] = []
    failures: list[SourceError] = []
    for path in _files(sources, only):
        try:
            compiled.append(compile_source(SourceFile.read(path), seed, salt))
        except SourceError as error:
            failures.append(error)
    if failures:
        unreadable = any(isinstance(failure, UnreadableSource) for failure in failures)
        raise (UnreadableSource if unreadable else SourceError)(
            problem for failure in failures for problem in failure.problems
        )
    return compiled


def _files(sources: Path | Sequence[Path], only: Sequence[str] | None) -> list[Path]:
    given = [sources] if isinstance(sources, Path) else sources
    found = {file.stem: file for path in given for file in (path.glob("*.yaml") if path.is_dir() else [path])}
    if not found:
        raise DataError("no persona sources (*.yaml) here", path=next(iter(given), None))
    for name in only or found:
        if name not in found:
            raise DataError(f"no source of {name!r}; {nearest(name, found)}", path=next(iter(given), None))
    return [found[name] for name in sorted(only or found)]


def episode_text(episode: Mapping[str, Any]) -> str:
    return json.dumps(episode, indent=1, ensure_ascii=False)


def compile_source(file: SourceFile, seed: int = 0, salt: Salt | None = None) -> Compiled:
    """Raises SourceError with all that does not fit together."""
    compiled = _compile(file.document, file.source, seed)
    return compiled if salt is None else _drawn(compiled, seed, salt)


def show_second_faces(compiled: Compiled, seed: int, rule_ids: Collection[str]) -> Compiled:
    """Those rules, and so their tests, on their second face. Raises SourceError when one cannot be shown."""
    return _compile(compiled.document, with_second_faces(compiled.source, rule_ids), seed)


def _drawn(compiled: Compiled, seed: int, salt: Salt) -> Compiled:
    """The faces that the salt draws. Id and file name tell the set from the public one; which faces it shows
    is left out, and only committed to."""
    shown = {t.rule_id: salt.draws_second(t.rule_id) for t in compiled.tests if t.rule.mirror}
    drawn = show_second_faces(compiled, seed, [rule_id for rule_id, second in shown.items() if second])
    episode = dict(drawn.episode)
    episode["episode_id"] = f"{drawn.source.persona.id}_mirror_seed{seed:03d}"
    episode["metadata"] = {**episode["metadata"], "faces": salt.commitment(shown)}
    return replace(drawn, episode=episode)


def _compile(document: Document, source: Source, seed: int) -> Compiled:
    problems = Problems(document)
    if Path(document.file).stem != source.persona.id:
        problems.add(("persona", "id"), f"should be the name of the file; is {source.persona.id!r}")
    check_headers(source, problems)
    problems.raise_any()
    persona = source.persona.id
    tests = [
        read_test(rule, rule_id, index, seed, persona, problems)
        for index, (rule, rule_id) in enumerate(zip(source.rules, source.rule_ids(), strict=True))
    ]
    learning = [
        read_learning(block, index, seed, persona, problems) for index, block in enumerate(source.learning)
    ]
    problems.raise_any()
    return Compiled(document, source, tests, learning, _episode(source, tests, learning, seed))


def _episode(
    source: Source, tests: Sequence[TestScenario], learning: Sequence[LearningScenario], seed: int
) -> dict[str, Any]:
    persona = source.persona
    return {
        "episode_id": f"{persona.id}_seed{seed:03d}",
        "persona_id": persona.id,
        "raw_persona": {
            "persona_id": persona.id,
            "narrative": persona.narrative.strip(),
            "general_domain": str(persona.facts.get("occupation", "")),
            "specific_domain": "",
        },
        "structured_persona": {"name": persona.name, "demographics": persona.facts},
        "rules": [_rule(test) for test in tests],
        "learning_sessions": [_learning(session) for session in learning],
        "test_sessions": [_test(test) for test in tests],
        "metadata": _metadata(tests, learning, seed),
    }


def _rule(test: TestScenario) -> dict[str, Any]:
    rule = test.rule
    confirm = rule.type == "confirm"
    return {
        "rule_text": rule.text,
        "canonical_answer": rule.answer,
        "counterfactual_default": rule.default,
        "evidence": _dump(rule.evidence),
        "check_type": rule.type,
        "action_step": {
            "tool": CONFIRMATION if confirm else rule.tool,
            "param": rule.tool if confirm else rule.parameter,
        },
        "rule_id": test.rule_id,
    }


def _learning(session: LearningScenario) -> dict[str, Any]:
    gold = [step.gold for step in session.steps]
    return {
        "session_id": session.session_id,
        "session_type": "learning",
        "day_offset": session.block.day,
        "domain": session.block.domain,
        "reason_for_call": session.block.open,
        "task_params": dict(session.know),
        "expected_tools": list(dict.fromkeys(step.tool for step in gold)),
        "gold_trajectory": _dump(gold),
        "local_env": _local_env(session.block.domain, session.world),
    }


def _test(test: TestScenario) -> dict[str, Any]:
    rule, required = test.rule, test.required
    compared = rule.type in ("param_id", "param_enum")
    labels: dict[str, Any] = {"task_success": {"required_actions": _dump([required])}}
    if test.target:
        labels["target"] = dict(test.target)
    return {
        "instruction": rule.test.say,
        "gold_value": required.arguments[str(rule.parameter)] if compared else None,
        "session_id": f"{test.rule_id}_test",
        "session_type": "test",
        "domain": rule.domain,
        "rule_id": test.rule_id,
        "rule_ref": {"rule_id": test.rule_id, "rule_text": rule.text, "canonical_answer": rule.answer},
        "local_env": _local_env(rule.domain, test.world),
        "labels": labels,
    }


def _local_env(domain: str, world: World) -> dict[str, Any]:
    tools = [*(tool.name for tool in drawn_tools(domain)), CONFIRMATION]
    return {"tools": tools, "references": _dump(world.references)}


def _metadata(
    tests: Sequence[TestScenario], learning: Sequence[LearningScenario], seed: int
) -> dict[str, Any]:
    used = [{step.gold.tool for step in session.steps} for session in learning]
    golds = {test.rule.tool for test in tests}
    signal = sum(bool(tools & golds) for tools in used)
    exercised = set[str]().union(*used)
    return {
        "seed": seed,
        "K": len(learning),
        "signal_count": signal,
        "noise_count": len(learning) - signal,
        "trajectory_length": len(learning),
        "all_test_rules": [test.rule_id for test in tests],
        "selected_rules": [test.rule_id for test in tests if test.rule.tool in exercised],
        "source_version": SOURCE_VERSION,
    }


def _dump(models: Iterable[BaseModel]) -> list[dict[str, Any]]:
    return [model.model_dump() for model in models]
