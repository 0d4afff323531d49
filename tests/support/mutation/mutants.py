"""The small faults of one module.

Code alone is changed: no docstring, annotation, type alias, `__all__`, f-string or text with a blank, no
cache, and nothing that is raised or logged.
"""

from __future__ import annotations

import ast
import hashlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from tests.support.mutation.faults import Change, changes_of

KEPT_DECORATORS = {
    "property",
    "staticmethod",
    "classmethod",
    "dataclass",
    "overload",
    "abstractmethod",
    "contextmanager",
}
KEPT_DECORATORS |= {"asynccontextmanager", "runtime_checkable", "override"}
KEPT_DECORATORS |= {"cache", "lru_cache"}
GENERIC = {"Literal", "Callable", "Awaitable", "dict", "list", "set", "tuple", "Counter", "deque"}
LOGGERS = {"log", "_log", "logger", "_logger"}


@dataclass(frozen=True, slots=True)
class Mutant:
    """One fault: `text[start:end]` of the module becomes `after`.

    `in_function` says that the code is run by a call, not by the import of the module.
    """

    path: str
    line: int
    last_line: int
    where: str
    kind: str
    start: int
    end: int
    before: str
    after: str
    in_function: bool
    key: str

    def apply(self, text: str) -> str:
        return text[: self.start] + self.after + text[self.end :]


def mutants_of(path: str, text: str) -> list[Mutant]:
    """All faults of a module in the order of its lines. Some of them may be no Python any more."""
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    lines = text.splitlines(keepends=True)

    def offset(line: int, column: int) -> int:
        return starts[line - 1] + len(lines[line - 1].encode()[:column].decode())

    found: list[Mutant] = []
    seen: Counter[str] = Counter()
    texts: set[tuple[int, int, str]] = set()
    for change, where, in_function in _Walk().changes(ast.parse(text)):
        node: Any = change.node
        last: Any = change.last or node
        start = offset(node.lineno, node.col_offset)
        end = offset(last.end_lineno, last.end_col_offset)
        after = change.after if isinstance(change.after, str) else ast.unparse(change.after)
        if isinstance(change.after, ast.expr) and not isinstance(
            change.after, ast.Constant | ast.Name | ast.Tuple
        ):
            after = f"({after})"
        if (start, end, after) in texts:
            continue
        texts.add((start, end, after))
        name = "\0".join((path, where, change.kind, text[start:end], after))
        seen[name] += 1
        key = hashlib.sha256(f"{name}\0{seen[name]}".encode()).hexdigest()[:12]
        mutant = Mutant(
            path,
            node.lineno,
            last.end_lineno,
            where,
            change.kind,
            start,
            end,
            text[start:end],
            after,
            in_function,
            key,
        )
        found.append(mutant)
    return found


class _Walk:
    """Visits what may be changed, and knows in which function it is."""

    def __init__(self) -> None:
        self._names: list[str] = []
        self._depth = 0

    def changes(self, node: ast.AST) -> Iterator[tuple[Change, str, bool]]:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield from self._definition(node)
            return
        if isinstance(node, ast.JoinedStr | ast.Assert | ast.Import | ast.ImportFrom | ast.arg):
            return
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            return
        if _is_logging(node) or _is_type(node) or _is_export(node):
            return
        for change in changes_of(node):
            yield change, ".".join(self._names), self._depth > 0
        if isinstance(node, ast.Raise):
            return
        for name, value in ast.iter_fields(node):
            if name == "annotation":
                continue
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, ast.AST) and not _is_text(child):
                    yield from self.changes(child)

    def _definition(
        self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
    ) -> Iterator[tuple[Change, str, bool]]:
        self._names.append(node.name)
        depth, self._depth = self._depth, 0
        for decorator in node.decorator_list:
            called = decorator.func if isinstance(decorator, ast.Call) else decorator
            if ast.unparse(called).rpartition(".")[2] not in KEPT_DECORATORS | {"setter"}:
                yield Change("decorator", decorator, "(lambda it: it)"), ".".join(self._names), False
        if not isinstance(node, ast.ClassDef):
            for default in [*node.args.defaults, *node.args.kw_defaults]:
                if default is not None:
                    yield from self.changes(default)
            self._depth = depth + 1
        for statement in node.body:
            if not _is_text(statement):
                yield from self.changes(statement)
        self._depth = depth
        self._names.pop()


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _is_type(node: ast.AST) -> bool:
    """What only a type checker reads: `Literal["a", "b"]`, `dict[str, int]`, `TypeVar("T")`."""
    match node:
        case ast.Subscript(value=ast.Name(id=name)):
            return name in GENERIC
        case _:
            return isinstance(node, ast.Call) and ast.unparse(node.func) == "TypeVar"


def _is_export(node: ast.AST) -> bool:
    return isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__"


def _is_logging(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and ast.unparse(node.func).partition(".")[0] in LOGGERS
