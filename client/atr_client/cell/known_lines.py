"""What the user of an episode on file knows of her rules."""

from __future__ import annotations

import os
from pathlib import Path

from atr_client.cell.episode_runner import UserMaker, offline_users
from atr_data.episode import Episode
from atr_data.errors import DataError
from atr_user_sim.lines import RuleLines, lines_beside, load_lines, official_lines
from atr_user_sim.offline import offline_classifier


def known_lines(episode: Episode, path: Path) -> dict[str, RuleLines]:
    """What the user of an episode knows of her rules: the file beside it, else the lines that ship for the
    official rules, when they cover all its rules. Raises DataError for a file that is none or lacks a rule.
    """
    beside = lines_beside(path, episode.persona_id)
    found = load_lines(beside) if os.path.lexists(beside) else official_lines()
    rules = sorted({rule.rule_id for rule in episode.rules})
    missing = [rule for rule in rules if rule not in found]
    if missing and os.path.lexists(beside):
        raise DataError("no lines for this rule", path=beside, key=missing[0])
    return {} if missing else {rule: found[rule] for rule in rules}


def users_on_file(episode: Episode, path: Path) -> UserMaker:
    """The offline user of an episode that was read from there, as a run has her. Raises DataError as
    `known_lines` does."""
    return offline_users(offline_classifier(lines=known_lines(episode, path)))
