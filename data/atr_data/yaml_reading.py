"""YAML from outside: no key twice, no depth and no alias without bounds, one line for whatever is wrong."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import yaml
from yaml.constructor import ConstructorError, SafeConstructor

from atr_data.reading import LONGEST_INTEGER, MAX_NESTING, TOO_DEEP, StrPath, Unreadable, read_text

MAX_YAML_BYTES = 4 * 2**20
"""Size of a file."""

MAX_EXPANSION = 8 * 2**20
"""Characters and values of a file once every alias is written out."""


class NotYaml(Unreadable):
    """Text that does not follow the grammar, or a value that is none of its kind."""


_FAILURES = (ValueError, ArithmeticError, TypeError, LookupError, AttributeError)
"""What the construction of a value that is none of its kind raises."""


def read_yaml(path: StrPath) -> Any:
    """Values by YAML 1.1, without repeated keys and integers beyond a double. Raises Unreadable."""
    return _constructed(compose_yaml(path), Path(path))


def read_yaml_text(path: StrPath) -> Any:
    """Like `read_yaml`, with every value as the text that stands there: no numbers, dates or switches. Raises
    Unreadable."""
    node = compose_yaml(path)
    if node is not None:
        _as_text(node)
    return _constructed(node, Path(path))


def _constructed(node: yaml.Node | None, path: Path) -> Any:
    if node is None:
        return None
    try:
        return cast(Any, _Constructor().construct_document(node))  # pyright: ignore[reportUnknownMemberType]
    except yaml.MarkedYAMLError as error:
        raise _not_yaml(error, path) from error
    except _FAILURES as error:
        raise NotYaml(f"not YAML: {error}", path=path) from error


def _as_text(node: yaml.Node) -> None:
    """The expansion is bounded by now, and an alias's node may be met again."""
    if isinstance(node, yaml.ScalarNode):
        node.tag = "tag:yaml.org,2002:str"
    else:
        for child in _children(node):
            _as_text(child)


def compose_yaml(path: StrPath) -> yaml.Node | None:
    """The nodes of a file, in which an alias is the node that it names; None for an empty one. Raises
    Unreadable."""
    place = Path(path)
    text = read_text(path, limit=MAX_YAML_BYTES)
    loader: type[yaml.SafeLoader] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        _check_nesting(text, loader, place)
        node = cast("yaml.Node | None", yaml.compose(text, loader))  # pyright: ignore[reportUnknownMemberType]
    except yaml.MarkedYAMLError as error:
        raise _not_yaml(error, place) from error
    except yaml.YAMLError as error:
        reason = " ".join(str(error).split())
        raise Unreadable(f"cannot be read: not YAML: {reason}", path=place) from error
    if node is not None:
        _Expansion(place).of(node)
    return node


def _check_nesting(text: str, loader: type[yaml.SafeLoader], path: Path) -> None:
    """Looks at the events alone: building the nodes of a deep file would exhaust the stack."""
    depth = 0
    for event in yaml.parse(text, loader):  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
            if depth > MAX_NESTING:
                raise Unreadable(TOO_DEEP, path=path)
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1


class _Expansion:
    """How much a file holds once every alias is written out.

    An alias names a node that stands before it, so going through the nodes in order meets that node measured,
    or unfinished where the alias stands inside what it names.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._known: dict[int, tuple[int, int] | None] = {}

    def of(self, node: yaml.Node) -> tuple[int, int]:
        """Size and levels. Raises Unreadable."""
        if id(node) in self._known:
            known = self._known[id(node)]
            if known is None:
                raise self._refused(node, "nested too deeply: an alias stands inside what it names")
            return known
        self._known[id(node)] = None
        size, levels = 1, 0
        if isinstance(node, yaml.ScalarNode):
            size += len(cast(str, node.value))
        else:
            for child in _children(node):
                more, below = self.of(child)
                size, levels = size + more, max(levels, below)
            levels += 1
        if size > MAX_EXPANSION:
            raise self._refused(
                node, f"expands to more than {MAX_EXPANSION:,} characters through its aliases"
            )
        if levels > MAX_NESTING:
            raise self._refused(node, TOO_DEEP)
        self._known[id(node)] = size, levels
        return size, levels

    def _refused(self, node: yaml.Node, reason: str) -> Unreadable:
        return Unreadable(reason, path=self._path, line=node.start_mark.line + 1)


def _children(node: yaml.Node) -> list[yaml.Node]:
    if isinstance(node, yaml.MappingNode):
        pairs = cast("list[tuple[yaml.Node, yaml.Node]]", node.value)
        return [one for pair in pairs for one in pair]
    return cast("list[yaml.Node]", node.value)


class _Constructor(SafeConstructor):
    """Refuses a key that stands twice, which YAML would drop with whatever limit it set, and names the line
    of a value that Python cannot make."""

    def construct_object(self, node: yaml.Node, deep: bool = False) -> Any:
        try:
            value = cast(Any, super().construct_object(node, deep))  # pyright: ignore[reportUnknownMemberType]
        except _FAILURES as error:
            kind = node.tag.rpartition(":")[2]
            raise ConstructorError(
                problem=f"{str(node.value)[:40]!r} is no {kind}: {error}", problem_mark=node.start_mark
            ) from error
        if isinstance(value, int) and abs(value) >= 10**LONGEST_INTEGER:
            raise ConstructorError(problem="the number is out of range", problem_mark=node.start_mark)
        return value

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen: set[str] = set()
        for key, _ in cast("list[tuple[yaml.Node, yaml.Node]]", node.value):
            text = str(key.value)
            if isinstance(key, yaml.ScalarNode) and text in seen:
                raise ConstructorError(problem=f"the key {text!r} stands twice", problem_mark=key.start_mark)
            seen.add(text)
        return super().construct_mapping(node, deep)


def _not_yaml(error: yaml.MarkedYAMLError, path: Path) -> Unreadable:
    line = error.problem_mark.line + 1 if error.problem_mark else None
    if "nesting depth" in str(error.problem):
        return Unreadable(TOO_DEEP, path=path, line=line)
    return NotYaml(f"not YAML: {' '.join(str(error.problem or error).split())}", path=path, line=line)
