"""The `models` command."""

from __future__ import annotations

import os
from collections.abc import Iterator

from rich.console import Console

from atr_client.cli.failures import reported_errors
from atr_client.models.catalogue import Catalogue, RemoteModel, packaged_catalogue
from atr_client.outputs.fitting import print_line
from atr_client.sweep.config_file import load_config
from atr_client.sweep.registry import ModelEntry, known_models


def models_command(config: str | None) -> None:
    """Lists offline models, and those of the catalogue with the variable of their key, never its value."""
    with reported_errors():
        catalogue = packaged_catalogue()
        if config:
            catalogue = catalogue.extended(load_config(config).registry)
        offline = [(entry.model_id, _offline_notes(entry)) for entry in known_models()]
        remote = [(id_, _remote_notes(catalogue, catalogue.find(id_))) for id_ in catalogue.models]
    width = max(len(model_id) for model_id, _ in (*offline, *remote))
    console = Console()
    for model_id, notes in (*offline, *remote):
        print_line(console, f"{model_id:<{width}}  {notes}", indent="    ")
    print_line(console, f"Any other model of {', '.join(catalogue.providers)} runs by its id: provider/model")


def _offline_notes(entry: ModelEntry) -> str:
    model = entry.offline
    mark = " (privileged)" if model.privileged else " (rule-blind)" if model.rule_blind else ""
    return f"{model.summary}{mark}"


def _remote_notes(catalogue: Catalogue, model: RemoteModel) -> str:
    return "; ".join(_facts(catalogue, model))


def _facts(catalogue: Catalogue, model: RemoteModel) -> Iterator[str]:
    entry = model.entry
    yield entry.wire
    if aliases := catalogue.models[model.model_id].aliases:
        yield f"also {', '.join(aliases)}"
    if entry.context:
        yield f"{entry.context:,} tokens"
    if entry.key:
        yield f"key {entry.key}: {'set' if os.environ.get(entry.key) else 'not set'}"
    else:
        yield "no key needed"
