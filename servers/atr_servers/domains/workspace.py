"""Files and their folders, documents, and trackers with their entries."""

from __future__ import annotations

from typing import Any, cast

from atr_servers.domains.matching import listing, loose_match, search_answer
from atr_servers.domains.tables import (
    Attributes,
    Column,
    Refusal,
    Row,
    Rows,
    State,
    Table,
    attribute,
    excerpt,
    free_id,
    own_id,
)


def _entries(_: str, attributes: Attributes) -> Rows:
    """Entries by id; what is no object with an `entry_id`, or no list at all, is passed over."""
    listed = attributes.get("entries")
    items = cast("list[object]", listed) if isinstance(listed, list) else []
    entries = [cast(Row, item) for item in items if isinstance(item, dict) and "entry_id" in item]
    return {
        attribute(entry, "entry_id", "text"): {
            "entry_id": entry["entry_id"],
            "status": entry.get("status", "open"),
            "next_action": entry.get("next_action"),
            "payload": entry.get("payload"),
        }
        for entry in entries
    }


TABLES = (
    Table(
        "files",
        "file_id",
        "file",
        reference_types=("file",),
        columns=(
            own_id("name"),
            Column("file_type", "text", "other"),
            Column("location", "text", "/"),
            Column("archived", "flag", False),
            Column("owner", "text?"),
            Column("labels", "texts", ()),
        ),
    ),
    Table(
        "documents",
        "document_id",
        "document",
        reference_types=("document",),
        columns=(
            own_id("title"),
            Column("doc_type", "text", "note"),
            Column("location", "text", "/"),
            Column("content_brief", "text?"),
        ),
    ),
    Table(
        "trackers",
        "tracker_id",
        "tracker",
        reference_types=("tracker",),
        columns=(own_id("title"), Column("entries", "any", read=_entries)),
        keeps_attributes=False,
    ),
    Table(
        "folders",
        "folder_id",
        "folder",
        reference_types=("folder",),
        columns=(own_id("name"), Column("purpose", "text?")),
        keeps_attributes=False,
    ),
)


def list_files(state: State, *, location: str | None = None, file_type: str | None = None) -> dict[str, Any]:
    found = [
        row
        for row in state.rows["files"].values()
        if loose_match(location, row["location"]) and loose_match(file_type, row["file_type"])
    ]
    return search_answer(state, "files", found)


def list_trackers(state: State) -> dict[str, Any]:
    trackers = [
        {"tracker_id": row["tracker_id"], "title": row["title"], "entry_count": len(row["entries"])}
        for row in state.rows["trackers"].values()
    ]
    return {"count": len(trackers), "results": trackers}


def list_file_folders(state: State) -> dict[str, Any]:
    return listing(state, "folders")


def search_documents(
    state: State, *, location: str | None = None, doc_type: str | None = None
) -> dict[str, Any]:
    found = [
        row
        for row in state.rows["documents"].values()
        if loose_match(location, row["location"]) and loose_match(doc_type, row["doc_type"])
    ]
    return search_answer(state, "documents", found)


def classify_files(state: State, *, file_ids: list[str], scheme: str) -> dict[str, Any]:
    for file in state.known_all("files", file_ids):
        label = f"{scheme}:{_class_of(file, scheme)}"
        if label not in file["labels"]:
            file["labels"].append(label)
    return {"classified": len(file_ids), "scheme": scheme}


def _class_of(file: Row, scheme: str) -> object:
    match scheme:
        case "by_project":
            return file["attributes"].get("project", "unassigned")
        case "by_type":
            return file["file_type"]
        case "by_date":
            return file["attributes"].get("modified_date", "unknown")
        case "by_owner":
            return file["owner"] or "unknown"
        case _:
            return file["attributes"].get("priority", "normal")


def move_files(state: State, *, file_ids: list[str], folder_id: str) -> dict[str, Any]:
    name = _put(state, file_ids, folder_id, {})
    return {"moved": len(file_ids), "folder_id": folder_id, "name": name}


def archive_files(state: State, *, file_ids: list[str], folder_id: str) -> dict[str, Any]:
    name = _put(state, file_ids, folder_id, {"archived": True})
    return {"archived": len(file_ids), "folder_id": folder_id, "name": name}


def _put(state: State, file_ids: list[str], folder_id: str, changes: Row) -> str:
    name = state.known("folders", folder_id)["name"]
    for file in state.known_all("files", file_ids):
        file.update(location=name, **changes)
    return name


def delete_files(state: State, *, file_ids: list[str]) -> dict[str, Any]:
    state.known_all("files", file_ids)
    if len(set(file_ids)) < len(file_ids):
        raise Refusal("file_ids: the same file stands there twice; nothing was deleted")
    for file_id in file_ids:
        del state.rows["files"][file_id]
    return {"deleted": len(file_ids)}


def create_document(
    state: State, *, doc_type: str, title: str, location: str, content_brief: str | None = None
) -> dict[str, Any]:
    document_id = state.add(
        "documents",
        "DOC_",
        title=title,
        doc_type=doc_type,
        location=location,
        content_brief=content_brief,
        attributes={},
    )
    return {"document_id": document_id, "status": "created"}


def update_document(state: State, *, document_id: str, content_delta: str) -> dict[str, Any]:
    document = state.known("documents", document_id)
    old = document["content_brief"]
    document["content_brief"] = content_delta if old is None else f"{old}\n{content_delta}"
    return {"document_id": document_id, "status": "updated"}


def update_tracker(
    state: State,
    *,
    tracker_id: str,
    update_action: str,
    entry_id: str | None = None,
    entry_payload: str | None = None,
) -> dict[str, Any]:
    entries = state.known("trackers", tracker_id)["entries"]
    if update_action == "create_entry":
        entry_id = entry_id or free_id(entries, "ENT_")
        entries[entry_id] = {
            "entry_id": entry_id,
            "status": "open",
            "next_action": None,
            "payload": entry_payload,
        }
        return {"tracker_id": tracker_id, "entry_id": entry_id, "action": "created"}
    if entry_id is None or entry_id not in entries:
        raise Refusal(
            f"entry_id: {excerpt(entry_id)} is no entry of the tracker {excerpt(tracker_id)};"
            f" {update_action} needs one, and create_entry answers the ids of the entries it makes"
        )
    match update_action:
        case "update_status":
            entries[entry_id]["status"] = "in_progress"
        case "record_next_action":
            entries[entry_id]["next_action"] = entry_payload
        case _:
            entries[entry_id]["status"] = "closed"
    return {"tracker_id": tracker_id, "entry_id": entry_id, "action": update_action}
