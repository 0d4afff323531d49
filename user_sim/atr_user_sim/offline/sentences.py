"""Sentences of a message in which text that somebody else wrote, or that is only shown, is masked."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

HIDDEN = "\u25a1"
"""Stands in `Sentence.visible` for every character of a quotation; such text is shown, not said."""

_FENCE = re.compile(r"^[ \t]*```.*?(?:^[ \t]*```[^\n]*$|\Z)", re.M | re.S)
_BLOCK_QUOTE = re.compile(r"^[ \t]*>[^\n]*$", re.M)
_RULED_OFF = re.compile(r":[*_ \t]*\n\s*^[ \t]*-{3,}[ \t]*$(?P<shown>.*?)^[ \t]*-{3,}[ \t]*$", re.M | re.S)
_LETTER = re.compile(
    r"(?<=\n)[ \t]*(?:hi|hello|hey|dear|good (?:morning|afternoon|evening))\b[^\n?!]{0,50}\n.*?"
    r"^[ \t]*(?:(?:kind|best|warm|many|with|yours|all the|take|thank|love|cheers|sincerely|respectfully"
    r"|regards)\w*"
    r"[^\n.?!]{0,30}[,.!]?|thanks[,.!]?)[ \t]*$(?:\s*^[ \t]*(?:\S+[ \t]*){1,4}$)?",
    re.M | re.S | re.I,
)
_LABELLED = re.compile(
    r"^[ \t]*(?:[-*•][ \t]+)?[*_]*(?:subject|body|message|text|draft|reply|content|title"
    r"|description)[*_]*:[*_]*"
    r"(?:[ \t]+(?P<line>\S[^\n]*)|[ \t]*\n(?P<paragraph>\S.*?)(?=\n\s*\n|\Z))",
    re.M | re.S | re.I,
)
_QUOTED = re.compile(
    r'(?<!\w)"(?=\S)[^"]{0,4000}?(?<=\S)"(?!\w)|“[^”]{0,4000}”'
    r"|(?<![\w'])'(?=\S)(?:[^'\n]|(?<=\w)'(?=\w)){1,4000}[.?!…,]'(?!\w)|‘(?:[^’]|(?<=\w)’(?=\w)){1,4000}’",
    re.S,
)
"""Within single marks an apostrophe is one between letters; straight ones hold what ends like a sentence."""
_FOR_OTHERS = re.compile(
    r"\b(?:text(?:s|ed)?|wr[io]te|written|messages?|notes?|drafts?|drafted|repl(?:y|ied)|queries|query|words|wording|reads?|says?"
    r"|said|put it|answer(?:s|ed)?|tell|told|asks?|asked|letter|mail)\b[^.?!:\n]{0,60}:"
    r"(?:[ \t]+(?P<line>(?:(?:and|so|hello|hi)\b,? )?(?:in future,? )?"
    r"(?:do|does|did|am|are|is|was|were|can|could|would|will|shall|should|may|have|has|who|what|when|where|which|why"
    r"|how|any)"
    r"\b[^\n?\u25a1]*\?)|[ \t]*\n\s*\n?(?P<paragraph>\S.*?)(?=\n\s*\n|\Z))",
    re.S | re.I,
)
"""What is said to be written or told elsewhere: the question after the colon, or the paragraph below it."""
_LIST_MARK = re.compile(r"(?:[-*•–]|#{1,6}|\(?\d{1,2}[.)])[ \t]+")
_TERMINATOR = re.compile(r"[.?!…]+[)\]\"'”’*_]*(?=\s|$)")
_HOUR = re.compile(r"\b[ap]\.m\.$", re.I)
_DAY = re.compile(r"\s*(?:on )?(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day\b")
_ABBREVIATION = re.compile(
    r"(?:\b(?:e\.?g|i\.?e|dr|mr|mrs|ms|vs|st|prof|no|approx|incl|dept|jr|sr)|(?-i:(?<!['’])\b[A-Z])|\betc)\.$",
    re.I,
)


@dataclass(frozen=True, slots=True)
class Sentence:
    """`text` is verbatim; `visible` is as long and has quoted words hidden."""

    text: str
    visible: str


def sentences(message: str) -> list[Sentence]:
    """Splits a message of prose, lists and markdown. Code, block quotes and letters give no sentence; a
    list item gives its own, without the list mark."""
    masked = _mask(message)
    return [
        Sentence(message[start:end], masked[start:end])
        for segment in _segments(masked)
        for start, end in _split(masked, *segment)
    ]


def _mask(message: str) -> str:
    masked = message
    for pattern in (_FENCE, _BLOCK_QUOTE, _LETTER):
        masked = pattern.sub(lambda m: _blank(m[0]), masked)
    masked = _RULED_OFF.sub(lambda m: m[0].replace(m["shown"], _blank(m["shown"])), masked)
    masked = _QUOTED.sub(_hide, masked)
    masked = _FOR_OTHERS.sub(_hide_for_others, masked)
    return _LABELLED.sub(_blank_labelled, masked)


def _blank(text: str) -> str:
    return "\n" * len(text)


def _hide(match: re.Match[str]) -> str:
    """A quotation that ends like a sentence also ends the sentence it stands in."""
    quoted = match[0]
    follows = match.string[match.end() :].lstrip(" *_")[:1]
    ends = quoted[-2:-1] in ".?!" and (follows in ("", "\n") or follows.isupper())
    return HIDDEN * (len(quoted) - 1) + ("." if ends else HIDDEN)


def _hide_for_others(match: re.Match[str]) -> str:
    shown = match["line"] or match["paragraph"]
    hidden = "".join(one if one == "\n" else HIDDEN for one in shown[:-1])
    return f"{match[0][: -len(shown)]}{hidden}."


def _blank_labelled(match: re.Match[str]) -> str:
    shown = match["line"] or match["paragraph"]
    return match[0][: -len(shown)] + _blank(shown)


def _segments(masked: str) -> Iterator[tuple[int, int]]:
    """Stretches within which a sentence may run on: a line, with following lines that go on in lower case."""
    start = position = 0
    for line in masked.splitlines(keepends=True):
        before = masked[start:position].rstrip()
        runs_on = (
            before
            and before[-1] not in ".?!:"
            and line[:1].islower()
            and masked[position - 2 : position] != "\n\n"
        )
        if not runs_on and position > start:
            yield start, position
            start = position
        position += len(line)
    yield start, position


def _split(masked: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    begin = _skip(masked, start, end)
    if mark := _LIST_MARK.match(masked, begin, end):
        begin = _skip(masked, mark.end(), end)
    for match in _TERMINATOR.finditer(masked, begin, end):
        if match.start() < begin or not _ends_sentence(masked, begin, match, end):
            continue
        yield begin, match.end()
        begin = _skip(masked, match.end(), end)
    stop = begin + len(masked[begin:end].rstrip())
    if stop > begin:
        yield begin, stop


def _skip(masked: str, start: int, end: int) -> int:
    return start + len(masked[start:end]) - len(masked[start:end].lstrip())


def _ends_sentence(masked: str, begin: int, match: re.Match[str], end: int) -> bool:
    """Who begins a sentence with a small letter begins the next one so, too."""
    follows = masked[match.end() : end].lstrip()[:1]
    if follows.islower() and not masked[begin].islower():
        return False
    before = masked[begin : match.start() + 1]
    if match[0].startswith(".") and follows and _ABBREVIATION.search(before):
        return False
    if _HOUR.search(before) and _DAY.match(masked, match.end(), end):
        return False
    return not _inside_parenthesis(masked[begin : match.end()], masked[match.end() : end])


def _inside_parenthesis(before: str, after: str) -> bool:
    """In a parenthesis that opened mid-sentence and will close; one that opens a sentence may hold"
    " several."""
    depth = before.count("(") - before.count(")")
    return depth > 0 and not before.startswith("(") and ")" in after
