"""The public conformance suite for memory integrity (agmi): every edit behind the product's back is noticed.

The attacker holds the database file and nothing else; the head of the trail is kept elsewhere, as weekly reports do.
"""

import json
import sqlite3
import tempfile
from pathlib import Path
from typing import Any

import pytest

from strata import config
from strata.clock import FakeClock
from strata.sharing.units import NewUnit
from strata.storage.engine import open_database
from strata.storage.schema import migrate
from tests.fakes.library import Shelf

pytest.importorskip("agmi", reason="agent-memory-integrity is not installed")

from agmi.adapters.base import MemoryAdapter, Record
from agmi.attacks.at_rest import AT_REST_ATTACKS_WITH_SNAPSHOT, Attack

TABLE = "mem_user_preference"
FIRST, SECOND = "user:first", "user:second"


class StrataAdapter(MemoryAdapter):  # type: ignore[misc]
    """Strata's own library on SQLite, as the suite wants to see it."""

    name = "strata"
    supports_replay = supports_metadata = supports_snapshot = True

    def setup(self) -> None:
        self._folder = tempfile.TemporaryDirectory()
        self._file = Path(self._folder.name) / "strata.db"
        self._clock = FakeClock()
        self._anchors: dict[int, str] = {}
        self._open()

    def teardown(self) -> None:
        self._shelf.database.close()
        self._folder.cleanup()

    def seed(self, n: int) -> None:
        for number in range(n):
            self._write(FIRST, f"first {number}")

    def seed_other(self, n: int) -> None:
        for number in range(n):
            self._write(SECOND, f"second {number}")

    def append_genuine(self) -> None:
        self._write(FIRST, "one more")

    def reload(self) -> None:
        self._shelf.database.close()
        self._open()

    def verify(self) -> bool:
        verified = self._shelf.verification.verify("t", anchors=self._anchors)
        self.verify_detail = ", ".join(finding.kind for finding in verified.findings)
        return verified.is_whole

    def read_all_raw(self) -> list[Record]:
        return self._rows(FIRST)

    def read_other_raw(self) -> list[Record]:
        return self._rows(SECOND)

    def write_raw(self, record: Record) -> None:
        ids = [row.fields["id"] for row in self._rows(FIRST)]
        if record.seq < len(ids):
            self._run(f"UPDATE {TABLE} SET content = ? WHERE memory_id = ?", record.fields["content"], ids[record.seq])
            return
        columns = ", ".join(name for name in self._columns() if name not in {"memory_id", "content"})
        forged = f"INSERT INTO {TABLE} (memory_id, content, {columns}) SELECT ?, ?, {columns} FROM {TABLE}"
        self._run(f"{forged} WHERE memory_id = ?", "zz-forged", record.fields["content"], ids[-1])

    def delete_raw(self, seq: int) -> None:
        self._run(f"DELETE FROM {TABLE} WHERE memory_id = ?", self._rows(FIRST)[seq].fields["id"])

    def replay_onto(self, victim_seq: int, donor: Record) -> None:
        victim = self._rows(FIRST)[victim_seq].fields["id"]
        for column in ("content", "fingerprint", "digest"):
            genuine = f"(SELECT {column} FROM {TABLE} WHERE memory_id = ?)"
            self._run(f"UPDATE {TABLE} SET {column} = {genuine} WHERE memory_id = ?", donor.fields["id"], victim)

    def read_meta(self, seq: int) -> dict[str, Any]:
        return dict(json.loads(self._rows(FIRST)[seq].fields["metadata"]))

    def write_meta(self, seq: int, meta: dict[str, Any]) -> None:
        victim = self._rows(FIRST)[seq].fields["id"]
        self._run(f"UPDATE {TABLE} SET metadata = ? WHERE memory_id = ?", json.dumps(meta), victim)

    def mutate_payload(self, record: Record) -> Record:
        record.fields["content"] += " and poison"
        return record

    def forge_record(self, template: Record) -> Record:
        return self.mutate_payload(Record(seq=template.seq + 1, fields=dict(template.fields)))

    def payload_of(self, record: Record) -> str:
        return str(record.fields["content"])

    def owner_of(self, record: Record) -> str | None:
        return str(record.fields["collection"])

    def snapshot_store(self) -> object:
        self._run("PRAGMA wal_checkpoint(TRUNCATE)")
        return self._copy_store(self._file)

    def restore_store(self, token: object) -> None:
        self._shelf.database.close()
        self._restore_store(str(token), self._file)
        self._open()

    def _open(self) -> None:
        database = open_database(config.Database(url=f"sqlite:///{self._file}"), self._clock)
        migrate(database)
        self._shelf = Shelf(database, self._clock, "t")

    def _write(self, layer: str, content: str) -> None:
        self._clock.advance(1)
        unit = NewUnit(memory_type="user_preference", content=content)
        self._shelf.memories.insert(self._shelf.access("agent"), self._draft(unit, layer), now=self._clock.now())
        seq, head = self._shelf.events.head("t")
        self._anchors = {seq: head}

    def _draft(self, unit: NewUnit, layer: str) -> Any:
        from strata.sharing.units import draft_of

        memory_type = self._shelf.types.all()["user_preference"]
        memory_id = f"{layer}-{self._clock.now():%H%M%S}"
        return draft_of(unit, layer, memory_type, memory_id, config.Library(), self._clock.now())

    def _rows(self, layer: str) -> list[Record]:
        query = f"SELECT memory_id, content, metadata, collection FROM {TABLE} WHERE collection = ? ORDER BY memory_id"
        names = ("id", "content", "metadata", "collection")
        rows = self._run(query, layer)
        return [Record(seq=seq, fields=dict(zip(names, row, strict=True))) for seq, row in enumerate(rows)]

    def _columns(self) -> list[str]:
        return [row[1] for row in self._run(f"PRAGMA table_info({TABLE})")]

    def _run(self, statement: str, *values: object) -> list[tuple[Any, ...]]:
        connection = sqlite3.connect(self._file)
        rows = connection.execute(statement, values).fetchall()
        connection.commit()
        connection.close()
        return rows


@pytest.mark.parametrize("attack", AT_REST_ATTACKS_WITH_SNAPSHOT, ids=lambda attack: attack.name)
def test_an_edit_behind_the_products_back_is_noticed(attack: type[Attack]) -> None:
    result = attack().run(StrataAdapter())
    assert (result.status, result.error, result.guard) == ("safe", None, None)
