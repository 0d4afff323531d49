"""Messages with their folders and labels, drafts and sent mail."""

from __future__ import annotations

from typing import Any

from atr_servers.domains.matching import listing, loose_match, search_answer
from atr_servers.domains.tables import Attributes, Column, Refusal, Row, State, Table, excerpt, own_id


def _nothing(reference_id: str, attributes: Attributes) -> None:
    """For a column that no attribute fills."""


TABLES = (
    Table(
        "messages",
        "message_id",
        "message",
        "search_messages lists the messages, archived ones under the folder archive.",
        reference_types=("message",),
        columns=(
            Column("sender", "text", "unknown"),
            Column("subject", "text", ""),
            Column("body", "text", "", shown=False),
            Column("folder", "text", "inbox"),
            Column("priority", "text", "normal"),
            Column("thread_id", "text?"),
            Column("labels", "texts", ()),
            Column("timestamp", "text?"),
            Column("archived", "flag", False),
            Column("assigned_folder_id", "text?", read=_nothing, takes=()),
        ),
    ),
    Table(
        "folders",
        "folder_id",
        "folder",
        reference_types=("folder",),
        columns=(own_id("name"), Column("purpose", "text?")),
        keeps_attributes=False,
    ),
    Table(
        "labels",
        "label_id",
        "label",
        reference_types=("label",),
        columns=(own_id("name"), Column("topic", "text?")),
        keeps_attributes=False,
    ),
    Table("drafts", "draft_id", "draft", "draft_message answers the draft ids."),
    Table("sent", "sent_id", "sent message", "send_message and send_draft answer the ids."),
)


def search_messages(state: State, *, sender: str | None = None, folder: str | None = None) -> dict[str, Any]:
    def lies_there(row: Row) -> bool:
        if folder == "archive":
            return row["archived"]
        return not row["archived"] and loose_match(folder, row["folder"])

    rows = state.rows["messages"].values()
    found = [row for row in rows if loose_match(sender, row["sender"]) and lies_there(row)]
    return search_answer(state, "messages", found)


def list_labels(state: State) -> dict[str, Any]:
    return listing(state, "labels")


def list_message_folders(state: State) -> dict[str, Any]:
    return listing(state, "folders")


def set_message_priority(state: State, *, message_ids: list[str], priority: str) -> dict[str, Any]:
    for message in state.known_all("messages", message_ids):
        message["priority"] = priority
    return {"prioritized": len(message_ids), "priority": priority}


def archive_messages(state: State, *, message_ids: list[str], folder_id: str | None = None) -> dict[str, Any]:
    assigned: Row = {}
    if folder_id is not None:
        state.known("folders", folder_id)
        assigned = {"assigned_folder_id": folder_id}
    for message in state.known_all("messages", message_ids):
        message.update(archived=True, folder="archive", **assigned)
    return {"archived": len(message_ids), "folder_id": folder_id}


def draft_message(
    state: State,
    *,
    body: str,
    recipient: str | None = None,
    subject: str | None = None,
    thread_id: str | None = None,
    language: str | None = None,
) -> dict[str, Any]:
    mail = _mail(
        state, body=body, recipient=recipient, subject=subject, thread_id=thread_id, language=language
    )
    return {"draft_id": state.add("drafts", "DRAFT_", **mail), "status": "drafted"}


def send_message(
    state: State,
    *,
    body: str,
    recipient: str | None = None,
    subject: str | None = None,
    thread_id: str | None = None,
    language: str | None = None,
) -> dict[str, Any]:
    mail = _mail(
        state, body=body, recipient=recipient, subject=subject, thread_id=thread_id, language=language
    )
    return {"sent_id": state.add("sent", "SENT_", **mail), "status": "sent"}


def _mail(state: State, **mail: str | None) -> Row:
    thread_id = mail["thread_id"]
    threads = {message["thread_id"] for message in state.rows["messages"].values()}
    if thread_id is not None and thread_id not in threads:
        raise Refusal(
            f"no message is in the thread {excerpt(thread_id)}; search_messages shows the thread_id of each"
            " message. Leave thread_id out to write a new mail."
        )
    return dict(mail)


def label_messages(state: State, *, message_ids: list[str], label_ids: list[str]) -> dict[str, Any]:
    names = [label["name"] for label in state.known_all("labels", label_ids)]
    distinct = list(dict.fromkeys(names))
    for message in state.known_all("messages", message_ids):
        message["labels"] += [name for name in distinct if name not in message["labels"]]
    return {"labeled": len(message_ids), "label_ids": label_ids, "names": names}


def send_draft(state: State, *, draft_id: str) -> dict[str, Any]:
    """Sends a copy; the draft stays and can be sent again."""
    draft = state.known("drafts", draft_id)
    mail = {name: value for name, value in draft.items() if name != "draft_id"}
    sent_id = state.add("sent", "SENT_", **mail)
    return {"sent_id": sent_id, "status": "sent", "from_draft_id": draft_id}
