"""How a reply is read: from the bytes that came to the shape that a wire expects."""

from __future__ import annotations

import json
import math
from typing import Annotated, Any, TypeVar, cast

from pydantic import BaseModel, BeforeValidator, ConfigDict, ValidationError

from atr_client.models.wire import Endpoint
from atr_client.models.wires._faults import fault, told_in_reply

Shape = TypeVar("Shape", bound=BaseModel)

_EXCERPT_LENGTH = 300
_LONGEST_NAME = 200
_LONGEST_NUMBER = 400
"""Digits. Python itself refuses to read some thousands of them, and with them the whole reply."""


class Part(BaseModel):
    """A piece of a provider's reply: the fields this project reads, and all others as they came."""

    model_config = ConfigDict(extra="allow")


def served_model(reply: Part, field: str = "model") -> str | None:
    """The model's name as the reply reports it, None when it reports none."""
    name = (reply.model_extra or {}).get(field)
    return name[:_LONGEST_NAME] if isinstance(name, str) and name else None


def _word(value: object) -> object:
    return str(value) if isinstance(value, int | float) else value if isinstance(value, str) else None


Word = Annotated[str | None, BeforeValidator(_word)]
"""A name or an id. A number is one too; what else may stand there counts as left out."""


def shaped(content: bytes, endpoint: Endpoint, shape: type[Shape]) -> Shape:
    """The reply in its shape. The SDKs build their own models from any JSON unchecked, and drop or refuse
    fields that they do not know, so replies are read raw. Text that no encoding can carry is replaced sign by
    sign on the way.

    Raises WireError: as the provider says when the body tells of a fault, retryable for a reply that is no
    JSON or lacks what it must have.
    """
    try:
        readable = json.dumps(json.loads(content, parse_int=_integer), ensure_ascii=False)
        body = json.loads(readable.encode("utf-8", "replace"))
    except (ValueError, RecursionError):
        raise fault(f"the reply is not JSON; {_beginning(content)}", endpoint) from None
    if told := _told_fault(body):
        raise told_in_reply(told, endpoint)
    try:
        return shape.model_validate(body)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(str(step) for step in first["loc"]) or "the reply"
        reason = f"malformed reply: {place}: {first['msg']}; {_beginning(content)}"
        raise fault(reason, endpoint) from None


def as_it_came(part: Part) -> dict[str, Any]:
    """A piece to be stored and sent back: every field that came, under its own name. Numbers that JSON has no
    word for are null."""
    return cast("dict[str, Any]", _finite(part.model_dump(exclude_unset=True, by_alias=True)))


def _finite(value: object) -> object:
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in cast("dict[str, object]", value).items()}
    if isinstance(value, list):
        return [_finite(item) for item in cast("list[object]", value)]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _integer(digits: str) -> float:
    return int(digits) if len(digits) <= _LONGEST_NUMBER else math.inf


def _told_fault(body: object) -> object:
    """What a body says of a fault in place of a reply: an `error`, alone or in a list, or MiniMax's status. A
    response that failed is a reply all the same: its wire reads it."""
    if isinstance(body, list) and body:
        body = cast("list[object]", body)[0]
    if not isinstance(body, dict) or "output" in body:
        return None
    fields = cast("dict[str, Any]", body)
    status = fields.get("base_resp")
    if isinstance(status, dict) and (code := cast("dict[str, Any]", status).get("status_code")):
        return {"message": cast("dict[str, Any]", status).get("status_msg"), "code": code}
    return fields.get("error")


def _beginning(content: bytes) -> str:
    return f"it begins {content[:_EXCERPT_LENGTH].decode('utf-8', 'replace')!r}"
