"""What may be wrong with one piece of syntax."""

from __future__ import annotations

import ast
import copy
import re
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
WORD = re.compile(r"\S+")


@dataclass(frozen=True, slots=True)
class Change:
    """`node`, or all from there to `last`, becomes `after`."""

    kind: str
    node: ast.AST
    after: ast.AST | str
    last: ast.AST | None = None


def _changed(node: Any, **fields: Any) -> Any:
    new = copy.copy(node)
    for name, value in fields.items():
        setattr(new, name, value)
    return new


def _without(values: list[Any], index: int) -> list[Any]:
    return values[:index] + values[index + 1 :]


def changes_of(node: Any) -> Iterator[Change]:
    """The faults of this node alone, not those of what it holds."""
    match node:
        case ast.expr():
            yield from _expression(node)
        case ast.stmt():
            yield from _statement(node)
        case ast.ExceptHandler():
            if not isinstance(node.body[0], ast.Raise) or node.body[0].exc is not None:
                yield Change("handler", node.body[0], "raise", node.body[-1])
            if isinstance(node.type, ast.Tuple):
                for index in range(len(node.type.elts)):
                    left = _changed(node.type, elts=_without(node.type.elts, index))
                    yield Change("handled", node.type, left)
        case _:
            return


def _statement(node: Any) -> Iterator[Change]:
    match node:
        case ast.Expr() if not isinstance(node.value, ast.Yield):
            yield Change("statement", node, "pass")
        case ast.Raise() | ast.Continue() | ast.Break() | ast.AugAssign() | ast.Delete():
            yield Change("statement", node, "pass")
        case ast.Assign(targets=[ast.Attribute() | ast.Subscript()]):
            yield Change("statement", node, "pass")
        case ast.Return() if node.value is not None and ast.unparse(node.value) != "None":
            yield Change("return", node, "return None")
        case ast.If():
            yield from _forced(node.test)
        case ast.While() if ast.unparse(node.test) != "True":
            yield Change("condition", node.test, ast.Constant(False))
        case _:
            return
    if isinstance(node, ast.AugAssign) and (other := ARITHMETIC.get(type(node.op))):
        yield Change("arithmetic", node, _changed(node, op=other()))


def _forced(test: ast.expr) -> Iterator[Change]:
    for value in (True, False):
        yield Change("condition", test, ast.Constant(value))


def _expression(node: Any) -> Iterator[Change]:
    match node:
        case ast.Compare(ops=[op]):
            yield Change("comparison", node, _changed(node, ops=[COMPARISONS[type(op)]()]))
        case ast.Compare():
            for index, op in enumerate(node.ops):
                ops = [*node.ops[:index], COMPARISONS[type(op)](), *node.ops[index + 1 :]]
                yield Change("comparison", node, _changed(node, ops=ops))
        case ast.BoolOp():
            for index in range(len(node.values)):
                values = _without(node.values, index)
                yield Change(
                    "operand", node, values[0] if len(values) == 1 else _changed(node, values=values)
                )
        case ast.UnaryOp(op=ast.Not()):
            yield Change("not", node, node.operand)
        case ast.BinOp() if other := ARITHMETIC.get(type(node.op)):
            yield Change("arithmetic", node, _changed(node, op=other()))
        case ast.IfExp():
            yield Change("condition", node, node.body)
            yield Change("condition", node, node.orelse)
        case ast.Lambda():
            yield Change("return", node, _changed(node, body=ast.Constant(None)))
        case ast.Constant():
            yield from _constant(node)
        case ast.Call():
            yield from _call(node)
        case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
            for index, loop in enumerate(node.generators):
                if loop.ifs:
                    loops = [*node.generators[:index], _changed(loop, ifs=[]), *node.generators[index + 1 :]]
                    yield Change("condition", node, _changed(node, generators=loops))
        case ast.List(ctx=ast.Load()) | ast.Set() | ast.Tuple(ctx=ast.Load()) if 1 < len(node.elts) <= 12:
            for index in range(len(node.elts)):
                yield Change("element", node, _changed(node, elts=_without(node.elts, index)))
        case ast.Dict() if len(node.keys) <= 12:
            for index in range(len(node.keys)):
                left = _changed(node, keys=_without(node.keys, index), values=_without(node.values, index))
                yield Change("element", node, left)
        case ast.Subscript(slice=ast.Slice(), ctx=ast.Load()):
            yield Change("slice", node, node.value)
        case _:
            return


def _constant(node: ast.Constant) -> Iterator[Change]:
    match node.value:
        case bool() as value:
            yield Change("constant", node, ast.Constant(not value))
        case int() | float() as value:
            yield Change("constant", node, ast.Constant(value + 1))
        case str() as value if WORD.fullmatch(value):
            yield Change("constant", node, ast.Constant(""))
        case _:
            return


def _call(node: ast.Call) -> Iterator[Change]:
    name = (
        ast.unparse(node.func).rpartition(".")[2] if isinstance(node.func, ast.Name | ast.Attribute) else ""
    )
    if isinstance(node.func, ast.Name) and node.func.id in FUNCTIONS:
        yield Change("function", node, _changed(node, func=ast.Name(FUNCTIONS[node.func.id])))
    if isinstance(node.func, ast.Attribute) and name in PLAIN_METHODS:
        yield Change("method", node, node.func.value)
    if len(node.args) == WITH_FALLBACK.get(name):
        yield Change("argument", node, _changed(node, args=node.args[:-1]))
    for index, keyword in enumerate(node.keywords):
        if keyword.arg is not None:
            yield Change("argument", node, _changed(node, keywords=_without(node.keywords, index)))
