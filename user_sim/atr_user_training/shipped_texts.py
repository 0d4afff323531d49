"""What the users of the personas that ship know of their rules: its vectors ship too."""

from __future__ import annotations

from atr_data import load_episode
from atr_data.select import episode_files, packaged_episodes_dir
from atr_user_sim.lines import lines_beside, load_lines, official_lines
from atr_user_sim.offline.knowledge import KnownRule


def shipped_texts() -> set[str]:
    """Of the official rules only the lines: their statements are not ours to keep."""
    found = {text for lines in official_lines().values() for text in KnownRule("", lines).texts}
    for path in episode_files(packaged_episodes_dir()).values():
        episode = load_episode(path)
        lines = load_lines(lines_beside(path, episode.persona_id))
        for rule in episode.rules:
            found.update(KnownRule(rule.canonical_answer, lines[rule.rule_id]).texts)
    return found - {""}
