"""What is finished is not done again: a journal of JSON lines beside the result.

The first line says what the rest belongs to. A line that was torn by a kill is forgotten with its newline; with other
settings, other data or another version of the product the journal starts anew.
"""

import fcntl
import json
import os
import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self, TextIO

from strata.errors import ConfigurationError

Entry = Mapping[str, Any]


class Journal:
    """The records of finished steps, by id. Without a path it lives in memory only."""

    def __init__(self, path: Path | None, settings: Mapping[str, Any]) -> None:
        """Take up what is there, if it was made under the same settings.

        Raises:
            ConfigurationError: another evaluation writes here at this moment.
            OSError: the folder cannot be written to.
        """
        self._path = path
        self._file: TextIO | None = None
        self._lock = _locked(path)
        head, records = _found(path)
        fits = head.get("settings") == json.loads(json.dumps(settings)) and isinstance(head.get("scope"), str)
        self.records: dict[str, Entry] = records if fits else {}
        self.scope: str = head["scope"] if fits else f"eval-{secrets.token_hex(4)}"
        """Stands in front of the ids this evaluation uses; the same after a restart."""
        self.is_continued = bool(self.records)
        self._rewrite(settings)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_details: object) -> None:
        self.close()

    def enter(self, step_id: str, record: Entry) -> None:
        """Keep a record; it is in the file, whatever happens to this process, when this returns."""
        self.records[step_id] = record
        if self._file is not None:
            self._file.write(_line({"step": step_id, "record": record}))
            self._file.flush()

    def close(self) -> None:
        """Close the file, and let others write."""
        for file in (self._file, self._lock):
            if file is not None:
                file.close()
        self._file = self._lock = None

    def _rewrite(self, settings: Mapping[str, Any]) -> None:
        """Write what is known as a whole file, so that nothing torn stays in the middle."""
        if self._path is None:
            return
        unfinished = self._path.with_suffix(".new")
        with unfinished.open("w", encoding="utf-8") as file:
            file.write(_line({"scope": self.scope, "settings": settings}))
            file.writelines(_line({"step": step, "record": record}) for step, record in self.records.items())
            file.flush()
            os.fsync(file.fileno())
        unfinished.replace(self._path)
        self._file = self._path.open("a", encoding="utf-8")


def _locked(path: Path | None) -> TextIO | None:
    """Keep others from writing the same journal; the system lets go however the process ends."""
    if path is None:
        return None
    file = path.with_suffix(".lock").open("w")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        file.close()
        raise ConfigurationError(f"Another evaluation uses {path.parent}.") from None
    return file


def _line(entry: Entry) -> str:
    return json.dumps(entry, ensure_ascii=False, separators=(",", ":")) + "\n"


def _found(path: Path | None) -> tuple[Entry, dict[str, Entry]]:
    """Return the head and the records of a journal; nothing if there is none that can be read."""
    if path is None or not path.exists():
        return {}, {}
    lines = path.read_text(encoding="utf-8", errors="replace").split("\n")[:-1]  # a torn line has no end
    entries = [entry for line in lines if (entry := _parsed(line)) is not None]
    if not entries or "settings" not in entries[0]:
        return {}, {}
    return entries[0], {entry["step"]: entry["record"] for entry in entries[1:] if {"step", "record"} <= entry.keys()}


def _parsed(line: str) -> dict[str, Any] | None:
    try:
        entry = json.loads(line)
    except ValueError:
        return None
    return entry if isinstance(entry, dict) else None
