"""The objects of one session: pool rows to references with opaque ids."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from atr_data.episode import Reference
from atr_datagen.source.document import Path, nearest
from atr_datagen.source.grammar import PoolBlock, ScenarioBlock, keys_of
from atr_datagen.source.reading import Problems
from atr_ontology import load_ontology

TAGS = ("face", "pull", "near", "limit", "off")


@dataclass(frozen=True, slots=True)
class Row:
    """One object as the author wrote it. Linking attributes still hold keys."""

    type: str
    key: str
    tag: str | None
    attributes: Mapping[str, Any]
    path: Path

    @property
    def names(self) -> frozenset[str]:
        """The keys by which a call can address the object: its own, and that of an order, booking, ..."""
        links = self.attributes.keys() & load_ontology().link_prefixes.keys()
        linked = (str(self.attributes[name]) for name in links)
        return frozenset({self.key, *linked})


@dataclass(frozen=True, slots=True)
class World:
    """`pool` is the type of the main pool, None when the session has no objects. `ids` maps keys to ids."""

    pool: str | None
    rows: Sequence[Row]
    ids: Mapping[str, str]
    references: Sequence[Reference]

    def candidates(self) -> list[Row]:
        """The rows among which a rule chooses."""
        return [row for row in self.rows if row.type == self.pool]

    def keys_of_type(self) -> dict[str, str]:
        return {row.key: row.type for row in self.rows}


@dataclass(frozen=True, slots=True)
class Naming:
    """What the opaque ids of one session are made from."""

    seed: int
    persona: str
    session: str

    def digest(self, *parts: str) -> str:
        return hashlib.sha256("|".join((str(self.seed), self.persona, *parts)).encode()).hexdigest()


def read_world(block: ScenarioBlock, domain: str, path: Path, naming: Naming, problems: Problems) -> World:
    """The references of a session, in an order given by hash, so that position tells nothing."""
    pools = [(block, path), *((pool, (*path, "also", i)) for i, pool in enumerate(block.also))]
    rows = [row for pool, where in pools for row in _rows(pool, domain, where, problems)]
    prefixes = _key_prefixes(rows, domain, problems)
    ids = opaque_ids(naming, prefixes)
    references = [
        Reference(id=ids[row.key], type=row.type, attributes=_linked(row.attributes, ids)) for row in rows
    ]
    references.sort(key=lambda reference: naming.digest("order", reference.id))
    return World(next(iter(block.pools), None), rows, ids, references)


def opaque_ids(naming: Naming, prefixes: Mapping[str, str]) -> dict[str, str]:
    """Ids of a prefix and five hex digits. A second key that hashes to a taken id is hashed once more."""
    ids: dict[str, str] = {}
    for key, prefix in prefixes.items():
        parts = [naming.session, key]
        while (made := f"{prefix}_{naming.digest(*parts)[:5]}") in ids.values():
            parts.append(key)
        ids[key] = made
    return ids


def _rows(pool: PoolBlock, domain: str, path: Path, problems: Problems) -> Iterable[Row]:
    types = load_ontology().objects(domain)
    for name in pool.pools:
        if name not in types:
            known = {*types, *keys_of(type(pool))}
            problems.add(
                (*path, name), f"is no key here and no reference type of {domain}; {nearest(name, known)}"
            )
    if any(name not in types for name in pool.pools):
        return
    if len(pool.pools) != 1:
        if pool.pools or pool.rows or pool.shared:
            names = ", ".join(pool.pools) or "none"
            problems.add(path, f"a pool has one reference type ({names} here); put further types under also")
        return
    ((type_name, columns),) = pool.pools.items()
    if not isinstance(columns, list) or not all(isinstance(c, str) for c in cast(list[Any], columns)):
        problems.add((*path, type_name), "should be a list of column names")
        return
    names = cast(list[str], columns)
    if "key" not in names or len(set(names)) != len(names):
        problems.add((*path, type_name), "needs the column key, and each column once")
        return
    for index, cells in enumerate(pool.rows):
        where = (*path, "rows", index)
        if len(cells) != len(names):
            problems.add(where, f"has {len(cells)} cells for {len(names)} columns ({', '.join(names)})")
            continue
        yield _row(type_name, dict(zip(names, cells, strict=True)), pool.shared, where)


def _row(type_name: str, cells: dict[str, Any], shared: Mapping[str, Any], path: Path) -> Row:
    key, tag = cells.pop("key"), cells.pop("tag", None)
    return Row(type_name, str(key), None if tag is None else str(tag), attributes_of(cells, shared), path)


def attributes_of(cells: Mapping[str, Any], shared: Mapping[str, Any]) -> dict[str, Any]:
    """The attributes of an object: its own go before those of all, and a null takes one out."""
    merged = {**cells, **{name: value for name, value in shared.items() if name not in cells}}
    return {name: value for name, value in merged.items() if value is not None}


def _key_prefixes(rows: Sequence[Row], domain: str, problems: Problems) -> dict[str, str]:
    types, links = load_ontology().objects(domain), load_ontology().link_prefixes
    prefixes: dict[str, str] = {}
    for row in rows:
        if row.key in prefixes:
            problems.add(row.path, f"key {row.key!r} stands twice in this session")
        if row.tag is not None and row.tag not in TAGS:
            problems.add(row.path, f"no tag {row.tag!r}; {nearest(row.tag, TAGS)}")
        prefixes[row.key] = types[row.type].prefix
    for row in rows:
        for name, value in row.attributes.items():
            if name in links and prefixes.setdefault(str(value), links[name]) != links[name]:
                problems.add(row.path, f"{name} {value!r} is the key of something else in this session")
    return prefixes


def _linked(attributes: Mapping[str, Any], ids: Mapping[str, str]) -> dict[str, Any]:
    links = load_ontology().link_prefixes
    return {name: ids[str(v)] if name in links else v for name, v in attributes.items()}
