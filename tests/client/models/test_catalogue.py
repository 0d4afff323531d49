"""The model registry: names, aliases, overrides, keys."""

from __future__ import annotations

import pytest
import yaml

from atr_client.models.catalogue import Catalogue, packaged_catalogue

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
