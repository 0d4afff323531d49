"""The arguments of the workstream tools. Their JSON Schema is what an agent sees."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, StrictFloat, StrictInt, StrictStr, field_validator

from atr_data.timing.intents import Intent

Share = Annotated[StrictFloat | StrictInt, Field(ge=0, le=1, allow_inf_nan=False)]
_MAX_SLOTS = 8


class Arguments(BaseModel):
    """Unknown arguments are errors."""

    model_config = ConfigDict(extra="forbid")


class Nothing(Arguments):
    pass


class StaySilent(Arguments):
    event_id: StrictStr = Field(description="The current event's id.")
    for_events: StrictInt = Field(1, ge=1, le=10, description="Silence for this many events, this one first.")
    confidence: Share | None = Field(None, description="How sure you are that silence is right, 0 to 1.")


class AssistArguments(Arguments):
    event_id: StrictStr = Field(description="The current event's id.")
    intent: Intent = Field(description="What the user wants help with.")
    target: StrictStr | None = Field(
        None, max_length=200, description="Id of the file or page that the help is about, as events give it."
    )
    slots: dict[StrictStr, StrictStr] = Field(
        default_factory=dict[str, str], description="Details, with the keys that the intent takes."
    )
    query: StrictStr | None = Field(
        None, max_length=500, description="The question as the user would put it, naming what it is about."
    )
    confidence: Share | None = Field(None, description="How sure you are that help is wanted, 0 to 1.")

    @field_validator("slots")
    @classmethod
    def _few(cls, slots: dict[str, str]) -> dict[str, str]:
        if len(slots) > _MAX_SLOTS:
            raise ValueError(f"at most {_MAX_SLOTS} slots")
        return slots


class Recent(Arguments):
    seconds: Annotated[StrictFloat | StrictInt, Field(gt=0, allow_inf_nan=False)] = Field(
        description="How far back to look; capped at the history window."
    )


class SearchPast(Arguments):
    query: StrictStr = Field(min_length=1, max_length=500, description="Words to look for.")
    k: StrictInt = Field(5, ge=1, le=20, description="How many events at most.")


class Habits(Arguments):
    app: StrictStr = Field(max_length=200, description="Application name, as events give it.")
