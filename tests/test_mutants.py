"""Which faults a mutation run puts into code, and which text it leaves alone."""

from __future__ import annotations

import pytest

from tests.support.mutation.mutants import mutants_of


@pytest.mark.parametrize(
    ("code", "faults"),
    [
        ("return a or b", {"b", "a", None}),
        ("return a < b", {"(a <= b)", None}),
        ("return min(a, b)", {"(max(a, b))", None}),
        ("return not a", {"a", None}),
        ("return a + 1", {"(a - 1)", "2", None}),
        ("return [x for x in a if x]", {"([x for x in a])", None}),
        ("return f(a, b=c)", {"(f(a))", None}),
        ("return a.get('k', b)", {"(a.get('k'))", "''", None}),
        ("return {'k': a}", {"({})", "''", None}),
        ("return b if a else c", {"b", "c", None}),
        ("return a[1:]", {"a", "2", None}),
        ("return a.strip()", {"a", None}),
        ("a.b = c", {"pass"}),
        ("f(a)", {"pass"}),
        ("if a: b()", {"True", "False", "pass"}),
        ("raise ValueError('no ' + a)", {"pass"}),
        ("log.info('word', a=1)", {"pass"}),
        ("return f'{a + 1}'", {None}),
        ("'A docstring.'", set[str]()),
        ("assert a, 'word'", set[str]()),
    ],
)
def test_code_is_changed_and_its_words_are_not(code: str, faults: set[str | None]) -> None:
    text = f"def function(a, b, c):\n    {code}\n"
    found = mutants_of("module.py", text)
    assert {mutant.after for mutant in found} == {
        "return None" if fault is None else fault for fault in faults
    }
    for mutant in found:
        assert mutant.in_function and mutant.apply(text) != text


@pytest.mark.parametrize(
    "text",
    [
        'Name = Literal["a", "b"]',
        'Item = TypeVar("Item")',
        "Maker = Callable[[int], tuple[int, str]]",
        "kept = cast(dict[str, int], found)",
        "seen = Counter[tuple[str, int]]()",
        '__all__ = ["a", "b"]',
        "@cache\ndef f(): pass",
        "@lru_cache(maxsize=8)\ndef f(): pass",
    ],
)
def test_what_decides_nothing_is_left_alone(text: str) -> None:
    assert mutants_of("module.py", text) == []


def test_a_mutant_keeps_its_key_when_lines_move() -> None:
    text = "LIMIT = 5\n\n\ndef f(a):\n    return a < 1 and a < 1\n"
    moved = "# a comment\n\n" + text
    first, second = mutants_of("m.py", text), mutants_of("m.py", moved)
    assert [mutant.key for mutant in first] == [mutant.key for mutant in second]
    assert len({mutant.key for mutant in first}) == len(first)
    assert [(m.before, m.in_function) for m in first if m.line == 1] == [("5", False)]
