"""Which episodes a selector means."""

from __future__ import annotations

import difflib
import fnmatch
import re
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any, cast

from atr_data.errors import DataError
from atr_data.reading import StrPath, Unreadable, path_problem
from atr_data.yaml_reading import read_yaml

SPLITS_FILE = "splits.yaml"
_EPISODE_ID = re.compile(r"(.+)_seed(\d+)")


def packaged_episodes_dir() -> Path:
    """The folder of the episodes that ship with the package, in a wheel or in a checkout.

    Raises DataError when neither has one.
    """
    package = Path(str(files("atr_data")))
    for folder in (package / "episodes", package.parent / "episodes"):
        if folder.is_dir():
            return folder
    raise DataError("no episodes in this installation; give a folder", path=package)


def select_episodes(selectors: Sequence[str], folder: StrPath) -> list[Path]:
    """The episode files that any of the selectors means, each once, in the order of the selectors.

    A selector is `all`, a persona id, an episode id, a glob over those, `split:NAME`, or the path of a file.
    The folder may be flat or laid out as `personas/<persona>/episodes/<episode>.json`.

    Raises DataError for a folder without episodes and for a selector that means none; it names what is near.
    """
    folder = Path(folder)
    known = episode_files(folder)
    chosen: dict[Path, None] = {}
    for selector in selectors:
        chosen.update(dict.fromkeys(_select(selector, folder, known)))
    return list(chosen)


def episode_files(folder: StrPath) -> dict[str, Path]:
    """Episode id to file, sorted by id. Episode files are those named `<persona>_seedNNN.json`."""
    if problem := path_problem(folder):
        raise DataError(problem)
    folder = Path(folder)
    if not folder.is_dir():
        raise DataError("no such folder", path=folder)
    found = sorted(folder.glob("*.json")) + sorted(folder.glob("**/personas/*/episodes/*.json"))
    episodes = {path.stem: path for path in reversed(found) if _EPISODE_ID.fullmatch(path.stem)}
    return dict(sorted(episodes.items()))


def _select(selector: str, folder: Path, known: dict[str, Path]) -> list[Path]:
    if selector.endswith(".json"):
        if problem := path_problem(selector):
            raise DataError(problem)
        path = Path(selector)
        if not path.is_file():
            raise DataError("no such file", path=path)
        return [path]
    if selector.startswith("split:"):
        return _split(selector.removeprefix("split:"), folder, known)
    if selector == "all":
        found = list(known.values())
    else:
        found = [path for name, path in known.items() if _means(selector, name)]
    if not found:
        raise DataError(f"{selector!r} selects no episode; {_near(selector, known)}", path=folder)
    return found


def _means(selector: str, episode_id: str) -> bool:
    return any(fnmatch.fnmatchcase(name, selector) for name in (episode_id, _persona(episode_id)))


def _persona(episode_id: str) -> str:
    return episode_id.rpartition("_seed")[0]


def _split(name: str, folder: Path, known: dict[str, Path]) -> list[Path]:
    splits = _listed_splits(folder)
    if name in splits:
        return [path for persona in splits[name] for path in _select(persona, folder, known)]
    if name == "default":
        found = [path for episode, path in known.items() if int(episode.rpartition("_seed")[2]) == 0]
        if found:
            return found
        raise DataError("split 'default' is empty: no episode with seed 000", path=folder)
    raise DataError(f"no split {name!r}; there are: {', '.join(sorted({'default', *splits}))}", path=folder)


def _listed_splits(folder: Path) -> dict[str, list[str]]:
    path = folder / SPLITS_FILE
    if not path.exists():
        return {}
    try:
        data: Any = read_yaml(path)
    except Unreadable as error:
        raise DataError(f"cannot be read: {error.reason}", path=path) from error
    if not isinstance(data, dict):
        raise DataError("should map split names to lists of persona ids", path=path)
    splits = cast(dict[str, Any], data)
    for name, members in splits.items():
        if not isinstance(members, list) or not all(isinstance(m, str) for m in cast(list[Any], members)):
            raise DataError("should be a list of persona ids", path=path, key=str(name))
    return splits


def _near(selector: str, known: dict[str, Path]) -> str:
    names = sorted({name for episode in known for name in (episode, _persona(episode))})
    if not names:
        return "the folder holds no *_seedNNN.json"
    close = difflib.get_close_matches(selector, names, n=3, cutoff=0.5)
    if close:
        return f"near: {', '.join(close)}"
    personas = sorted({_persona(episode) for episode in known})
    shown = ", ".join(personas[:5]) + (", ..." if len(personas) > 5 else "")
    return f"there are: {shown}"
