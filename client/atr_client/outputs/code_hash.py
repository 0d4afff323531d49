"""The digest of the code that decides what a session does.

It covers whole folders, so that a new file always counts. A Python file counts by its syntax tree, so that a
comment, a docstring or the interpreter's version does not; everything else by its bytes.
"""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from importlib.resources import files
from pathlib import Path, PurePosixPath
from threading import Lock
from typing import cast

SESSION_CODE: Mapping[str, Sequence[str]] = {
    "atr_ontology": ("*",),
    "atr_data": ("*", "!episodes", "!select.py", "!validate.py"),
    "atr_servers": ("*", "!cli", "!hosts"),
    "atr_memory": ("*",),
    "atr_user_sim": ("*", "!calibration"),
    "atr_client": ("session", "cell", "agents", "models", "gateway"),
}
"""Per package the folders and files at its top that count; `*` is all of them but those behind a `!`."""

_PARSING = Lock()
"""CPython 3.11 counts how deep it is in a tree for all threads together, and fails when two parse at once."""

_NOT_CODE = frozenset({"ctx", "kind", "type_comment", "type_ignores"})
_SHOWN_TO_MODELS = ("Model", "Arguments")
"""Classes that derive from one so named become a schema, whose description is their docstring."""


def code_hash(code: Mapping[str, Sequence[str]] = SESSION_CODE) -> str:
    """`src` and 12 hex digits over the installed sources, by default those of the episodes' sessions."""
    digest = hashlib.sha256()
    for package, chosen in code.items():
        root = Path(str(files(package)))
        for path in counted(root, chosen):
            digest.update(f"{package}/{path.relative_to(root).as_posix()}\0".encode())
            status = path.stat()
            digest.update(_content(path, status.st_mtime_ns, status.st_size))
    return f"src{digest.hexdigest()[:12]}"


def counted(root: Path, chosen: Sequence[str]) -> Iterator[Path]:
    """The files below `root` that count, in order."""
    left_out = {name[1:] for name in chosen if name.startswith("!")}
    for path in sorted(root.rglob("*"), key=lambda p: p.relative_to(root).as_posix()):
        inside = PurePosixPath(path.relative_to(root).as_posix())
        top = inside.parts[0]
        if "__pycache__" in inside.parts or top in left_out or not path.is_file():
            continue
        if "*" in chosen or top in chosen:
            yield path


@lru_cache(maxsize=1024)
def _content(path: Path, changed_ns: int, size: int) -> bytes:
    return content(path)


def content(path: Path) -> bytes:
    """What counts of a file."""
    if path.suffix != ".py":
        return path.read_bytes()
    return normal_form(path.read_text(encoding="utf-8")).encode("utf-8", "surrogatepass")


def normal_form(source: str) -> str:
    """A program as text that depends on its syntax tree alone, and not on the interpreter that reads it.

    `ast.dump` will not do: what it prints of empty fields changed with Python 3.13. Python 3.12 ends some
    format specifications with an empty text.
    """
    parts: list[str] = []
    with _PARSING:
        tree = ast.parse(source)
    _write(tree, parts)
    return "".join(parts)


def _write(value: object, parts: list[str]) -> None:
    if isinstance(value, ast.AST):
        parts.append(f"({type(value).__name__}")
        for name in value._fields:
            if name in _NOT_CODE or (field := getattr(value, name, None)) is None:
                continue
            if name == "body" and _has_idle_docstring(value):
                field = field[1:]
            elif name == "values" and isinstance(value, ast.JoinedStr):
                field = [part for part in field if not _is_empty_text(part)]
            if field != []:
                parts.append(f" {name}=")
                _write(field, parts)
        parts.append(")")
    elif isinstance(value, list):
        parts.append("[")
        for item in cast(list[object], value):
            _write(item, parts)
        parts.append("]")
    else:
        parts.append(f"<{type(value).__name__} {value!r}>")


def _is_empty_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and node.value == ""


def _has_idle_docstring(node: ast.AST) -> bool:
    """Whether the node begins with a docstring that no model can come to see."""
    if not isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
        return False
    if ast.get_docstring(node, clean=False) is None:
        return False
    if isinstance(node, ast.ClassDef):
        return not any(ast.unparse(base).endswith(_SHOWN_TO_MODELS) for base in node.bases)
    return True
