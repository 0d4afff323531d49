"""The player who knows the gold: the measure of what is possible."""

from __future__ import annotations

from collections.abc import Sequence

from atr_client.timing.choosers.chooser import Seen, User
from atr_data.timing.decisions import Assist
from atr_data.timing.events import Sitting
from atr_data.timing.gold import Need
from atr_evaluator.timing import TimingRules, best_moments
from atr_evaluator.timing.sitting_view import view_sitting, windows_of


class Oracle:
    """Offers the right thing at the first moment that counts."""

    def __init__(self, rules: TimingRules | None = None) -> None:
        self._rules = rules or TimingRules()
        self._needs: dict[str, Need] = {}

    def begin(self, user: User, sitting: Sitting) -> None:
        windows = windows_of(user.gold, self._rules)
        if sitting.decide_from:
            self._needs = _need_after(user, sitting.decide_from)
            return
        view = view_sitting(sitting, user.stream.events_of(sitting), windows, None)
        self._needs = {event_id: window.need for event_id, window in best_moments(view).items()}

    def decide(self, event: Seen, seen: Sequence[Seen]) -> Assist | None:
        need = self._needs.get(event.event_id)
        return None if need is None else right_help(need)


def _need_after(user: User, event_id: str) -> dict[str, Need]:
    """The need that a single moment comes just before, if it does."""
    ordinary = [event for event in user.stream.events if not event.self_help]
    place = next(n for n, event in enumerate(ordinary) if event.event_id == event_id)
    until = ordinary[place + 1].t_release if place + 1 < len(ordinary) else None
    for need in user.gold.needs:
        if need.t_onset > ordinary[place].t_release and (until is None or need.t_onset <= until):
            return {event_id: need}
    return {}


def right_help(need: Need) -> Assist:
    """The offer that a need asks for."""
    facts = " ".join(aliases[0] for aliases in need.facts)
    return Assist(
        intent=need.intent, target=need.target, slots=dict(need.slots), query=facts or need.query or None
    )
