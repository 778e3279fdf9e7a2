"""An SQS FIFO queue in this process.

Kept promises: order within a message group, a group held while one of its messages is in flight, a deduplication memory
of five minutes that survives deletion, visibility timeouts, receive counts, redelivery in order, dead letters, refused
receipts that have expired, rising sequence numbers, the limit of 1 MiB counted in bytes.
"""

import hashlib
import json
import re
import sqlite3
import uuid
from collections.abc import Mapping
from typing import Any

from strata.clock import Clock
from strata.local.deployment import QueueSpec
from strata.local.journal import Journal
from strata.local.sqs import ACCOUNT, MAX_BATCH, REGION, QueuedMessage, Sent, SqsError, check_body, checked_token

DEDUPLICATION_SECONDS = 300.0
MAX_VISIBILITY_SECONDS = 43_200
_RECEIPT = re.compile(r"(\d+)-[0-9a-f]{32}")


class FifoQueue:
    """One queue; several may share a journal, and must if one takes the dead letters of the other."""

    def __init__(self, spec: QueueSpec, journal: Journal, clock: Clock) -> None:
        self.spec = spec
        self._journal = journal
        self._clock = clock

    @property
    def name(self) -> str:
        return self.spec.name

    @property
    def arn(self) -> str:
        return f"arn:aws:sqs:{REGION}:{ACCOUNT}:{self.name}"

    def send(
        self, body: str, *, group: str, deduplication: str = "", attributes: Mapping[str, Any] | None = None
    ) -> Sent:
        """Add a message behind the others of its group; return once it is on disk.

        Raises:
            SqsError: group, deduplication id, characters or size are not what SQS takes.
        """
        carried = json.dumps(dict(attributes), ensure_ascii=False) if attributes else ""
        check_body(body, carried)
        checked_token("MessageGroupId", group)
        scope = group if self.spec.deduplicates_per_group else ""
        key = self._deduplication_id(body, deduplication)
        with self._journal.transaction() as db:
            return self._known(db, scope, key) or self._added(db, (body, carried, group, key), scope)

    def receive(self, limit: int = 1, visibility_seconds: float | None = None) -> list[QueuedMessage]:
        """Hand out up to ``limit`` messages, of any groups, each group in order; they stay in flight for a while."""
        if not 1 <= limit <= MAX_BATCH:
            raise SqsError("InvalidParameterValue", "MaxNumberOfMessages must be between 1 and 10.")
        seconds = self.spec.visibility_seconds if visibility_seconds is None else visibility_seconds
        now = self._now()
        with self._journal.transaction() as db:
            self._forget_old(db, now)
            return [self._handed_out(db, row, now, now + seconds) for row in self._available(db, now, limit)]

    def delete(self, receipt: str) -> None:
        """Remove a message. Raises SqsError if the receipt is none, or has expired."""
        with self._journal.transaction() as db:
            position = self._held(db, receipt)
            if position is not None:
                db.execute("DELETE FROM messages WHERE position = ?", (position,))

    def change_visibility(self, receipt: str, seconds: float) -> None:
        """Let a message in flight come back after ``seconds``; 0 = at once. Raises SqsError as ``delete`` does."""
        if not 0 <= seconds <= MAX_VISIBILITY_SECONDS:
            raise SqsError("InvalidParameterValue", "VisibilityTimeout must be between 0 and 43200.")
        with self._journal.transaction() as db:
            position = self._held(db, receipt)
            if position is None:
                raise SqsError("InvalidParameterValue", "The message is not there any more.")
            db.execute("UPDATE messages SET visible_at = ? WHERE position = ?", (self._now() + seconds, position))

    def counts(self) -> tuple[int, int]:
        """Return how many messages are visible and how many are in flight."""
        with self._journal.transaction() as db:
            row = db.execute(
                "SELECT COUNT(*), COALESCE(SUM(visible_at > ?), 0) FROM messages WHERE queue = ?",
                (self._now(), self.name),
            ).fetchone()
        return row[0] - row[1], row[1]

    def redrive(self, destination: str = "") -> int:
        """Move every message to ``destination``, or back to the queue it came from; return how many were moved."""
        now = self._now()
        with self._journal.transaction() as db:
            rows = db.execute("SELECT * FROM messages WHERE queue = ? ORDER BY position", (self.name,)).fetchall()
            moved = [row for row in rows if destination or row["source"]]
            for row in moved:
                _move(db, row, queue=destination or row["source"], source="", now=now)
        return len(moved)

    def recover(self) -> list[str]:
        """Release what a killed process had in flight, without holding that attempt against it; return the bodies.

        SQS itself cannot know that a consumer is gone; here the consumers ended with the process.
        """
        now = self._now()
        with self._journal.transaction() as db:
            released = db.execute(
                "UPDATE messages SET visible_at = ?, receives = MAX(receives - 1, 0)"
                " WHERE queue = ? AND visible_at > ? RETURNING body",
                (now, self.name, now),
            )
            return [row["body"] for row in released.fetchall()]

    def purge(self) -> None:
        """Remove every message; what was sent stays remembered."""
        with self._journal.transaction() as db:
            db.execute("DELETE FROM messages WHERE queue = ?", (self.name,))

    @property
    def version(self) -> int:
        """A number that rises with every change; for ``wait``."""
        return self._journal.version

    def wait(self, seen: int, seconds: float) -> None:
        """Return when something has changed since version ``seen``, or after ``seconds`` of real time."""
        self._journal.wait(seen, seconds)

    def _now(self) -> float:
        return self._clock.now().timestamp()

    def _deduplication_id(self, body: str, given: str) -> str:
        if given:
            return checked_token("MessageDeduplicationId", given)
        if self.spec.deduplicates_by_content:
            return hashlib.sha256(body.encode()).hexdigest()
        raise SqsError("InvalidParameterValue", "The queue needs a MessageDeduplicationId for each message.")

    def _known(self, db: sqlite3.Connection, scope: str, key: str) -> Sent | None:
        row = db.execute(
            "SELECT message_id, position FROM remembered"
            " WHERE queue = ? AND scope = ? AND deduplication = ? AND sent_at > ?",
            (self.name, scope, key, self._now() - DEDUPLICATION_SECONDS),
        ).fetchone()
        return Sent(message_id=row["message_id"], sequence=_sequence(row["position"])) if row else None

    def _added(self, db: sqlite3.Connection, content: tuple[str, str, str, str], scope: str) -> Sent:
        body, attributes, group, key = content
        message_id, now = str(uuid.uuid4()), self._now()
        position = db.execute(
            "INSERT INTO messages"
            " (queue, message_id, message_group, deduplication, body, attributes, sent_at, visible_at)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?) RETURNING position",
            (self.name, message_id, group, key, body, attributes, now, now),
        ).fetchone()["position"]
        db.execute(
            "INSERT OR REPLACE INTO remembered VALUES (?, ?, ?, ?, ?, ?)",
            (self.name, scope, key, message_id, position, now),
        )
        return Sent(message_id=message_id, sequence=_sequence(position))

    def _forget_old(self, db: sqlite3.Connection, now: float) -> None:
        kept_from = now - self.spec.retention_seconds
        db.execute("DELETE FROM messages WHERE queue = ? AND sent_at <= ?", (self.name, kept_from))
        db.execute("DELETE FROM remembered WHERE sent_at <= ?", (now - DEDUPLICATION_SECONDS,))

    def _available(self, db: sqlite3.Connection, now: float, limit: int) -> list[sqlite3.Row]:
        """Return the next messages in order, skipping held groups and setting aside what was received too often."""
        chosen: list[sqlite3.Row] = []
        held: set[str] = set()
        for row in db.execute("SELECT * FROM messages WHERE queue = ? ORDER BY position", (self.name,)):
            if len(chosen) == limit:
                break
            if row["message_group"] in held:
                continue
            if row["visible_at"] > now:
                held.add(row["message_group"])
            elif self._is_exhausted(row):
                _move(db, row, queue=self.spec.dead_letters, source=self.name, now=now)
            else:
                chosen.append(row)
        return chosen

    def _is_exhausted(self, row: sqlite3.Row) -> bool:
        limit = self.spec.max_receives
        return bool(self.spec.dead_letters) and limit is not None and row["receives"] >= limit

    def _handed_out(self, db: sqlite3.Connection, row: sqlite3.Row, now: float, until: float) -> QueuedMessage:
        first = row["first_received_at"] or now
        receipt = f"{row['position']}-{uuid.uuid4().hex}"
        db.execute(
            "UPDATE messages SET receives = receives + 1, visible_at = ?, first_received_at = ?, receipt = ?"
            " WHERE position = ?",
            (until, first, receipt, row["position"]),
        )
        return QueuedMessage(
            message_id=row["message_id"],
            receipt=receipt,
            body=row["body"],
            group=row["message_group"],
            deduplication=row["deduplication"],
            sequence=_sequence(row["position"]),
            sent_at=row["sent_at"],
            first_received_at=first,
            receives=row["receives"] + 1,
            attributes=json.loads(row["attributes"] or "{}"),
            source=row["source"],
        )

    def _held(self, db: sqlite3.Connection, receipt: str) -> int | None:
        """Return the position of the message the receipt holds; None if it was deleted already."""
        match = _RECEIPT.fullmatch(receipt)
        if match is None:
            raise SqsError("ReceiptHandleIsInvalid", "The receipt handle is not valid.")
        position = int(match[1])
        row = db.execute(
            "SELECT receipt, visible_at FROM messages WHERE position = ? AND queue = ?", (position, self.name)
        ).fetchone()
        if row is None:
            return None
        if row["receipt"] != receipt or row["visible_at"] <= self._now():
            raise SqsError("InvalidParameterValue", "The receipt handle has expired.")
        return position


def _move(db: sqlite3.Connection, row: sqlite3.Row, *, queue: str, source: str, now: float) -> None:
    db.execute("DELETE FROM messages WHERE position = ?", (row["position"],))
    db.execute(
        "INSERT INTO messages"
        " (queue, message_id, message_group, deduplication, body, attributes, sent_at, visible_at, source)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            queue,
            *(row[name] for name in ("message_id", "message_group", "deduplication", "body", "attributes")),
            now,
            now,
            source,
        ),
    )


def _sequence(position: int) -> str:
    return f"{position:020d}"
