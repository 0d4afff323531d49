"""The programs with which an external agent came, as a cell's manifest lists them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from atr_client.outputs.manifest import read_manifest
from atr_data.files import write_atomic


def note_client(path: Path, client: Mapping[str, str]) -> None:
    """Adds a client to the manifest on disk, once. Without a manifest nothing is noted."""
    manifest = read_manifest(path)
    if manifest is None or client in manifest.get("clients", []):
        return
    clients = [*manifest.get("clients", []), dict(client)]
    write_atomic(path, json.dumps({**manifest, "clients": clients}, ensure_ascii=False, indent=2) + "\n")
