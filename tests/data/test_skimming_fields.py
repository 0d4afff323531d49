"""What the quick reader of trajectories leaves out, by name: a new field is read, or is here."""

from __future__ import annotations

from atr_data.skimming import skim_trajectory
from atr_data.trajectory import Trajectory

LEFT_OUT = {"memory_snapshot", "readability"}


def test_every_other_field_can_be_asked_for() -> None:
    whole = Trajectory(session_id="t", session_type="test", agent_variant="atr")
    skimmed = skim_trajectory("t.json", whole.model_dump_json().encode())
    assert type(skimmed) is not Trajectory
    assert {name for name in Trajectory.model_fields if not hasattr(skimmed, name)} == LEFT_OUT
