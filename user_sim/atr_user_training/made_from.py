"""What the weights are made from: the data, and the modules that training and features run through. Recorded
beside the weights, so that a change without new weights is noticed."""

from __future__ import annotations

import ast
import hashlib
import json
import platform
from collections.abc import Iterator, Mapping
from importlib.util import find_spec
from pathlib import Path

from atr_user_sim.calibration.records import DATA
from atr_user_sim.offline.head import WEIGHTS

RECORD = WEIGHTS / "made_from.json"

_PROGRAMS = ("atr_user_training.train_router", "atr_user_training.train_matcher")
_ROOMS = ("atr_user_training.", "atr_user_sim.offline.", "atr_data.english.")


def made_from() -> dict[str, str]:
    """Digests by module or file, and the Python version, on which the form of a module depends."""
    found = {module: digest_of_code(file) for module, file in _modules()}
    found |= {file.name: _digest(file.read_bytes()) for file in sorted(DATA.glob("*.jsonl"))}
    dictionary = Path(_file("atr_data.english.words")).with_name("dictionary.yaml")
    found[dictionary.name] = _digest(dictionary.read_bytes())
    return found | {"python": ".".join(platform.python_version_tuple()[:2])}


def recorded() -> Mapping[str, str]:
    return json.loads(RECORD.read_text(encoding="utf-8"))


def record(folder: Path) -> None:
    text = json.dumps(made_from(), indent=1, sort_keys=True) + "\n"
    (folder / RECORD.name).write_text(text, encoding="utf-8")


def _modules() -> Iterator[tuple[str, Path]]:
    """The programs and all that they import of these rooms, themselves or through others."""
    waiting: list[str] = list(_PROGRAMS)
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
