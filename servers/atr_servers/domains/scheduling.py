"""Calendar events, invitations and reminders."""

from __future__ import annotations

from typing import Any

from atr_servers.domains.matching import loose_match, moment, search_answer, shares_text, tracking
from atr_servers.domains.tables import Attributes, Column, Refusal, State, Table, excerpt


def _title(event_id: str, attributes: Attributes) -> object:
    return attributes.get("title") or attributes.get("name", event_id)


TABLES = (
    Table(
        "events",
        "event_id",
        "event",
        reference_types=("calendar_event", "event"),
        columns=(
            Column("title", "text", read=_title, takes=("title", "name")),
            Column("start_time", "text", ""),
            Column("end_time", "text", ""),
            Column("participants", "texts", ()),
            Column("location", "text?"),
            Column("status", "text", "confirmed"),
            Column("calendar", "text", "default"),
        ),
    ),
    Table("reminders", "reminder_id", "reminder", "set_reminder answers the ids."),
)

_STATUS_OF = {"accept": "confirmed", "decline": "declined", "tentative": "tentative"}


def list_events(
    state: State, *, calendar: str | None = None, participants: list[str] | None = None
) -> dict[str, Any]:
    found = [
        row
        for row in state.rows["events"].values()
        if row["status"] != "cancelled"
        and loose_match(calendar, row["calendar"])
        and (not participants or shares_text(participants, row["participants"]))
    ]
    return search_answer(state, "events", found)


def check_conflicts(
    state: State, *, start_time: str, end_time: str, participants: list[str] | None = None
) -> dict[str, Any]:
    """Unlike in list_events, participants count in exact case and an empty list means nobody."""
    start, end = moment(start_time, "start_time"), moment(end_time, "end_time")
    conflicts = [
        {name: row[name] for name in ("event_id", "title", "start_time", "end_time")}
        for row in state.rows["events"].values()
        if row["status"] != "cancelled"
        and row["start_time"] < end
        and row["end_time"] > start
        and (participants is None or not set(participants).isdisjoint(row["participants"]))
    ]
    return {"conflicts": conflicts, "has_conflict": bool(conflicts)}


def create_event(
    state: State,
    *,
    title: str,
    start_time: str,
    end_time: str,
    participants: list[str] | None = None,
    location: str | None = None,
) -> dict[str, Any]:
    start, end = _span(start_time, end_time, "start_time", "end_time")
    event_id = state.add(
        "events",
        "EVT_",
        title=title,
        start_time=start,
        end_time=end,
        participants=participants or [],
        location=location,
        status="confirmed",
        calendar="default",
        attributes={},
    )
    return {"event_id": event_id, "status": "confirmed"}


def reschedule_event(
    state: State, *, event_id: str, new_start_time: str, new_end_time: str
) -> dict[str, Any]:
    start, end = _span(new_start_time, new_end_time, "new_start_time", "new_end_time")
    state.known("events", event_id).update(start_time=start, end_time=end)
    return {"event_id": event_id, "status": "rescheduled"}


def _span(start_time: str, end_time: str, start_name: str, end_name: str) -> tuple[str, str]:
    start, end = moment(start_time, start_name), moment(end_time, end_name)
    if end <= start:
        raise Refusal(f"{end_name}: {excerpt(end)} is not after {start_name} {excerpt(start)}")
    return start, end


def modify_event(state: State, *, event_id: str, field: str, new_value: str) -> dict[str, Any]:
    names = [name.strip() for name in new_value.split(",")]
    value = [name for name in names if name] if field == "participants" else new_value
    return state.modify("events", event_id, field, value)


def respond_to_event_invite(state: State, *, event_id: str, response: str) -> dict[str, Any]:
    state.set_status("events", event_id, _STATUS_OF[response])
    return {"event_id": event_id, "response": response}


def cancel_event(state: State, *, event_id: str) -> dict[str, Any]:
    return state.set_status("events", event_id, "cancelled")


def set_reminder(
    state: State, *, target_id: str, remind_at: str | None = None, cadence: str | None = None
) -> dict[str, Any]:
    state.known("events", target_id)
    reminder = {
        "target_id": target_id,
        "cadence": cadence,
        "remind_at": None if remind_at is None else moment(remind_at, "remind_at"),
    }
    return {"reminder_id": state.add("reminders", "RMD_", **reminder), **reminder}


def track_event_updates(state: State, *, target_id: str, update_scope: str = "critical") -> dict[str, Any]:
    state.known("events", target_id)
    return tracking(target_id, scope=update_scope)


def find_alternative_slots(state: State, *, target_id: str) -> dict[str, Any]:
    """Answers hints made from the start time; no calendar is looked at."""
    start = state.known("events", target_id)["start_time"]
    slots = [{"slot_id": f"ALT_{target_id}_{i}", "start_hint": f"{start}+{i}d"} for i in (1, 2, 3)]
    return {"target_id": target_id, "alternatives": slots}
