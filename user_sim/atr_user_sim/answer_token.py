"""The answer token: where a simulated user, who knows no rules, leaves room for one.

A token is the leftmost `<RULE_ANSWER>`, with any white space inside the brackets, the closing one or both
brackets missing. White space after the word belongs to the token, white space before `<` does not.
"""

from __future__ import annotations

import re

_TOKEN = re.compile(r"(?:<\s*)?RULE_ANSWER\s*>?")
_BLANKS = re.compile(r"[ \t]{2,}")
_EMPTY_LINES = re.compile(r"\n{3,}")
_SENTENCE_END = (".", "!", "?")
_CLAUSE_END = (*_SENTENCE_END, ",", ";", ":")


def has_token(reply: str) -> bool:
    return _TOKEN.search(reply) is not None


def substitute(reply: str, answer: str) -> str:
    """`reply` with `answer` in place of its first token; further tokens go.

    The answer's first letter takes the case its place asks for, and the answer is closed with a full stop
    where the reply brings none. Returns the reply untouched when it has no token or the answer is blank.
    """
    token = _TOKEN.search(reply)
    answer = answer.strip()
    if token is None or not answer:
        return reply
    before, after = reply[: token.start()], _without_tokens(reply[token.end() :])
    answer = _cased(answer, at_start=_is_sentence_start(before))
    return before + _joined(answer, after)


def strip(reply: str) -> str:
    """`reply` without tokens, without the holes they leave, and without white space around it."""
    return _EMPTY_LINES.sub("\n\n", _without_tokens(reply)).strip()


def append(reply: str, answer: str) -> str:
    """The stripped reply, a blank line and the answer as it stands, or the answer alone."""
    return "\n\n".join(part for part in (strip(reply), answer.strip()) if part)


def _without_tokens(text: str) -> str:
    while has_token(text):  # removing one token can join the halves of another
        text = _TOKEN.sub("", text)
    return _BLANKS.sub(" ", text)


def _is_sentence_start(before: str) -> bool:
    before = before.rstrip()
    return not before or before.endswith(_SENTENCE_END)


def _cased(answer: str, *, at_start: bool) -> str:
    if at_start:
        return answer[0].upper() + answer[1:]
    if answer == "I" or answer.startswith(("I ", "I'")):
        return answer
    return answer[0].lower() + answer[1:]


def _joined(answer: str, after: str) -> str:
    rest = after.lstrip()
    if not rest:
        return answer + ("" if answer.endswith(_SENTENCE_END) else ".") + after
    if rest.startswith(_SENTENCE_END) and answer.endswith(_SENTENCE_END):
        return answer + after[: len(after) - len(rest)] + rest[1:]
    if rest[0].isalpha():
        stop = "" if answer.endswith(_CLAUSE_END) else "."
        gap = "" if after.startswith((" ", "\n", "\t")) else " "
        return answer + stop + gap + after
    return answer + after
