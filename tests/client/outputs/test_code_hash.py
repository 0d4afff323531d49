"""What counts of the code when a cell is resumed, and what does not."""

from __future__ import annotations

import gc
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from atr_client.outputs import code_hash as module
from atr_client.outputs.code_hash import SESSION_CODE, code_hash, counted, normal_form
from tests.conftest import ROOT
from tests.support.interpreters import OWN, SUPPORTED, interpreter

HOMES = {
    "atr_ontology": "ontology",
    "atr_data": "data",
    "atr_servers": "servers",
    "atr_memory": "memory_server",
    "atr_user_sim": "user_sim",
    "atr_client": "client",
}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One for all copies, so that a file that is as it was before need not be read again."""
    return tmp_path_factory.mktemp("packages") / "copy"


@pytest.fixture
def copy(place: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The packages that count, copied, and hashed in place of the installed ones."""
    for package, home in HOMES.items():
        ignore = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / home / package, place / package, ignore=ignore)
    monkeypatch.setattr(module, "files", lambda package: place / str(package))
    yield place
    shutil.rmtree(place)


def _edit(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")


def test_the_copy_hashes_as_what_is_installed(copy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    of_copy = code_hash()
    monkeypatch.undo()
    assert of_copy == code_hash()


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("atr_client/session/turns.py", "LEAK_BUDGET = 5", "LEAK_BUDGET = 4"),
        ("atr_client/session/prompts/base.md", "\n", "\n\n"),
        ("atr_client/cell/learn_freeze_test.py", "is None", "is not None"),
        ("atr_client/agents/questions.yaml", "\n", "\n# \n"),
        ("atr_client/models/wires/google.py", "return", "return None or"),
        ("atr_ontology/tools.yaml", "\n", "\n\n"),
        ("atr_data/trajectory.py", "frozen", "unfrozen"),
        ("atr_servers/domains/commerce.py", "return", "return None or"),
        ("atr_memory/layers/whole_text.py", "[Session", "[session"),
        ("atr_user_sim/prompts/router.md", "\n", "\n\n"),
        ("atr_user_sim/offline/router.py", "return", "return None or"),
    ],
)
def test_what_a_session_does_counts(copy: Path, file: str, old: str, new: str) -> None:
    before = code_hash()
    if old not in (copy / file).read_text(encoding="utf-8"):
        old, new = "\n", "\nX = 1\n"
    _edit(copy / file, old, new)
    assert code_hash() != before


@pytest.mark.parametrize(
    "file",
    [
        "atr_client/session/shouting.py",
        "atr_client/gateway/new_module.py",
        "atr_client/models/wires/telepathy.py",
        "atr_data/moods.py",
        "atr_servers/domains/weather.py",
        "atr_user_sim/offline/moods.yaml",
        "atr_memory/dreams.py",
    ],
)
def test_a_new_file_counts(copy: Path, file: str) -> None:
    before = code_hash()
    (copy / file).parent.mkdir(exist_ok=True)
    (copy / file).write_text("")
    assert code_hash() != before


@pytest.mark.parametrize(
    "file",
    [
        "atr_client/cli/app.py",
        "atr_client/sweep/plan.py",
        "atr_client/outputs/rows.py",
        "atr_client/logs.py",
        "atr_data/validate.py",
        "atr_servers/hosts/stdio.py",
        "atr_servers/cli/app.py",
        "atr_user_sim/calibration/measure.py",
    ],
)
def test_code_around_sessions_does_not_count(copy: Path, file: str) -> None:
    before = code_hash()
    _edit(copy / file, "\n", "\nX = 1\n")
    assert code_hash() == before


@pytest.mark.parametrize("file", ["atr_client/session/turns.py", "atr_memory/store.py"])
def test_comments_docstrings_and_layout_do_not_count(copy: Path, file: str) -> None:
    before = code_hash()
    path = copy / file
    _edit(path, '"""', '"""Once upon a time. ')
    path.write_text(path.read_text(encoding="utf-8") + "\n\n# the end\n", encoding="utf-8")
    (path.parent / "__pycache__").mkdir()
    (path.parent / "__pycache__" / "x.pyc").write_bytes(b"x")
    assert code_hash() == before


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("x = 1", "x  =  1  # one"),
        ("x = 'a'", 'x = "a"'),
        ("def f():\n    'doc'\n    return 1", "def f():\n    return 1"),
        ("x = (1,)", "x = 1,"),
        ("x = f'{a}b'", 'x = f"{a}b"'),
        ("x = f'{a:<{b}}'", 'x = f"{a:<{b}}" ""'),
    ],
)
def test_the_same_program_has_one_form(one: str, other: str) -> None:
    assert normal_form(one) == normal_form(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("x = 1", "x = 1.0"),
        ("x = 1", "x = True"),
        ("x = 'a'", "x = b'a'"),
        ("x = None", "x = ..."),
        ("f(a, b)", "f(b, a)"),
        ("x = y", "x == y"),
        ("def f(): return 1", "async def f(): return 1"),
        ("class A(BaseModel):\n    'one'\n    x: int", "class A(BaseModel):\n    'two'\n    x: int"),
        ("x = 'doc'\n", "'doc'\n"),
    ],
)
def test_different_programs_have_different_forms(one: str, other: str) -> None:
    assert normal_form(one) != normal_form(other)


@pytest.fixture(scope="module")
def own_forms() -> str:
    return forms(sys.executable)


def forms(python: str) -> str:
    """A digest of the normal form of each file of the source, as an interpreter makes it."""
    program = (
        "import importlib.util, hashlib, sys; "
        f"spec = importlib.util.spec_from_file_location('code_hash', {module.__file__!r}); "
        "m = importlib.util.module_from_spec(spec); spec.loader.exec_module(m); "
        "from pathlib import Path; "
        f"files = sorted(Path({str(ROOT)!r}).glob('[!.]*/atr_*/**/*.py')); "
        "forms = ''.join(m.normal_form(p.read_text('utf-8')) for p in files); "
        "print(len(files), hashlib.sha256(forms.encode('utf-8', 'surrogatepass')).hexdigest())"
    )
    return subprocess.run([python, "-c", program], capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize("version", [version for version in (*SUPPORTED, "3.14") if version != OWN])
def test_the_form_does_not_depend_on_the_interpreter(version: str, own_forms: str) -> None:
    other = interpreter(version)
    if other is None:
        pytest.skip(f"no Python {version} here")
    assert forms(other) == own_forms


def test_every_package_that_counts_has_files() -> None:
    for package, chosen in SESSION_CODE.items():
        assert list(counted(ROOT / HOMES[package] / package, chosen))


def test_threads_may_ask_at_once() -> None:
    """Cells are planned in the threads of a worker. What its collector calls lets other threads in."""
    source = (ROOT / HOMES["atr_client"] / "atr_client" / "outputs" / "manifest.py").read_text("utf-8")

    def interrupt(phase: str, info: dict[str, int]) -> None:
        time.sleep(0)

    thresholds = gc.get_threshold()
    gc.callbacks.append(interrupt)
    gc.set_threshold(20)
    try:
        with ThreadPoolExecutor(4) as pool:
            found = set(pool.map(module.normal_form, [source] * 12))
    finally:
        gc.callbacks.remove(interrupt)
        gc.set_threshold(*thresholds)
    assert len(found) == 1
