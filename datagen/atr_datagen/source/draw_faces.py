"""Which face of each rule a compiled set shows: drawn from a salt, and from nothing else."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from atr_data.errors import DataError
from atr_datagen.source.grammar import RuleBlock

MIN_SALT = 16
"""Characters. A short salt could be found by trying: the digest tells when it is."""

Shown = Mapping[str, int]
"""Rule id to the place of the face that is shown."""


@dataclass(frozen=True, slots=True)
class Salt:
    """What draws one face per rule. Raises DataError when it is too short to stay a secret."""

    text: str
    public: bool = False

    def __post_init__(self) -> None:
        if len(self.text) < MIN_SALT:
            raise DataError(
                f"the salt has {len(self.text)} characters; it needs {MIN_SALT} or more to be no guess"
            )

    def below(self, count: int, rule_id: str) -> int:
        """A number under `count`, uniform over salts: the HMAC-SHA256 of the rule id modulo it."""
        return int.from_bytes(self._digest(rule_id), "big") % count

    def published(self, faces: Mapping[str, str]) -> dict[str, str]:
        """What the metadata say of the draw: a public salt itself, or the digest of the faces under a secret
        one. The digest binds its maker and tells nothing; whoever is given the salt later can compare.
        """
        if self.public:
            return {"salt": self.text}
        told = ",".join(f"{rule_id}={face}" for rule_id, face in sorted(faces.items()))
        return {"digest": f"hmac-sha256:{self._digest(f'faces {told}').hex()}"}

    def _digest(self, message: str) -> bytes:
        return hmac.digest(self.text.encode(), message.encode(), hashlib.sha256)


PUBLIC = Salt("atrbench public faces, set 2.0", public=True)
"""Chosen before any score was looked at. Its draw is the published set."""


def draw_faces(rules: Sequence[tuple[str, RuleBlock]], salt: Salt) -> dict[str, int]:
    """Rule ids and rules of one persona, in file order, to the faces shown.

    The second rule of a scope pair is drawn among the keys that the first did not take, so that one answer
    never serves both.
    """
    shown: dict[str, int] = {}
    taken: dict[str, str] = {}
    for rule_id, rule in rules:
        keys = [face.key for face in rule.faces]
        first = taken.get(rule.pair) if rule.pair else None
        open_to = [place for place, key in enumerate(keys) if key != first]
        shown[rule_id] = open_to[salt.below(len(open_to), rule_id)]
        if rule.pair:
            taken.setdefault(rule.pair, keys[shown[rule_id]])
    return shown
