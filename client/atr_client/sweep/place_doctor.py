"""Whether the cluster and the store of a configuration can be used, found out before a sweep."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from atr_client.errors import ConfigError
from atr_client.outputs.stores import Store
from atr_client.sweep.config import RunConfig
from atr_client.sweep.dask_sweep import connected, described
from atr_client.sweep.folders import outputs_place


@dataclass(frozen=True, slots=True)
class PlaceDiagnosis:
    """`problem` None when the place can be used; `answer` is what was found there."""

    what: str
    address: str
    answer: str = ""
    problem: str | None = None

    def render(self) -> str:
        state = "not ready" if self.problem else "ready"
        return f"{state:<9}  {self.what} {self.address}  {self.answer or self.problem}"


def examine_places(
    config: RunConfig, environment: Mapping[str, str] = os.environ
) -> Iterator[PlaceDiagnosis]:
    """A cluster is asked for its workers; a store is written to. A folder needs no look."""
    if config.cluster:
        try:
            with connected(config.cluster) as client:
                yield PlaceDiagnosis("cluster", config.cluster, described(client))
        except ConfigError as error:
            yield PlaceDiagnosis("cluster", config.cluster, problem=str(error))
    place = outputs_place(config, None, environment)
    if isinstance(place, Store):
        try:
            place.check()
            yield PlaceDiagnosis("outputs", place.address, "can be written to")
        except ConfigError as error:
            yield PlaceDiagnosis("outputs", place.address, problem=str(error))
