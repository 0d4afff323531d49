"""The small faults of one module.

Code alone is changed: no docstring, annotation, f-string or text with a blank, and nothing that is raised or
logged.
"""

from __future__ import annotations

import ast
import copy
import hashlib
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

COMPARISONS = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
ARITHMETIC = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Div,
    ast.Mod: ast.Mult,
    ast.BitOr: ast.BitAnd,
    ast.BitAnd: ast.BitOr,
}
FUNCTIONS = {"min": "max", "max": "min", "any": "all", "all": "any", "sorted": "list", "reversed": "list"}
WITH_FALLBACK = {"get": 2, "pop": 2, "next": 2, "getattr": 3, "round": 2}
"""Functions whose last argument is a default, by the number of their arguments."""
PLAIN_METHODS = {"strip", "lstrip", "rstrip", "lower", "upper", "casefold", "copy"}
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
LOGGERS = {"log", "_log", "logger", "_logger"}
WORD = re.compile(r"\S+")


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


@dataclass(frozen=True, slots=True)
class _Change:
    kind: str
    node: ast.AST
    after: ast.AST | str
    last: ast.AST | None = None


def mutants_of(path: str, text: str) -> list[Mutant]:
    """All faults of a module in the order of its lines; those that are no Python any more are left out."""
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
        try:
            compile(mutant.apply(text), path, "exec", dont_inherit=True)
        except SyntaxError:
            continue
        found.append(mutant)
    return found


class _Walk:
    """Visits what may be changed, and knows in which function it is."""

    def __init__(self) -> None:
        self._names: list[str] = []
        self._depth = 0

    def changes(self, node: ast.AST) -> Iterator[tuple[_Change, str, bool]]:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield from self._definition(node)
            return
        if isinstance(node, ast.JoinedStr | ast.Assert | ast.Import | ast.ImportFrom | ast.arg):
            return
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            return
        for change in _changes_of(node):
            yield change, ".".join(self._names), self._depth > 0
        if isinstance(node, ast.Raise) or _is_logging(node):
            return
        for name, value in ast.iter_fields(node):
            if name == "annotation":
                continue
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, ast.AST) and not _is_text(child):
                    yield from self.changes(child)

    def _definition(
        self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
    ) -> Iterator[tuple[_Change, str, bool]]:
        self._names.append(node.name)
        depth, self._depth = self._depth, 0
        for decorator in node.decorator_list:
            called = decorator.func if isinstance(decorator, ast.Call) else decorator
            if ast.unparse(called).rpartition(".")[2] not in KEPT_DECORATORS | {"setter"}:
                yield _Change("decorator", decorator, "(lambda it: it)"), ".".join(self._names), False
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


def _is_logging(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and ast.unparse(node.func).partition(".")[0] in LOGGERS


def _changed(node: Any, **fields: Any) -> Any:
    new = copy.copy(node)
    for name, value in fields.items():
        setattr(new, name, value)
    return new


def _without(values: list[Any], index: int) -> list[Any]:
    return values[:index] + values[index + 1 :]


def _changes_of(node: Any) -> Iterator[_Change]:
    match node:
        case ast.expr():
            yield from _expression(node)
        case ast.stmt():
            yield from _statement(node)
        case ast.ExceptHandler():
            if not isinstance(node.body[0], ast.Raise) or node.body[0].exc is not None:
                yield _Change("handler", node.body[0], "raise", node.body[-1])
            if isinstance(node.type, ast.Tuple):
                for index in range(len(node.type.elts)):
                    left = _changed(node.type, elts=_without(node.type.elts, index))
                    yield _Change("handled", node.type, left)
        case _:
            return


def _statement(node: Any) -> Iterator[_Change]:
    match node:
        case ast.Expr() if not isinstance(node.value, ast.Yield):
            yield _Change("statement", node, "pass")
        case ast.Raise() | ast.Continue() | ast.Break() | ast.AugAssign() | ast.Delete():
            yield _Change("statement", node, "pass")
        case ast.Assign(targets=[ast.Attribute() | ast.Subscript()]):
            yield _Change("statement", node, "pass")
        case ast.Return() if node.value is not None and ast.unparse(node.value) != "None":
            yield _Change("return", node, "return None")
        case ast.If():
            yield from _forced(node.test)
        case ast.While() if ast.unparse(node.test) != "True":
            yield _Change("condition", node.test, ast.Constant(False))
        case _:
            return
    if isinstance(node, ast.AugAssign) and (other := ARITHMETIC.get(type(node.op))):
        yield _Change("arithmetic", node, _changed(node, op=other()))


def _forced(test: ast.expr) -> Iterator[_Change]:
    for value in (True, False):
        yield _Change("condition", test, ast.Constant(value))


def _expression(node: Any) -> Iterator[_Change]:
    match node:
        case ast.Compare(ops=[op]):
            yield _Change("comparison", node, _changed(node, ops=[COMPARISONS[type(op)]()]))
        case ast.Compare():
            for index, op in enumerate(node.ops):
                ops = [*node.ops[:index], COMPARISONS[type(op)](), *node.ops[index + 1 :]]
                yield _Change("comparison", node, _changed(node, ops=ops))
        case ast.BoolOp():
            for index in range(len(node.values)):
                values = _without(node.values, index)
                yield _Change(
                    "operand", node, values[0] if len(values) == 1 else _changed(node, values=values)
                )
        case ast.UnaryOp(op=ast.Not()):
            yield _Change("not", node, node.operand)
        case ast.BinOp() if other := ARITHMETIC.get(type(node.op)):
            yield _Change("arithmetic", node, _changed(node, op=other()))
        case ast.IfExp():
            yield _Change("condition", node, node.body)
            yield _Change("condition", node, node.orelse)
        case ast.Lambda():
            yield _Change("return", node, _changed(node, body=ast.Constant(None)))
        case ast.Constant():
            yield from _constant(node)
        case ast.Call():
            yield from _call(node)
        case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
            for index, loop in enumerate(node.generators):
                if loop.ifs:
                    loops = [*node.generators[:index], _changed(loop, ifs=[]), *node.generators[index + 1 :]]
                    yield _Change("condition", node, _changed(node, generators=loops))
        case ast.List(ctx=ast.Load()) | ast.Set() | ast.Tuple(ctx=ast.Load()) if 1 < len(node.elts) <= 12:
            for index in range(len(node.elts)):
                yield _Change("element", node, _changed(node, elts=_without(node.elts, index)))
        case ast.Dict() if len(node.keys) <= 12:
            for index in range(len(node.keys)):
                left = _changed(node, keys=_without(node.keys, index), values=_without(node.values, index))
                yield _Change("element", node, left)
        case ast.Subscript(slice=ast.Slice(), ctx=ast.Load()):
            yield _Change("slice", node, node.value)
        case _:
            return


def _constant(node: ast.Constant) -> Iterator[_Change]:
    match node.value:
        case bool() as value:
            yield _Change("constant", node, ast.Constant(not value))
        case int() | float() as value:
            yield _Change("constant", node, ast.Constant(value + 1))
        case str() as value if WORD.fullmatch(value):
            yield _Change("constant", node, ast.Constant(""))
        case _:
            return


def _call(node: ast.Call) -> Iterator[_Change]:
    name = (
        ast.unparse(node.func).rpartition(".")[2] if isinstance(node.func, ast.Name | ast.Attribute) else ""
    )
    if isinstance(node.func, ast.Name) and node.func.id in FUNCTIONS:
        yield _Change("function", node, _changed(node, func=ast.Name(FUNCTIONS[node.func.id])))
    if isinstance(node.func, ast.Attribute) and name in PLAIN_METHODS:
        yield _Change("method", node, node.func.value)
    if len(node.args) == WITH_FALLBACK.get(name):
        yield _Change("argument", node, _changed(node, args=node.args[:-1]))
    for index, keyword in enumerate(node.keywords):
        if keyword.arg is not None:
            yield _Change("argument", node, _changed(node, keywords=_without(node.keywords, index)))
