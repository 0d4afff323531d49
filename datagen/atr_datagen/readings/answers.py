"""What a reader answered, as it is committed under `data/readings/`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, ValidationError

from atr_data.errors import DataError
from atr_data.yaml_reading import read_yaml_text
from atr_datagen.readings.sheet import Kind

_ANSWER = re.compile(r"([A-Z])(?:\s+(confirm))?")


@dataclass(frozen=True, slots=True)
class Answer:
    letter: str
    confirm: bool


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    sheet: Kind
    reader: str
    manner: Literal["natural", "hostile"] = "natural"
    answers: dict[str, str]


@dataclass(frozen=True, slots=True)
class Reading:
    """One reader's answers to one sheet, by the codes of its items."""

    file: Path
    kind: Kind
    reader: str
    hostile: bool
    answers: dict[str, Answer]

    @classmethod
    def read(cls, path: Path) -> Self:
        """Raises DataError with the place of what is no answer."""
        try:
            file = _File.model_validate(read_yaml_text(path))  # codes may look like numbers
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            key = ".".join(map(str, first["loc"])) or "file"
            raise DataError(f"{key}: {first['msg'][0].lower()}{first['msg'][1:]}", path=path) from error
        answers: dict[str, Answer] = {}
        for code, text in file.answers.items():
            match = _ANSWER.fullmatch(text.strip())
            if match is None:
                raise DataError(f"answers.{code}: is {text!r}; write a letter, or B confirm", path=path)
            answers[code] = Answer(match[1], match[2] is not None)
        return cls(path, file.sheet, file.reader, file.manner == "hostile", answers)
