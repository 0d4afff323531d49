"""What a user wants help with: a face per kind of scene, drawn under a salt, some drawn anew on one day."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from atr_data.timing.gold import Habit
from atr_data.timing.intents import Intent
from atr_datagen.timing.chronicle import Kind
from atr_datagen.timing.draws import keyed
from atr_datagen.timing.lexicon import Lexicon
from atr_datagen.timing.settings import Settings


@dataclass(frozen=True, slots=True)
class Face:
    """Help is wanted where `attribute` has `value`."""

    attribute: str
    value: str


@dataclass(frozen=True, slots=True)
class Faces:
    """One user's faces under the salt of the settings."""

    settings: Settings
    lexicon: Lexicon
    user_id: str

    def face(self, kind: Kind, day: int) -> Face:
        salt, pairs = self.settings.salt, self.lexicon.pairs(kind)
        changes = keyed(salt, self.user_id, kind.name, "changes") < self.settings.change_share
        period = "after" if changes and day >= self.settings.change_day else "before"
        return Face(*pairs[int(keyed(salt, self.user_id, kind.name, period) * len(pairs))])

    def intent(self, kind: Kind) -> Intent:
        return kind.intents[int(keyed(self.settings.salt, self.user_id, kind.name, "intent") * 3)]

    def habits(self, kinds: Iterable[Kind]) -> list[Habit]:
        """As gold records: one per kind, two where the face changes."""
        days = self.settings.days
        found: list[Habit] = []
        for kind in kinds:
            before, after = self.face(kind, 1), self.face(kind, days)
            change = self.settings.change_day
            periods = [(before, 1, days)]
            if before != after:
                periods = [(before, 1, change - 1), (after, change, days)]
            for face, first, last in periods:
                found.append(
                    Habit(
                        habit_id=habit_id(kind, first),
                        user_id=self.user_id,
                        kind=kind.name,
                        attribute=face.attribute,
                        value=face.value,
                        intent=self.intent(kind),
                        first_day=first,
                        last_day=last,
                        propensity=self.settings.need_if_face,
                    )
                )
        return found


def habit_id(kind: Kind, first_day: int) -> str:
    """The name of a habit within its user's gold."""
    return f"h-{kind.name}-{first_day}"
