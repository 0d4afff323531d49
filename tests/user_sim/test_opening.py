"""What the user of a session may know, and what the first line may give away of it."""

from __future__ import annotations

from typing import Any

import pytest

from atr_data.episode import Episode, GoldStep
from atr_ontology import load_ontology
from atr_user_sim import UserBrief
from atr_user_sim.opening import hintable, opening_hint, task_type

TARGET_NAMES = {
    *(
        "id",
        "ids",
        "name",
        "title",
        "subject",
        "body",
        "content",
        "content_brief",
        "list_name",
        "folder_name",
    ),
    *("project_name", "destination_folder_name", "archive_folder_name", "move_folder_name"),
}


def hint(tool: str, arguments: dict[str, Any], **task_params: Any) -> dict[str, Any]:
    return opening_hint([GoldStep(tool=tool, arguments=arguments)], task_params)


def test_no_hintable_argument_could_name_a_target_and_all_of_them_exist() -> None:
    for tool in (tool for domain in load_ontology().domains.values() for tool in domain.tools):
        for name in hintable(tool.name):
            assert tool.parameter(name) is not None
            assert name not in TARGET_NAMES
            assert not any(part in name for part in ("_id", "points", "bullets", "keywords", "payload"))


def test_only_what_the_user_would_say_is_hinted() -> None:
    assert hint("search_hotels", {"location": "Bergen"}, city=" bergen ") == {"location": "Bergen"}
    assert hint("search_hotels", {"location": "Bergen"}, city="Bergen centre") == {}


def test_only_the_first_step_is_hinted_at() -> None:
    steps = [GoldStep(tool="list_trackers"), GoldStep(tool="search_hotels", arguments={"location": "Bergen"})]
    assert opening_hint(steps, {"city": "Bergen"}) == {}
    assert opening_hint([], {"city": "Bergen"}) == {}


def test_a_list_counts_when_all_of_it_was_said_somewhere() -> None:
    tags = {"event_tags": ["folk", "indoor"]}
    assert hint("search_events", tags, kind="Folk", wishes={"place": ["indoor"]}) == tags
    assert hint("search_events", tags, kind="folk") == {}
    assert hint("search_events", {"event_tags": []}, kind="folk") == {}
    assert hint("search_events", {"event_tags": []}, kinds=[]) == {"event_tags": []}


def test_the_sender_of_sent_mail_is_no_hint() -> None:
    arguments = {"sender": "Ida", "folder": "Sent"}
    assert hint("search_messages", arguments, who="Ida", where="sent") == {"folder": "Sent"}


def test_a_document_type_must_be_said_as_one() -> None:
    arguments = {"doc_type": "memo"}
    assert hint("search_documents", arguments, source_doc_type="Memo") == arguments
    assert hint("search_documents", arguments, word="memo", doc_type=["memo"]) == {}


@pytest.mark.parametrize("domain", load_ontology().domains.values(), ids=lambda domain: domain.name)
def test_the_kind_of_task_is_the_domain_of_the_first_step(domain: Any) -> None:
    for tool in domain.tools:
        assert task_type([GoldStep(tool=tool.name), GoldStep(tool="list_labels")]) == domain.description


def test_a_path_without_a_domain_tool_has_no_kind() -> None:
    assert task_type([]) == ""
    assert task_type([GoldStep(tool="get_user_confirmation")]) == ""


def learning_episode(**session: Any) -> Episode:
    return Episode.model_validate(
        {
            "episode_id": "ola_seed000",
            "raw_persona": {"persona_id": "ola", "narrative": "Ola mends clocks."},
            "structured_persona": {"secret": "structured"},
            "rules": [
                {
                    "rule_id": "r1",
                    "rule_text": "Ola likes brass.",
                    "canonical_answer": "Brass for me.",
                    "check_type": "param_id",
                    "action_step": {"tool": "place_order", "param": "product_id"},
                }
            ],
            "learning_sessions": [
                {
                    "session_id": "ls0",
                    "day_offset": 0,
                    "domain": "commerce",
                    "reason_for_call": "Get clock oil",
                    "task_params": {},
                    "expected_tools": ["secret_tool"],
                    "gold_trajectory": [],
                    "local_env": {"tools": [], "references": []},
                }
                | session
            ],
            "test_sessions": [],
        }
    )


def test_a_brief_holds_the_objects_that_requirements_name_and_no_others() -> None:
    references = [{"id": id_, "type": "product", "attributes": {"name": id_}} for id_ in ("p1", "p2", "p3")]
    episode = learning_episode(
        task_params={"oil": {"value": "p1"}, "also": ["p3", 4], "note": "p2 or so"},
        local_env={"tools": [], "references": references},
        gold_trajectory=[{"tool": "search_products", "arguments": {"category": "oil"}}],
    )
    brief = UserBrief.of(episode, episode.learning_sessions[0])
    assert brief.task_params == {"oil": "p1", "also": ["p3", 4], "note": "p2 or so"}
    assert list(brief.references) == ["p1", "p3"]
    assert brief.narrative == "Ola mends clocks."
    assert brief.task_type == task_type(brief.gold_trajectory) != ""
    assert brief.hint == {}


def test_only_a_bare_value_wrapper_is_taken_off() -> None:
    wrapped = {"amount": {"value": 3, "unit": "l"}}
    episode = learning_episode(task_params=wrapped)
    assert UserBrief.of(episode, episode.learning_sessions[0]).task_params == wrapped


def test_a_brief_says_nothing_of_rules_or_hidden_fields() -> None:
    episode = learning_episode()
    told = repr(UserBrief.of(episode, episode.learning_sessions[0]))
    assert not any(secret in told for secret in ("brass", "Brass", "r1", "secret"))
