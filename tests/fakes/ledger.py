"""Sessions and runs put straight into the tables, as the flow before consolidation leaves them."""

import hashlib
from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import insert, select
from sqlalchemy.engine import Connection

from strata.model.messages import JsonObject, Kind, Message, Role
from strata.model.runs import Run, RunState
from strata.model.sessions import SessionKey
from strata.storage.engine import Database
from strata.storage.run_states import known
from strata.storage.tables import runs, sessions


def message(
    seq: int,
    content: str | tuple[JsonObject, ...] | None,
    *,
    role: Role = Role.USER,
    said_at: datetime,
    agent_id: str = "recipe_adviser",
) -> Message:
    """A stored message."""
    return Message(
        seq=seq,
        role=role,
        content=content,
        kind=Kind.TOOL if role is Role.TOOL else Kind.CHAT,
        message_id=f"m{seq}",
        agent_id=agent_id,
        tokens=len(str(content)),
        digest=hashlib.md5(f"{role}:{content}".encode(), usedforsecurity=False).hexdigest(),
        created_at=said_at,
        said_at=said_at,
    )


def transcript(*contents: str, first: int = 1, said_at: datetime) -> list[Message]:
    """Messages of the user, numbered from ``first``."""
    return [message(first + place, content, said_at=said_at) for place, content in enumerate(contents)]


def open_session(database: Database, key: SessionKey, *, now: datetime, user_id: str = "chen") -> int:
    """Put a session into its table, if it is not there, and return its number."""
    return database.write(lambda connection: _session(connection, key, user_id, now))


def add_run(database: Database, key: SessionKey, run_id: str, span: Sequence[int], *, now: datetime) -> Run:
    """Put a queued run over the messages ``span[0]`` to ``span[1]`` into the ledger."""
    session_no = open_session(database, key, now=now)
    row = {
        "tenant": key.tenant,
        "run_id": run_id,
        "session_no": session_no,
        "session_id": key.session_id,
        "user_id": "chen",
        "agent_id": "recipe_adviser",
        "state": RunState.QUEUED.value,
        "from_seq": span[0],
        "upto_seq": span[1],
        "attempts": 0,
        "fence": 0,
        "counts": {},
        "timings_ms": {},
        "cost": {},
        "error_code": "",
        "error_detail": "",
        "created_at": now,
    }

    def work(connection: Connection) -> Run:
        connection.execute(insert(runs), [row])
        return known(connection, key.tenant, run_id)

    return database.write(work)


def _session(connection: Connection, key: SessionKey, user_id: str, now: datetime) -> int:
    this = (sessions.c.tenant == key.tenant) & (sessions.c.session_id == key.session_id)
    found = connection.scalar(select(sessions.c.session_no).where(this))
    if found is not None:
        return int(found)
    row = {
        "tenant": key.tenant,
        "session_id": key.session_id,
        "user_id": user_id,
        "agent_id": "recipe_adviser",
        "participants": [],
        "state": "ended",
        "zone": "Asia/Shanghai",
        "created_at": now,
        "updated_at": now,
    }
    connection.execute(insert(sessions), [row])
    return int(connection.scalar(select(sessions.c.session_no).where(this)) or 0)
