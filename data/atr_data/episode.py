"""An episode: one persona, its standing rules, learning sessions and test sessions.

Unknown keys are ignored when a file is read; `atr-client validate` names them.
"""

from __future__ import annotations

import re
from typing import Any, Literal, cast

from pydantic import BaseModel, ConfigDict, Field, computed_field

CheckType = Literal["tool_identity", "param_id", "param_enum", "confirm"]


class Record(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)


class RawPersona(Record):
    """Source record of the persona; keys of its own are kept."""

    model_config = ConfigDict(extra="allow", frozen=True)

    persona_id: str
    narrative: str
    nemotron_uuid: str = ""
    general_domain: str = ""
    specific_domain: str = ""


class ActionStep(Record):
    tool: str
    param: str | None = None


class Evidence(Record):
    type: Literal["direct", "inferred"]
    content: str


class Rule(Record):
    """A durable preference of the user, bound to one tool call.

    `canonical_answer` is what the user says when asked a fitting question; nothing else here is ever seen by
    an agent or a simulated user.
    """

    rule_id: str
    rule_text: str
    canonical_answer: str
    check_type: CheckType
    action_step: ActionStep
    counterfactual_default: str = ""
    evidence: list[Evidence] = Field(default_factory=list[Evidence])


class Reference(Record):
    """An object of the session's world: a product, a message, a flight offer, ..."""

    id: str
    type: str
    attributes: dict[str, Any] = Field(default_factory=dict)


class LocalEnv(Record):
    """What a session's environment is made of: the tool whitelist and the objects."""

    tools: list[str]
    references: list[Reference] = Field(default_factory=list[Reference])


class GoldStep(Record):
    tool: str
    arguments: dict[str, Any] = Field(default_factory=dict)


class LearningSession(Record):
    """The user is online, played by a simulator that sees everything here but `expected_tools`."""

    session_id: str
    session_type: Literal["learning"] = "learning"
    day_offset: int
    domain: str
    reason_for_call: str
    task_params: dict[str, Any]
    expected_tools: list[str]
    gold_trajectory: list[GoldStep]
    local_env: LocalEnv


class RequiredAction(Record):
    """A call that must be made. `compare_args` null: the tool alone decides."""

    tool: str
    arguments: dict[str, Any] = Field(default_factory=dict)
    compare_args: list[str] | None = None


class TaskSuccess(Record):
    required_actions: list[RequiredAction] = Field(default_factory=list[RequiredAction])


class Labels(Record):
    """`target` names the object acted on: a diagnostic, never part of the pass mark."""

    task_success: TaskSuccess = Field(default_factory=TaskSuccess)
    target: dict[str, Any] = Field(default_factory=dict)


class RuleRef(Record):
    rule_id: str
    rule_text: str
    canonical_answer: str


class TestSession(Record):
    """The user is offline; the agent sees `instruction`, the tools and its memory."""

    __test__ = False

    session_id: str
    session_type: Literal["test"] = "test"
    domain: str
    rule_id: str
    instruction: str
    local_env: LocalEnv
    labels: Labels
    rule_ref: RuleRef | None = None


class Metadata(Record):
    """Provenance. `selected_rules` are the covered ones: some learning session gives occasion to ask."""

    model_config = ConfigDict(extra="allow", frozen=True)

    selected_rules: list[str] | None = None


class PersonaProfile(Record):
    """What the tools know of the account holder; fills identity arguments that an agent leaves out."""

    persona_id: str
    narrative: str = ""
    home_city: str = ""
    home_zone: str = "suburban"
    default_shipping_address: str = ""
    default_payment_method: str = ""
    default_contact: str = ""


class Episode(Record):
    episode_id: str
    raw_persona: RawPersona
    structured_persona: dict[str, Any]
    rules: list[Rule]
    learning_sessions: list[LearningSession]
    test_sessions: list[TestSession]
    metadata: Metadata = Field(default_factory=Metadata)

    @computed_field
    @property
    def persona_id(self) -> str:
        return self.raw_persona.persona_id

    @property
    def short_id(self) -> str:
        """The episode id without its persona prefix, as it stands in run paths: `seed000`."""
        return self.episode_id.removeprefix(f"{self.persona_id}_")

    @property
    def seed(self) -> int | None:
        """The composition seed in the episode id, or None when it has none."""
        return seed_of(self.episode_id)

    @property
    def profile(self) -> PersonaProfile:
        return persona_profile(self.raw_persona, self.structured_persona)

    def rule(self, rule_id: str) -> Rule | None:
        """The rule of that id; of several the last one."""
        return next((rule for rule in reversed(self.rules) if rule.rule_id == rule_id), None)

    def ordered_learning_sessions(self) -> list[LearningSession]:
        """In the order in which they are run."""
        return sorted(self.learning_sessions, key=lambda session: session.day_offset)


def seed_of(episode_id: str) -> int | None:
    """The number in the first `seed<N>` that stands between underscores, or None."""
    match = re.search(r"(?:^|_)seed(\d+)(?=_|$)", episode_id)
    return int(match[1]) if match else None


def persona_profile(raw: RawPersona, structured: dict[str, Any]) -> PersonaProfile:
    """Account data derived from the persona (tool specification, section 2)."""
    demographics = cast(dict[str, Any], structured.get("demographics") or {})
    city, state, zipcode = (str(demographics.get(k) or "").strip() for k in ("city", "state", "zipcode"))
    return PersonaProfile(
        persona_id=raw.persona_id,
        narrative=raw.narrative,
        home_city=f"{city}, {state}".strip(", "),
        default_shipping_address=f"{city}, {state} {zipcode}".strip(", ") if city else "",
        default_payment_method=f"CARD_{raw.persona_id[:6].upper()}",
        default_contact=f"{raw.persona_id}@mail.example",
    )
