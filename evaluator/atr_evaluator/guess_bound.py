"""What any chooser that has not learned a rule passes at most, in expectation over the draws of faces."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Self, cast

from atr_data.episode import Episode

LIMIT, LIMIT_CONFIRMING = 0.36, 0.44
"""What the dataset keeps to."""


@dataclass(frozen=True, slots=True)
class GuessBound:
    """`plain` is for one write and no confirmation, `confirming` for a chooser that also confirms every
    write, `spraying` for one that also carries every rival tool out, which the pass mark does not notice."""

    plain: float
    confirming: float
    spraying: float

    @classmethod
    def of(cls, rules: Iterable[tuple[str, int]]) -> Self:
        """From check types and numbers of faces. Each face is as likely as the others, whatever is seen."""
        known = list(rules)
        total = max(1, len(known))
        confirms = sum(kind == "confirm" for kind, _ in known)
        tools = sum(1 - 1 / faces for kind, faces in known if kind == "tool_identity")
        plain = sum(1 / faces for kind, faces in known if kind != "confirm")
        return cls(plain / total, (plain + confirms) / total, (plain + tools) / total)

    @property
    def ok(self) -> bool:
        return self.plain <= LIMIT and self.confirming <= LIMIT_CONFIRMING

    def __str__(self) -> str:
        return f"{self.plain:.3f}, confirming {self.confirming:.3f}, spraying {self.spraying:.3f}"


def guess_bound(episodes: Iterable[Episode]) -> GuessBound | None:
    """From the counts of faces in the metadata; None where an episode does not say how many there are."""
    rules: list[tuple[str, int]] = []
    for episode in episodes:
        counts = face_counts(episode)
        if any(rule.rule_id not in counts for rule in episode.rules):
            return None
        rules += [(rule.check_type, counts[rule.rule_id]) for rule in episode.rules]
    return GuessBound.of(rules) if rules else None


def dataset_of(episode: Episode) -> str:
    """The release of the data that an episode is of, as far as its metadata say."""
    version: Any = (episode.metadata.model_extra or {}).get("source_version")
    return f"source {version}" if isinstance(version, str) and version else "without a version"


def face_counts(episode: Episode) -> Mapping[str, int]:
    """Rule id to number of faces, as far as the metadata say."""
    faces: Any = (episode.metadata.model_extra or {}).get("faces")
    counts: Any = cast(dict[str, Any], faces).get("counts") if isinstance(faces, dict) else None
    return cast(dict[str, int], counts) if isinstance(counts, dict) else {}
