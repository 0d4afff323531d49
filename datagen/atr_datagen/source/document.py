"""YAML text to plain values, with the line of every value kept for error messages.

Scalars follow YAML 1.2: `yes`, `on` and `18:30` are text, dates are text, and so is `0712`.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path as FilePath
from typing import Any, cast

import yaml

from atr_data.errors import DataError
from atr_data.reading import LONGEST_INTEGER, Unreadable
from atr_data.yaml_reading import NotYaml, compose_yaml

Path = tuple[str | int, ...]

_INTEGER = re.compile(r"-?(0|[1-9][0-9]*)")
_FLOAT = re.compile(r"-?(0|[1-9][0-9]*)\.[0-9]+")
_WORDS = {"": None, "~": None, "null": None, "true": True, "false": False}
_VOCAB = re.compile(r"(?<![\w.@])@([a-z]\w*)")
_QUOTED = ("'", '"', "|", ">")
_MAX_DEPTH = 30
UNWRITTEN = "TO WRITE"
"""What the scaffold puts where an author has to write."""
_STILL = "is still to be written"


@dataclass(frozen=True, slots=True, order=True)
class Problem:
    """One thing wrong in one place of a source file. Lines count from 1."""

    file: str
    line: int
    key: str
    reason: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.key}: {self.reason}"


class SourceError(DataError):
    """All that is wrong with a source, one line per problem."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = sorted(set(problems))
        super().__init__("\n".join(map(str, self.problems)))


class UnreadableSource(SourceError):
    """A file among the sources cannot be taken in at all."""


@dataclass(frozen=True, slots=True)
class Document:
    """`faults` are mistakes of one value, with its path: a file can be read in part where they do not lie."""

    file: str
    data: dict[str, Any]
    lines: Mapping[Path, int]
    faults: Sequence[tuple[Path, str]] = ()

    def line(self, path: Path) -> int:
        """The line of a value; of one that is missing, the line of what should hold it."""
        while path and path not in self.lines:
            path = path[:-1]
        return self.lines.get(path, 1)

    def label(self, path: Path) -> str:
        """A path for readers. Items of a list are named by their own `key` where they have one."""
        parts: list[str] = []
        here: Any = self.data
        for step in path:
            here = _child(here, step)
            if isinstance(step, int):
                fields = cast(dict[str, Any], here) if isinstance(here, dict) else {}
                parts.append(f"[{fields.get('key', step)}]")
            else:
                parts.append(f".{step}" if parts else step)
        return "".join(parts) or "file"

    def problem(self, path: Path, reason: str) -> Problem:
        return Problem(self.file, self.line(path), self.label(path), reason)


def _child(here: Any, step: str | int) -> Any:
    try:
        return here[step]
    except (KeyError, IndexError, TypeError):
        return None


def nearest(name: str, known: Iterable[str]) -> str:
    """`did you mean X?` when something close is known, else the list of what is."""
    options = sorted(set(known))
    close = difflib.get_close_matches(name, options, n=1, cutoff=0.6)
    return f"did you mean {close[0]!r}?" if close else f"one of: {', '.join(options) or '(none)'}"


def scalar(text: str) -> str | int | float | bool | None:
    """The value of an unquoted YAML scalar. More digits than a number can have are text."""
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    if len(text) <= LONGEST_INTEGER and _INTEGER.fullmatch(text):
        return int(text)
    if len(text) <= LONGEST_INTEGER and _FLOAT.fullmatch(text):
        return float(text)
    return text


def parse_document(path: FilePath) -> Document:
    """Reads a source file and puts the vocabulary's texts in place of every `@key`.

    Raises UnreadableSource for a file that cannot be read, SourceError for what is not YAML and for an alias.
    A repeated key, an `@key` that the vocabulary lacks and text still to be written are faults of the
    document.
    """
    try:
        root = compose_yaml(path)
    except NotYaml as error:
        raise SourceError([Problem(str(path), error.line or 1, "file", error.problem)]) from error
    except Unreadable as error:
        raise UnreadableSource([Problem(str(path), error.line or 1, "file", error.problem)]) from error
    builder = _Builder(str(path))
    data = builder.build(root, ()) if root is not None else None
    if not isinstance(data, dict):
        builder.problems.append(
            Problem(str(path), 1, "file", "should be a mapping with persona, rules, learning")
        )
        raise SourceError(builder.problems)
    return _expanded(Document(str(path), cast(dict[str, Any], data), builder.lines, builder.faults))


class _Builder:
    def __init__(self, file: str) -> None:
        self.file = file
        self.lines: dict[Path, int] = {}
        self.problems: list[Problem] = []
        self.faults: list[tuple[Path, str]] = []
        self._built: set[int] = set()

    def build(self, node: yaml.Node, path: Path) -> Any:
        line: int = node.start_mark.line + 1
        self.lines[path] = line
        if len(path) > _MAX_DEPTH:
            raise SourceError([Problem(self.file, line, ".".join(map(str, path[:4])), "nested too deeply")])
        # Only an alias brings one node twice; a few of them can stand for more than memory holds.
        if id(node) in self._built:
            label = ".".join(map(str, path))
            raise SourceError([Problem(self.file, line, label, "is used again by an alias; write it out")])
        self._built.add(id(node))
        if isinstance(node, yaml.MappingNode):
            return self._mapping(node, path)
        if isinstance(node, yaml.SequenceNode):
            return [self.build(item, (*path, index)) for index, item in enumerate(node.value)]
        text = cast(str, node.value)
        return text if getattr(node, "style", None) in _QUOTED else scalar(text)

    def _mapping(self, node: yaml.MappingNode, path: Path) -> dict[str, Any]:
        result: dict[str, Any] = {}
        for key_node, value_node in node.value:
            key = str(key_node.value)
            if key in result:
                self.faults.append(((*path, key), "stands twice; keep one"))
            result[key] = self.build(value_node, (*path, key))
        return result


def _expanded(document: Document) -> Document:
    vocab = document.data.get("vocab")
    texts = cast(dict[str, Any], vocab) if isinstance(vocab, dict) else {}
    faults = list(document.faults)
    nested = [name for name, text in texts.items() if _VOCAB.search(str(text))]
    faults += [(("vocab", name), "holds an @key; write the text out") for name in nested]
    faults += [(("vocab", name), _STILL) for name, text in texts.items() if UNWRITTEN in str(text)]

    def expand(value: Any, path: Path) -> Any:
        if isinstance(value, dict):
            return {k: expand(v, (*path, k)) for k, v in cast(dict[str, Any], value).items()}
        if isinstance(value, list):
            return [expand(v, (*path, i)) for i, v in enumerate(cast(list[Any], value))]
        if not isinstance(value, str):
            return value
        if UNWRITTEN in value:
            in_list = isinstance(path[-1], int)
            faults.append((path[:-1] if in_list else path, _STILL))

        def put(match: re.Match[str]) -> str:
            if match[1] not in texts:
                faults.append((path, f"@{match[1]} is not in vocab; {nearest(match[1], texts)}"))
            return str(texts.get(match[1]))

        return _VOCAB.sub(put, value)

    data = {k: v if k == "vocab" else expand(v, (k,)) for k, v in document.data.items()}
    return Document(document.file, data, document.lines, list(dict.fromkeys(faults)))
