"""Places for results that are no folder: object stores, by an address that fsspec knows."""

from __future__ import annotations

import re
from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from atr_client.errors import ConfigError, StoreFault

_ADDRESS = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):/(/?)")
_EXTRAS = {"s3": "s3"}
"""Which extra of ours brings what a kind of store needs."""

_AT_ONCE = 32
"""Objects that are read side by side; each is held in memory."""


def is_address(text: str) -> bool:
    """Whether it names a store, also where a path has swallowed one of its slashes."""
    return _ADDRESS.match(text) is not None


def place_of(text: str) -> Path | Store:
    """The folder that a path or a `file://` address means, or the store at any other address. Raises
    ConfigError."""
    if not is_address(text):
        return Path(text)
    if text.lower().startswith("file:"):
        parts = urlsplit(text)
        if parts.netloc not in ("", "localhost") or not parts.path.startswith("/"):
            raise ConfigError(f"{text}: a file address has three slashes and a whole path: file:///data/runs")
        return Path(unquote(parts.path))
    kind, separator, rest = text.partition("://")
    if not separator or not rest.strip("/"):
        raise ConfigError(f"{text}: an address is KIND://BUCKET/FOLDER, such as s3://bucket/sweep")
    return Store(f"{kind.lower()}://{rest.rstrip('/')}")


@dataclass(frozen=True, slots=True)
class Store:
    """Objects below an address, each whole or not there. Credentials and endpoints come from where its own
    library reads them. Raises StoreFault, which names the object and the library's reason."""

    address: str

    def check(self) -> None:
        """Writes and removes an object. Raises ConfigError when that cannot be done."""
        try:
            self.put(".write-test", b"")
            self.remove(".write-test")
        except StoreFault as error:
            raise ConfigError(f"outputs {error}") from error

    def put(self, name: str, content: bytes) -> None:
        with self._told(name):
            self._files.pipe_file(self._path(name), content)

    def get(self, name: str) -> bytes | None:
        """None when there is no such object."""
        with self._told(name):
            try:
                return self._files.cat_file(self._path(name))
            except FileNotFoundError:
                return None

    def all_of(self, names: Iterable[str]) -> Iterator[tuple[str, bytes]]:
        """The objects of these names, without those that are gone."""
        wanted = list(names)
        for start in range(0, len(wanted), _AT_ONCE):
            paths = {self._path(name): name for name in wanted[start : start + _AT_ONCE]}
            with self._told(""):
                found: dict[str, Any] = self._files.cat(list(paths), on_error="return")
                for path, content in found.items():
                    if isinstance(content, FileNotFoundError):
                        continue
                    if isinstance(content, Exception):
                        raise content
                    yield paths[path], content

    def names(self) -> list[str]:
        """Of all objects below the address, sorted."""
        top = self._path("")
        with self._told(""):
            self._files.invalidate_cache()
            found: list[str] = self._files.find(top)
        return sorted(path.removeprefix(top).lstrip("/") for path in found)

    def remove(self, name: str) -> None:
        """No matter whether it is there."""
        with self._told(name):
            self._files.invalidate_cache()
            try:
                self._files.rm_file(self._path(name))
            except FileNotFoundError:
                return

    def at(self, name: str) -> str:
        return f"{self.address}/{name}".rstrip("/")

    @property
    def _files(self) -> Any:
        return _opened(self.address.partition("://")[0])

    def _path(self, name: str) -> str:
        return str(self._files._strip_protocol(self.at(name)))

    @contextmanager
    def _told(self, name: str) -> Generator[None]:
        """Each library has failures of its own, so any is taken for one of the store."""
        try:
            yield
        except ConfigError:
            raise
        except Exception as error:
            reason = " ".join(str(error).split()) or type(error).__name__
            raise StoreFault(f"{self.at(name)}: {reason}") from error


@lru_cache(maxsize=8)
def _opened(kind: str) -> Any:
    """Raises ConfigError when what a kind of store needs is not installed, or there is no such kind."""
    extra = _EXTRAS.get(kind)
    needs = f"pip install 'atrbench[{extra}]'" if extra else "install it"
    try:
        import fsspec  # pyright: ignore[reportMissingTypeStubs]

        library: Any = fsspec
        return library.filesystem(kind, use_listings_cache=False)
    except ImportError as error:
        raise ConfigError(f"{kind}:// needs a package that is not installed ({error}): {needs}") from error
    except ValueError as error:
        raise ConfigError(f"{kind}://: {error}") from error
