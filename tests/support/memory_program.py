"""A memory server as a third party would write one: a program that keeps texts in a file and speaks JSON-RPC.

`python memory_program.py FILE [--FAULT]`; faults: `dies` on the first write, `loses` writes, answers `late`,
`masked` errors (an error text without the flag), `wordy` (other descriptions), `paged` (one tool per page),
`mute` (begins no session). `tardy` is none: it writes its file when it is told to end.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

FILE, FAULT = Path(sys.argv[1]), (sys.argv[2:] or ["--none"])[0].removeprefix("--")
WORDS = "Keep a text for good, please." if FAULT == "wordy" else "Keep a text."
TEXT = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
QUERY = {"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]}
UNWRITTEN: list[str] = []
TOOLS = [
    {"name": "remember", "description": WORDS, "inputSchema": TEXT},
    {"name": "recall", "description": "Texts that share a word with the query.", "inputSchema": QUERY},
    {"name": "list_files", "description": "As a session's own tool.", "inputSchema": {"type": "object"}},
]
METHOD_NOT_FOUND = -32601


def listed(cursor: str | None) -> dict[str, Any]:
    if FAULT != "paged":
        return {"tools": TOOLS}
    page = int(cursor or 0)
    following = {"nextCursor": str(page + 1)} if page + 1 < len(TOOLS) else {}
    return {"tools": TOOLS[page : page + 1], **following}


def called(name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    if FAULT == "late":
        time.sleep(60)
    try:
        texts = json.loads(FILE.read_text(encoding="utf-8")) if FILE.exists() else []
    except ValueError as error:
        return answer(str(error), is_error=True)
    if name == "list_files":
        return answer(json.dumps(texts))
    if name == "recall":
        words = set(arguments["query"].lower().split())
        return answer(json.dumps([text for text in texts if words & set(text.lower().split())]))
    if FAULT == "dies":
        print("out of paper", file=sys.stderr, flush=True)
        sys.exit(3)
    if FAULT == "masked":
        return answer("Error: the shelf is full")
    if FAULT == "tardy":
        UNWRITTEN.append(arguments["text"])
    elif FAULT != "loses":
        FILE.write_text(json.dumps([*texts, arguments["text"]]), encoding="utf-8")
    return answer("kept")


def answer(text: str, *, is_error: bool = False) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": text}], "isError": is_error}


def result_of(method: str, params: dict[str, Any]) -> dict[str, Any] | None:
    match method:
        case "initialize":
            info = {"name": "shelf", "version": "7"}
            return {
                "protocolVersion": "2025-06-18",
                "capabilities": {"tools": {}},
                "serverInfo": info,
            }
        case "tools/list":
            return listed(params.get("cursor"))
        case "tools/call":
            return called(params["name"], params.get("arguments") or {})
        case _:
            return None


def main() -> None:
    for line in sys.stdin:
        message = json.loads(line)
        if "id" not in message or (FAULT == "mute" and message["method"] == "initialize"):
            continue
        result = result_of(message["method"], message.get("params") or {})
        told = {"error": {"code": METHOD_NOT_FOUND, "message": "no such method"}} if result is None else {}
        reply = {"jsonrpc": "2.0", "id": message["id"], **(told or {"result": result})}
        print(json.dumps(reply), flush=True)
    if UNWRITTEN:
        texts = json.loads(FILE.read_text(encoding="utf-8")) if FILE.exists() else []
        FILE.write_text(json.dumps([*texts, *UNWRITTEN]), encoding="utf-8")


if __name__ == "__main__":
    main()
