"""The memory that the prompts of a cell's sessions show, looked at once.

Nine tenths of a trajectory are the memory in its system message, and that is what another session of the cell
was shown before, with a session more at most. Readers that have no use for it leave it out before they parse:
what equals a text that was found sound needs no second look.
"""

from __future__ import annotations

import re

import msgspec

_HEAD = re.compile(
    rb'\s*\{[^\[\]{}]*"messages"\s*:\s*\[\s*\{\s*"role"\s*:\s*"system"\s*,\s*"content"\s*:\s*"'
)
"""Up to the first letter of the system message, in files whose keys stand in our order."""

_BEGIN, _END = b"<context>", b"</context>"
_LONGEST_HEAD = 2**15
_TEXT = msgspec.json.Decoder(str)


class SharedMemory:
    """Of one cell: what stands between the marks of `prompting.system_prompt_parts`."""

    def __init__(self) -> None:
        self._sound = b""

    def left_out(self, content: bytes) -> bytes:
        """A trajectory without its memory text, or as it is where there is none or anything is unusual.

        The two are sound JSON, or not, together: what is cut begins and ends inside one string and outside of
        any escape, and is itself the inside of a sound string, or of several one after the other.
        """
        begin = _memory_begins(content)
        if begin is None:
            return content
        known = self._sound if content.startswith(self._sound, begin) else b""
        end = content.find(_END, begin + len(known))
        if end < 0:
            return content
        if added := content[begin + len(known) : end]:
            try:
                _TEXT.decode(b'"%b"' % added)
            except ValueError:
                return content
            self._sound = known + added
        view = memoryview(content)
        return b"".join((view[:begin], view[end:]))


def _memory_begins(content: bytes) -> int | None:
    """Where in the system message; None where that is not certain."""
    if (head := _HEAD.match(content)) is None:
        return None
    mark = content.find(_BEGIN, head.end(), head.end() + _LONGEST_HEAD)
    if mark < 0:
        return None
    quote = content.find(b'"', head.end(), mark)
    while quote >= 0:
        if content[quote - 1 : quote] != b"\\" or content[quote - 2 : quote - 1] == b"\\":
            return None  # the message may be over before the mark
        quote = content.find(b'"', quote + 1, mark)
    return mark + len(_BEGIN)
