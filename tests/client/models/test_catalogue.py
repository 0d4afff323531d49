"""The model registry: names, aliases, overrides, keys."""

from __future__ import annotations

from dataclasses import fields, replace
from importlib.metadata import version
from typing import Any

import pytest
import yaml

from atr_client.models.catalogue import (
    Catalogue,
    ModelOverride,
    ProviderEntry,
    on_off,
    packaged_catalogue,
)
from atr_client.models.wire import Endpoint
from atr_client.models.wire_formats import WIRE_FORMATS

PAPER_MODELS = {
    "gpt-5.4": "openai_responses",
    "claude-opus-4-7": "anthropic",
    "gemini-3-flash-preview": "google",
    "gemini-3.1-pro-preview": "google",
    "qwen3.6-plus": "openai_chat",
    "MiniMax-M2.7": "openai_chat",
    "deepseek-v4-pro": "openai_chat",
    "deepseek-v4-flash": "openai_chat",
}


@pytest.mark.parametrize(("alias", "wire"), PAPER_MODELS.items())
def test_the_papers_models_are_ready_by_their_bare_names(alias: str, wire: str) -> None:
    model = packaged_catalogue().find(alias)
    assert model.model_id.endswith(f"/{alias}")
    assert (model.model, model.entry.wire) == (alias, wire)
    assert packaged_catalogue().find(model.model_id) == model


@pytest.mark.parametrize("alias", ["claude-opus-4.7", "opus-4.7"])
def test_other_spellings_mean_the_same_model(alias: str) -> None:
    assert packaged_catalogue().find(alias).model_id == "anthropic/claude-opus-4-7"


def test_an_unheard_of_model_of_a_known_provider_needs_no_entry() -> None:
    model = packaged_catalogue().find("openrouter/meta/llama-9")
    assert (model.model, model.provider, model.entry.wire) == ("meta/llama-9", "openrouter", "openai_chat")


def test_one_entry_makes_any_endpoint_known() -> None:
    mine = Catalogue.model_validate(
        {"models": {"lab/m1": {"wire": "openai_chat", "base_url": "http://127.0.0.1:9/v1", "model": "big"}}}
    )
    model = packaged_catalogue().extended(mine).find("lab/m1")
    endpoint = model.endpoint({}, reasoning=None, timeout=5)
    assert (endpoint.model, endpoint.base_url, endpoint.timeout) == ("big", "http://127.0.0.1:9/v1", 5)


@pytest.mark.parametrize("name", ["nobody/knows", "gpt-99"])
def test_an_unknown_provider_is_named_with_what_would_be_right(name: str) -> None:
    with pytest.raises(LookupError, match=r"unknown model '.*provider/model.*openai, anthropic.*registry"):
        packaged_catalogue().find(name)


def test_a_provider_alone_is_no_model() -> None:
    with pytest.raises(LookupError, match="write openai/MODEL"):
        packaged_catalogue().find("openai")


def test_a_missing_key_names_the_variable() -> None:
    with pytest.raises(LookupError, match="environment variable OPENAI_API_KEY is not set"):
        packaged_catalogue().find("gpt-5.4").endpoint({}, reasoning="on", timeout=5)


def test_a_key_is_never_shown() -> None:
    endpoint = (
        packaged_catalogue()
        .find("gpt-5.4")
        .endpoint({"OPENAI_API_KEY": "sk-sentinel"}, reasoning="on", timeout=5)
    )
    assert endpoint.api_key == "sk-sentinel"
    assert "sk-sentinel" not in repr(endpoint)


@pytest.mark.parametrize(
    ("alias", "on", "off", "unset"),
    [
        ("gpt-5.4", {"reasoning": {"effort": "high"}}, {"reasoning": {"effort": "low"}}, {}),
        ("qwen3.6-plus", {"enable_thinking": True}, {"enable_thinking": False}, {"enable_thinking": True}),
        ("MiniMax-M2.7", {"reasoning_split": True}, {"reasoning_split": True}, {"reasoning_split": True}),
    ],
)
def test_the_reasoning_switch_becomes_request_parameters(
    alias: str, on: dict[str, object], off: dict[str, object], unset: dict[str, object]
) -> None:
    switch = packaged_catalogue().find(alias).entry.reasoning
    assert [switch.parameters(p) for p in ("on", "off", None)] == [on, off, unset]


def test_an_endpoint_can_be_moved_by_the_environment() -> None:
    model = packaged_catalogue().find("local/anything")
    endpoint = model.endpoint({"LOCAL_BASE_URL": "http://127.0.0.1:11434/v1"}, reasoning=None, timeout=5)
    assert (endpoint.base_url, endpoint.model) == ("http://127.0.0.1:11434/v1", "anything")


def test_bare_on_and_off_in_yaml_are_words_here() -> None:
    text = "providers: {x: {wire: openai_chat, reasoning: {on: {a: 1}, off: {a: 2}}}}"
    entry = Catalogue.model_validate(yaml.safe_load(text)).providers["x"]
    assert (entry.reasoning.on, entry.reasoning.off) == ({"a": 1}, {"a": 2})


def test_all_that_an_entry_says_of_requests_reaches_the_endpoint() -> None:
    said: dict[str, Any] = {
        "sampling": False,
        "max_output_tokens": 7,
        "payload_format": "lab_v1",
        "faithful_replay": False,
        "structured_output": False,
        "echo_reasoning": "always",
        "content_parts": "text",
        "call_ids": "short",
        "seed_name": "random_seed",
    }
    entry = {"wire": "openai_chat", "key": "LAB_KEY", "base_url": "http://h/v1", "model": "big", **said}
    switch = {"reasoning": {"on": {"think": 1}, "unset": {"think": 2}}}
    model = Catalogue.model_validate({"models": {"lab/m1": {**entry, **switch}}}).find("lab/m1")
    endpoint = model.endpoint({"LAB_KEY": "sk-1"}, reasoning="on", timeout=5)
    told = {
        "model": "big",
        "api_key": "sk-1",
        "base_url": "http://h/v1",
        "timeout": 5,
        "parameters": {"think": 1},
    }
    assert {one.name: getattr(endpoint, one.name) for one in fields(Endpoint)} == {**told, **said}
    assert model.endpoint({"LAB_KEY": "k"}, reasoning=None, timeout=5).parameters == {"think": 2}
    plain = Catalogue.model_validate({"models": {"lab/m1": {"wire": "openai_chat"}}}).find("lab/m1")
    assert plain.endpoint({}, reasoning="off", timeout=9) == Endpoint("m1", "none", timeout=9)


@pytest.mark.parametrize(
    ("wire", "variable"),
    [
        ("openai_chat", "OPENAI_BASE_URL"),
        ("openai_responses", "OPENAI_BASE_URL"),
        ("anthropic", "ANTHROPIC_BASE_URL"),
        ("google", "GOOGLE_GEMINI_BASE_URL"),
    ],
)
def test_an_address_is_that_of_our_variable_the_entry_or_the_sdk_in_this_order(
    wire: str, variable: str
) -> None:
    def address(environment: dict[str, str], **entry: str) -> str | None:
        models = {"lab/m1": {"wire": wire, "base_url_env": "LAB_URL", **entry}}
        return Catalogue.model_validate({"models": models}).find("lab/m1").base_url(environment)

    everywhere = {"LAB_URL": "http://ours", variable: "http://sdk"}
    assert address(everywhere, base_url="http://entry") == "http://ours"
    assert address({**everywhere, "LAB_URL": ""}, base_url="http://entry") == "http://entry"
    assert address({variable: "http://sdk"}) == "http://sdk"
    assert address({variable: ""}) is address({}) is None


def test_an_entry_changes_what_it_says_and_leaves_the_rest() -> None:
    base = Catalogue.model_validate(
        {
            "providers": {"lab": {"wire": "anthropic", "max_output_tokens": 9, "sampling": False}},
            "models": {"lab/m1": {"aliases": ["m1"], "context": 5, "sampling": True}},
        }
    )
    more = base.extended(Catalogue.model_validate({"models": {"m1": {"context": None, "call_ids": "short"}}}))
    entry = more.find("m1").entry
    assert (entry.wire, entry.max_output_tokens, entry.sampling) == ("anthropic", 9, True)
    assert (entry.context, entry.call_ids) == (None, "short")
    assert more.names == ["lab/m1", "m1"]
    said = ModelOverride(sampling=False, model="other")
    found = more.find("m1", said)
    assert (found.model_id, found.provider, found.model, found.entry.sampling) == (
        "lab/m1",
        "lab",
        "other",
        False,
    )
    other = Catalogue.model_validate({"providers": {"lab": {"wire": "google"}}})
    assert more.extended(other).find("lab/x").entry == ProviderEntry(wire="google")


def test_a_name_that_is_nearly_right_is_proposed() -> None:
    with pytest.raises(LookupError, match=r"unknown model 'gpt5.4'; did you mean 'gpt-5.4'\? an id is"):
        packaged_catalogue().find("gpt5.4")


@pytest.mark.parametrize("position", ["on", "off"])
def test_a_bare_word_that_yaml_reads_as_a_boolean_is_the_word(position: str) -> None:
    assert on_off(position == "on") == on_off(position) == position
    assert (on_off(1), on_off(None)) == (1, None)


def test_a_wire_that_does_not_exist_is_refused_with_those_that_do() -> None:
    with pytest.raises(ValueError) as refused:
        ProviderEntry(wire="telegraph")
    assert WIRE_FORMATS and all(f"'{name}'" in str(refused.value) for name in WIRE_FORMATS)


def test_an_sdk_is_known_by_its_version_and_its_extra() -> None:
    for name, known in {
        "openai_responses": ("openai", "openai", "openai"),
        "openai_chat": ("openai", "openai", "openai"),
        "anthropic": ("anthropic", "anthropic", "anthropic"),
        "google": ("google.genai", "google-genai", "google"),
    }.items():
        sdk = WIRE_FORMATS[name]
        assert (sdk.module, sdk.distribution, sdk.extra) == known
        assert sdk.version == version(sdk.distribution)
    gone = replace(WIRE_FORMATS["google"], module="google.nowhere")
    assert gone.version is replace(gone, module="nowhere.at_all").version is None
    assert replace(gone, module="json", distribution="not-a-distribution").version is None
