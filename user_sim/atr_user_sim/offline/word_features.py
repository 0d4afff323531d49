"""What the words of a question say for and against each rule of a pool. A feature is a column: one number per
rule."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from atr_user_sim.offline.knowledge import KnownPool
from atr_user_sim.offline.statement_fit import Fit, fits
from atr_user_sim.offline.statements import Meaning, Question

Columns = dict[str, list[float]]
_Share = Callable[[frozenset[str]], float]


def word_features(question: Question, pool: KnownPool) -> Columns:
    """Without lines, the columns that the statements alone allow."""
    rules, asked = pool.rules, question.whole.stems
    weight = {stem: pool.idf(stem) for stem in sorted(asked)}
    total = sum(weight.values()) or 1.0

    def share(stems: frozenset[str]) -> float:
        return sum(weight[stem] for stem in weight if stem in stems) / total

    fit = fits(question, [rule.meaning for rule in rules])
    found: Columns = {f"fit_{name}": [getattr(one, name) for one in fit] for name in Fit._fields}
    found["words_statement"] = [share(rule.stems["statement"]) for rule in rules]
    found["words_known"] = [share(pool.all_stems)] * len(rules)
    found["same_situation"] = [
        float(bool(question.whole.situations & rule.meaning.situations)) for rule in rules
    ]
    found["same_aspect"] = [float(bool(question.whole.aspects & rule.meaning.aspects)) for rule in rules]
    if pool.has_lines:
        for source in ("decision", "situation", "beside", "asked", "not_asked"):
            found[f"words_{source}"] = [share(rule.stems[source]) for rule in rules]
        found["words_own"] = [share(rule.own_stems) for rule in rules]
        found["words_beside_only"] = [share(rule.stems["beside"] - rule.own_stems) for rule in rules]
        found["words_near_only"] = [share(rule.stems["not_asked"] - rule.own_stems) for rule in rules]
        found["count_decision"] = [float(len(asked & rule.stems["decision"])) for rule in rules]
        found["count_situation"] = [float(len(asked & rule.stems["situation"])) for rule in rules]
        found["holds_always"] = [float(not rule.about.situation) for rule in rules]
        found["words_of_others"] = [share(stems) for stems in pool.only_others]
        found["line_asked"] = [_best_line(weight, rule.asked, pool) for rule in rules]
        found["line_not_asked"] = [_best_line(weight, rule.not_asked, pool) for rule in rules]
    found["rules"] = [float(len(rules))] * len(rules)
    return with_margins(found, _COMPARED)


_COMPARED = ("words_statement", "words_decision", "words_situation", "words_asked", "words_own", "line_asked")


def with_margins(columns: Columns, names: Sequence[str]) -> Columns:
    """The named columns once more, as the distance to the best of the other rules."""
    for name in names:
        if name in columns:
            columns[f"over_{name}"] = margins(columns[name])
    return columns


def margins(values: Sequence[float]) -> list[float]:
    best, second = [*sorted(values, reverse=True), 0.0][:2] if len(values) > 1 else (values[0], 0.0)
    return [best - second if value == best else value - best for value in values]


def _best_line(weight: dict[str, float], lines: Sequence[Meaning], pool: KnownPool) -> float:
    norms = pool.line_norms
    return max(
        (sum(weight[s] for s in weight if s in line.stems) / norms[line] for line in lines), default=0.0
    )
