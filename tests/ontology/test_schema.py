"""Schemas and safe parameters, both derived from the ontology."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, cast

import pytest
from jsonschema import Draft202012Validator

from atr_ontology import Ontology, Parameter, Tool, input_schema, load_ontology, safe_parameters, schema_hash

ONTOLOGY = load_ontology()
TOOLS = [
    *ONTOLOGY.base_tools,
    *(tool for domain in ONTOLOGY.domains.values() for tool in domain.tools),
    *ONTOLOGY.session_tools,
]
PORTABLE_KEYS = {"type", "enum", "items", "additionalProperties", "description", "properties", "required"}


def by_name(tool: Tool) -> str:
    return tool.name


def named(name: str) -> Tool:
    tool = ONTOLOGY.tool(name)
    assert tool is not None
    return tool


def keys(schema: dict[str, Any]) -> Iterator[str]:
    """Schema keywords at every depth; names of properties are no keywords."""
    for key, value in schema.items():
        yield key
        if key == "properties":
            for inner in value.values():
                yield from keys(inner)
        elif isinstance(value, dict):
            yield from keys(cast(dict[str, Any], value))


@pytest.mark.parametrize("tool", TOOLS, ids=by_name)
def test_a_schema_keeps_to_what_every_provider_accepts(tool: Tool) -> None:
    schema = input_schema(tool)
    Draft202012Validator.check_schema(schema)
    assert set(keys(schema)) <= PORTABLE_KEYS
    assert list(schema) == ["type", "properties", "required", "additionalProperties"]
    assert schema["type"] == "object"
    assert schema["additionalProperties"] is False
    assert schema["required"] == [p.name for p in tool.parameters if p.required]
    assert list(schema["properties"]) == [p.name for p in tool.parameters]
    assert all(isinstance(p["type"], str) and p["description"] for p in schema["properties"].values())


@pytest.mark.parametrize(
    "name", ["list_labels", "list_message_folders", "list_trackers", "list_file_folders"]
)
def test_a_tool_without_parameters_has_empty_properties(name: str) -> None:
    assert input_schema(named(name)) == {
        "type": "object",
        "properties": {},
        "required": [],
        "additionalProperties": False,
    }


@pytest.mark.parametrize(
    ("declared", "expected"),
    [
        ("string", {"type": "string"}),
        ("number", {"type": "number"}),
        ("integer", {"type": "integer"}),
        ("boolean", {"type": "boolean"}),
        ("date", {"type": "string"}),
        ("datetime", {"type": "string"}),
        ("array[string]", {"type": "array", "items": {"type": "string"}}),
        ("object", {"type": "object", "additionalProperties": True}),
    ],
)
def test_each_declared_type_has_one_json_form(declared: Any, expected: dict[str, Any]) -> None:
    tool = with_parameter(Parameter("x", declared, required=False, description="Some value."))
    assert input_schema(tool)["properties"] == {"x": {**expected, "description": "Some value."}}


def test_enum_values_keep_their_order() -> None:
    tool = with_parameter(Parameter("x", "enum", required=True, description="One of two.", enum=("b", "a")))
    assert input_schema(tool)["properties"]["x"] == {
        "type": "string",
        "enum": ["b", "a"],
        "description": "One of two.",
    }


def with_parameter(parameter: Parameter) -> Tool:
    return Tool("tool", "Tool", "read", "A tool of this test.", (parameter,))


@pytest.mark.parametrize(
    ("name", "safe"),
    [
        ("place_order", {"product_id"}),
        ("modify_order", {"order_id", "field"}),
        ("search_products", {"sort_by"}),
        ("compare_products", {"product_ids"}),
        ("build_shopping_list", set[str]()),
        (
            "plan_trip",
            {"selected_stop_ids", "include_daily_breakdown", "include_stopovers", "include_budget_summary"},
        ),
        (
            "replan_trip",
            {"trip_id", "disrupted_item_id", "selected_alternative_stop_ids", "replacement_type"},
        ),
        ("check_conflicts", set[str]()),
        ("pause_subscription", {"subscription_id"}),
        ("archive_messages", {"message_ids", "folder_id"}),
        ("send_message", {"thread_id", "language"}),
        ("get_user_confirmation", {"target_tool", "target_params"}),
        ("list_labels", set[str]()),
    ],
)
def test_safe_parameters_are_booleans_enums_ids_and_nested_calls(name: str, safe: set[str]) -> None:
    assert safe_parameters(named(name)) == safe


def test_an_object_or_a_list_of_another_name_is_not_safe() -> None:
    for kind in ("object", "array[string]"):
        tool = with_parameter(Parameter("details", kind, required=True, description="Some value."))
        assert safe_parameters(tool) == frozenset()


def test_the_hash_is_the_same_in_another_process() -> None:
    program = "from atr_ontology import load_ontology, schema_hash; print(schema_hash(load_ontology()))"
    shown = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == schema_hash(ONTOLOGY)


def reworded(tool: Tool) -> Tool:
    return replace(tool, description=tool.description + " Really.")


def with_reworded_parameter(tool: Tool) -> Tool:
    first, *rest = tool.parameters
    return replace(tool, parameters=(replace(first, description="Something else."), *rest))


@pytest.mark.parametrize("change", [reworded, with_reworded_parameter])
def test_the_hash_sees_a_change_of_wording_in_any_group(change: Any) -> None:
    commerce = ONTOLOGY.domain("commerce")
    base, session, domain = (
        (change(tools[0]), *tools[1:])
        for tools in (ONTOLOGY.base_tools, ONTOLOGY.session_tools, commerce.tools)
    )
    changed: list[Ontology] = [
        replace(ONTOLOGY, base_tools=base),
        replace(ONTOLOGY, session_tools=session),
        replace(ONTOLOGY, domains={**ONTOLOGY.domains, "commerce": replace(commerce, tools=domain)}),
    ]
    hashes = {schema_hash(ONTOLOGY), *map(schema_hash, changed)}
    assert len(hashes) == 4


def test_the_hash_sees_the_order_of_tools() -> None:
    commerce = ONTOLOGY.domain("commerce")
    backwards = replace(commerce, tools=commerce.tools[::-1])
    changed = replace(ONTOLOGY, domains={**ONTOLOGY.domains, "commerce": backwards})
    assert schema_hash(changed) != schema_hash(ONTOLOGY)
