"""What follows from the ontology: JSON Schemas, and the parameters whose values can be compared exactly."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from atr_ontology.model import Ontology, Parameter, Tool

_JSON_TYPE = {"enum": "string", "date": "string", "datetime": "string", "array[string]": "array"}


def parameter_schema(parameter: Parameter) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": _JSON_TYPE.get(parameter.type, parameter.type)}
    if parameter.enum:
        schema["enum"] = list(parameter.enum)
    if parameter.type == "array[string]":
        schema["items"] = {"type": "string"}
    if parameter.type == "object":
        schema["additionalProperties"] = True
    return {**schema, "description": parameter.description}


def input_schema(tool: Tool) -> dict[str, Any]:
    """The JSON Schema of a tool's arguments.

    It keeps to what every provider accepts: no `anyOf`, no `default`, no `title`, no null types, `required`
    always present. Guards stand in the description only.
    """
    return {
        "type": "object",
        "properties": {p.name: parameter_schema(p) for p in tool.parameters},
        "required": [p.name for p in tool.parameters if p.required],
        "additionalProperties": False,
    }


def schema_hash(ontology: Ontology) -> str:
    """SHA-256 over everything of the tools and the domain policies that an agent can see."""
    tools = [
        *ontology.base_tools,
        *(tool for domain in ontology.domains.values() for tool in domain.tools),
        *ontology.session_tools,
    ]
    seen = [
        [t.name, t.title, t.description, input_schema(t), t.kind, t.destructive, t.idempotent] for t in tools
    ]
    policies = [domain.policy for domain in ontology.domains.values()]
    return hashlib.sha256(json.dumps([seen, policies], ensure_ascii=False).encode()).hexdigest()


def safe_parameters(tool: Tool) -> frozenset[str]:
    """Parameters of a tool whose values can be compared exactly: booleans, enums, ids, nested calls.

    Numbers, dates and free text are not safe (evaluation.md section 2.2, rule 3).
    """
    return frozenset(p.name for p in tool.parameters if _is_safe(p))


def _is_safe(parameter: Parameter) -> bool:
    nests_a_call = parameter.name in ("target_tool", "target_params")
    return parameter.type in ("boolean", "enum") or parameter.names_object or nests_a_call
