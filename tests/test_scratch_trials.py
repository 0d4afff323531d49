"""What CONTRIBUTING promises, tried in a copy of the tree: a tool is one entry and one handler, a wire format
one module and one entry. Nothing else changes there, and the tests that could mind are run."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.scratch import copy_tree, replace, run_tests

TOOL = """\
    - name: pin_messages
      title: Pin messages
      kind: write
      destructive: false
      idempotent: true
      since: 2
      description: >-
        Keep messages at the head of their folder. The answer says how many were pinned.
      parameters:
      - name: message_ids
        type: array[string]
        required: true
        description: Ids of the messages to pin, as returned by search_messages.

"""
HANDLER = """

def pin_messages(state: State, *, message_ids: list[str]) -> dict[str, Any]:
    for message in state.known_all("messages", message_ids):
        message["pinned"] = True
    return {"pinned": len(message_ids)}
"""
TOOL_TEST = """
from atr_client.agents import OFFLINE_MODELS
from atr_client.cell.play_episode import play_episode
from atr_data import packaged_episodes_dir, select_episodes, validate_episode
from atr_servers import Environment

def test_messages_are_pinned() -> None:
    environment = Environment.build("communication", [{"id": "m1", "type": "message"}])
    assert environment.call("pin_messages", {"message_ids": ["m1"]}).content == {"pinned": 1}
    assert environment.call("search_messages", {}).content["results"][0]["pinned"]

async def test_the_episodes_that_ship_are_valid_and_played() -> None:
    paths = select_episodes(["all"], packaged_episodes_dir())
    assert [finding for path in paths for finding in validate_episode(path)] == []
    played = await play_episode(paths[0], "oracle_target", OFFLINE_MODELS["offline/noop"].model())
    assert {trajectory.termination_reason for trajectory in played.trajectories} == {"agent_stop"}
"""
TOOL_TRIAL = (
    "tests/servers/test_pin_messages.py",
    "tests/servers/test_domains.py",
    "tests/servers/test_server_cli.py::test_tools_are_listed_by_domain",
    "tests/ontology/test_ontology.py",
    "tests/user_sim/test_opening.py",
    "tests/datagen/test_dataset.py",
    "tests/datagen/test_plan.py::test_the_committed_plan_keeps_every_bound",
    "tests/client/outputs/test_manifest.py",
)

WIRE = '''
"""A wire format that repeats what the user said."""

from __future__ import annotations

from dataclasses import dataclass

import anyio.lowlevel

from atr_client.models.base import ModelReply
from atr_client.models.wire import Endpoint, WireRequest


@dataclass
class EchoWire:
    async def send(self, request: WireRequest) -> ModelReply:
        await anyio.lowlevel.checkpoint()
        return ModelReply(request.messages[-1].content)

    async def aclose(self) -> None:
        await anyio.lowlevel.checkpoint()


def open_wire(endpoint: Endpoint) -> EchoWire:
    return EchoWire()
'''
WIRE_TEST = """
from atr_client.models.remote import open_wire
from atr_client.models.wire import Endpoint, WireRequest
from atr_client.sweep.config import RunConfig
from atr_client.sweep.registry import remote_specs
from atr_data.trajectory import Message

async def test_a_model_that_is_reached_by_it_can_be_named_and_asked() -> None:
    lab = {"id": "lab/m", "wire": "echo", "base_url": "http://127.0.0.1:1"}
    config = RunConfig.model_validate({"name": "x", "variants": ["atr"], "models": [lab]})
    (spec,) = remote_specs(config)
    wire = open_wire(spec.model.entry.wire, Endpoint(model="m", api_key="k"))
    assert (await wire.send(WireRequest([Message(role="user", content="hello")]))).content == "hello"
"""
WIRE_TRIAL = (
    "tests/client/models/test_echo.py",
    "tests/client/models/test_catalogue.py",
    "tests/client/models/test_endpoints.py",
    "tests/test_architecture.py",
)


@pytest.mark.early
def test_a_tool_is_one_entry_and_one_handler(tmp_path: Path) -> None:
    copy = copy_tree(tmp_path)
    ontology = copy / "ontology" / "atr_ontology" / "tools.yaml"
    replace(ontology, "version: 1\n", "version: 2\n")
    replace(ontology, "  scheduling:\n", f"{TOOL}  scheduling:\n")
    handlers = copy / "servers" / "atr_servers" / "domains" / "communication.py"
    handlers.write_text(handlers.read_text(encoding="utf-8") + HANDLER, encoding="utf-8")
    (copy / "tests" / "servers" / "test_pin_messages.py").write_text(TOOL_TEST)
    done = run_tests(copy, *TOOL_TRIAL)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-1000:]


@pytest.mark.early
def test_a_wire_format_is_one_module_and_one_entry(tmp_path: Path) -> None:
    copy = copy_tree(tmp_path)
    models = copy / "client" / "atr_client" / "models"
    (models / "wires" / "echo.py").write_text(WIRE.lstrip())
    entry = '    "google": Sdk('
    replace(
        models / "wire_formats.py",
        entry,
        f'    "echo": Sdk("pytest", "pytest", "echo", "ECHO_BASE_URL"),\n{entry}',
    )
    (copy / "tests" / "client" / "models" / "test_echo.py").write_text(WIRE_TEST)
    done = run_tests(copy, *WIRE_TRIAL)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-1000:]
