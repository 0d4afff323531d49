"""What the weights are made from: the data, and the modules that training and features run through. Recorded
beside the weights, so that a change without new weights is noticed; for the tuned encoder by itself, since
tuning takes long."""

from __future__ import annotations

import ast
import hashlib
import json
import platform
from collections.abc import Iterator, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path

from atr_user_sim.calibration.records import DATA
from atr_user_sim.offline.head import WEIGHTS
from atr_user_sim.offline.minilm import TUNING
from atr_user_training.tunings import folder, left_out

RECORD, TUNING_RECORD = WEIGHTS / "made_from.json", WEIGHTS / "tuned_from.json"

_PROGRAMS = ("atr_user_training.train_router", "atr_user_training.train_matcher")
_TUNING = "atr_user_training.tune_encoder"
_TUNED_ON = ("statements", "lines", "questions", "agent_questions")
_ROOMS = ("atr_user_training.", "atr_user_sim.offline.", "atr_data.english.")


def made_from() -> dict[str, str]:
    """Digests by module or file, and the Python version, on which the form of a module depends."""
    dictionary = Path(_file("atr_data.english.words")).with_name("dictionary.yaml")
    found = _digests(_PROGRAMS, [*sorted(DATA.glob("*.jsonl")), dictionary])
    tunings = {"_".join(without): folder(without) / TUNING for without in left_out()}
    return found | {f"tuning {name}".strip(): _digest(file.read_bytes()) for name, file in tunings.items()}


def tuned_from() -> dict[str, str]:
    return _digests([_TUNING], [DATA / f"{name}.jsonl" for name in _TUNED_ON])


def recorded(file: Path) -> Mapping[str, str]:
    return json.loads(file.read_text(encoding="utf-8"))


def record(weights: Path) -> None:
    _write(weights / RECORD.name, made_from())


def record_tuning() -> None:
    _write(TUNING_RECORD, tuned_from())


def _write(file: Path, found: Mapping[str, str]) -> None:
    file.write_text(json.dumps(found, indent=1, sort_keys=True) + "\n", encoding="utf-8")


def _digests(programs: Sequence[str], data: Sequence[Path]) -> dict[str, str]:
    found = {module: digest_of_code(file) for module, file in _modules(programs)}
    found |= {file.name: _digest(file.read_bytes()) for file in data}
    return found | {"python": ".".join(platform.python_version_tuple()[:2])}


def _modules(programs: Sequence[str]) -> Iterator[tuple[str, Path]]:
    """The programs and all that they import of these rooms, themselves or through others."""
    waiting: list[str] = list(programs)
    seen: set[str] = set()
    while waiting:
        module = waiting.pop()
        if module in seen:
            continue
        seen.add(module)
        file = Path(_file(module))
        yield module, file
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith(_ROOMS):
                waiting.append(node.module)


def _file(module: str) -> str:
    found = find_spec(module)
    assert found and found.origin, module
    return found.origin


def digest_of_code(file: Path) -> str:
    """Of a module without comments, layout and docstrings."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            node.body = [statement for statement in node.body if not _is_text(statement)] or [ast.Pass()]
    return _digest(ast.unparse(ast.fix_missing_locations(tree)).encode())


def _is_text(statement: ast.stmt) -> bool:
    return (
        isinstance(statement, ast.Expr)
        and isinstance(statement.value, ast.Constant)
        and isinstance(statement.value.value, str)
    )


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:16]
