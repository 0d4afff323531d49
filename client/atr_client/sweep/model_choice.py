"""A model as a run configuration names it: by its id, or with what this run wants of it."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BeforeValidator, Field, model_validator

from atr_client.models.catalogue import ModelFacts, ModelOverride, Reasoning, ReasoningSwitch, on_off


class ModelChoice(ModelFacts):
    """A model of the sweep: its id alone, or what this run wants of it. `reasoning` is a position of the
    switch (left out it follows the run, null sends no reasoning setting) or the switch itself; every other
    key of a registry entry may stand here as well. An id that begins with `cmd/` is an agent that is a
    program: `command` says how it is called, `environment` and `pass_environment` what it gets beyond its own
    few variables."""

    id: str
    reasoning: Annotated[
        Reasoning | ReasoningSwitch | None,
        BeforeValidator(on_off, json_schema_input_type=Reasoning | bool | ReasoningSwitch | None),
    ] = None
    temperature: float | None = Field(default=None, ge=0)
    requests_per_minute: int | None = Field(default=None, gt=0)
    tokens_per_minute: int | None = Field(default=None, gt=0)
    command: list[str] | None = Field(default=None, min_length=1)
    environment: dict[str, str] = Field(default_factory=dict[str, str])
    pass_environment: list[str] = Field(default_factory=list[str])

    @model_validator(mode="after")
    def _only_programs_have_commands(self) -> ModelChoice:
        if not self.id.startswith("cmd/") and (self.command or self.environment or self.pass_environment):
            raise ValueError("command, environment and pass_environment are for ids that begin with cmd/")
        return self

    def reasoning_in(self, run: Reasoning | None) -> Reasoning | None:
        if isinstance(self.reasoning, ReasoningSwitch) or "reasoning" not in self.model_fields_set:
            return run
        return self.reasoning

    @property
    def entry(self) -> ModelOverride | None:
        """What it says about the model beyond the registry."""
        said = self.model_dump(include=set(ModelFacts.model_fields), exclude_none=True, exclude_unset=True)
        if isinstance(self.reasoning, ReasoningSwitch):
            said["reasoning"] = self.reasoning.model_dump()
        return ModelOverride.model_validate(said) if said else None


def _by_id(value: Any) -> Any:
    return {"id": value} if isinstance(value, str) else value


ModelName = Annotated[ModelChoice, BeforeValidator(_by_id, json_schema_input_type=str | ModelChoice)]
"""An entry of `models`: an id alone, or a ModelChoice."""
