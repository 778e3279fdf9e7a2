"""Data files: read once, named by their SHA-256, refused with a sentence that says what is wrong."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from strata.errors import InputError

MAX_BYTES = 256 * 1024 * 1024
"""A larger file is a mistake: the largest known data set has 3 MB."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DataFile:
    """A file of a data set."""

    path: Path
    text: str
    sha256: str

    @property
    def name(self) -> str:
        """Its name without the folder."""
        return self.path.name

    def json(self) -> Any:  # noqa: ANN401 any JSON value
        """Return the document. Raises InputError."""
        try:
            return json.loads(self.text)
        except (ValueError, RecursionError) as error:
            raise InputError(f"{self.name} is not JSON: {error}") from None

    def json_lines(self) -> list[Mapping[str, Any]]:
        """Return one object a line, blank lines aside. Raises InputError with the number of a bad line."""
        found: list[Mapping[str, Any]] = []
        for number, line in enumerate(self.text.split("\n"), start=1):
            if not line.strip():
                continue
            try:
                item = json.loads(line)
            except (ValueError, RecursionError):
                item = None
            if not isinstance(item, dict):
                raise InputError(f"{self.name}, line {number}: a JSON object is expected.")
            found.append(item)
        return found


def read(path: Path) -> DataFile:
    """Read a file. Raises InputError: it is not there, no file, too large, empty, or not UTF-8."""
    try:
        if path.stat().st_size > MAX_BYTES:
            raise InputError(f"{path.name} is larger than {MAX_BYTES // 1024**2} MiB.")
        content = path.read_bytes()
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InputError(f"{path.name} is not UTF-8.") from None
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}.") from None
    if not text.strip():
        raise InputError(f"{path.name} is empty.")
    return DataFile(path=path, text=text, sha256=hashlib.sha256(content).hexdigest())
