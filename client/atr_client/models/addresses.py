"""Addresses of endpoints as they may be shown and written down: without what may be a secret in them."""

from __future__ import annotations

import re

_USER = re.compile(r"(?<=//)[^/?#]*@")
_SECRET_TAIL = re.compile(r"[?#].*", re.DOTALL)


def shown_address(base_url: str) -> str:
    """The address without user, password, query and fragment. Works on what is no URL as well."""
    without_tail = _SECRET_TAIL.sub("", base_url)
    if "//" not in without_tail:
        return without_tail.rpartition("@")[2]
    return _USER.sub("", without_tail)
