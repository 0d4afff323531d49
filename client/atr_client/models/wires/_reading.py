"""How a reply is read: from the bytes that came to the shape that a wire expects."""

from __future__ import annotations

import json
from typing import TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from atr_client.models.wire import Endpoint
from atr_client.models.wires._http import fault

Shape = TypeVar("Shape", bound=BaseModel)

_EXCERPT_LENGTH = 300
_LONGEST_NAME = 200


class Part(BaseModel):
    """A piece of a provider's reply: the fields this project reads, and all others as they came."""

    model_config = ConfigDict(extra="allow")


def served_model(reply: Part, field: str = "model") -> str | None:
    """The model's name as the reply reports it, None when it reports none."""
    name = (reply.model_extra or {}).get(field)
    return name[:_LONGEST_NAME] if isinstance(name, str) and name else None


def shaped(content: bytes, endpoint: Endpoint, shape: type[Shape]) -> Shape:
    """The reply in its shape. The SDKs build their own models from any JSON unchecked, and drop or refuse
    fields that they do not know, so replies are read raw. Text that no encoding can carry is replaced sign by
    sign on the way.

    Raises WireError, retryable, for a reply that is no JSON or lacks what it must have.
    """
    try:
        readable = json.dumps(json.loads(content), ensure_ascii=False).encode("utf-8", "replace")
        return shape.model_validate(json.loads(readable))
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(str(step) for step in first["loc"]) or "the reply"
        problem = f"malformed reply: {place}: {first['msg']}"
    except (ValueError, RecursionError):
        problem = "the reply is not JSON"
    excerpt = content[:_EXCERPT_LENGTH].decode("utf-8", "replace")
    raise fault(f"{problem}; it begins {excerpt!r}", endpoint)
