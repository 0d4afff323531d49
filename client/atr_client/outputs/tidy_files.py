"""Rows as CSV and Parquet files."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import Any

from atr_client.errors import ConfigError
from atr_data.files import write_atomic

_BATCH = 5_000


def write_csv(path: Path, columns: Mapping[str, type], rows: Iterable[Mapping[str, Any]]) -> int:
    """How many rows it wrote. Truth is `true` and `false`, nothing is empty."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    count = 0
    for row in rows:
        writer.writerow([_cell(row.get(name)) for name in columns])
        count += 1
    write_atomic(path, text.getvalue())
    return count


def write_parquet(path: Path, columns: Mapping[str, type], rows: Iterable[Mapping[str, Any]]) -> int:
    """How many rows it wrote, each column of its kind. Raises ConfigError without pyarrow."""
    try:
        arrow: Any = import_module("pyarrow")
        parquet: Any = import_module("pyarrow.parquet")
    except ImportError as error:
        raise ConfigError("parquet files need pyarrow: pip install 'atrbench[parquet]'") from error
    kinds = {str: arrow.string(), int: arrow.int64(), float: arrow.float64(), bool: arrow.bool_()}
    schema = arrow.schema([(name, kinds[kind]) for name, kind in columns.items()])
    temporary = path.with_name(f"{path.name}.tmp")
    count = 0
    with parquet.ParquetWriter(temporary, schema) as writer:
        for batch in _batches(rows):
            told = [{name: row.get(name) for name in columns} for row in batch]
            writer.write_table(arrow.Table.from_pylist(told, schema=schema))
            count += len(batch)
    temporary.replace(path)
    return count


def _batches(rows: Iterable[Mapping[str, Any]]) -> Iterator[Sequence[Mapping[str, Any]]]:
    remaining = iter(rows)
    while batch := list(islice(remaining, _BATCH)):
        yield batch


def _cell(value: Any) -> Any:
    if isinstance(value, bool):
        return "true" if value else "false"
    return value
