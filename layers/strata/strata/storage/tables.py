"""The schema, once, for MySQL, MariaDB and SQLite. Every table carries the tenant or hangs on a row that does.

Memories live in one table per memory type (``memory_table``), so that no query can cross types by accident.
An id is unique in its tenant whatever its type: ``memory_versions`` holds version 1 of it once. What changed in a
collection since a point is told by ``change_seq``, on the collection and on each memory.
"""

from typing import Any

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Float,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    PrimaryKeyConstraint,
    String,
    Table,
    UniqueConstraint,
)

from strata.storage.columns import COLLECTION_BYTES, Id, Instant, Json, LongText, Names, Number, Vector

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s",
        "pk": "pk_%(table_name)s",
    }
)

OPTIONS: dict[str, Any] = {
    "mysql_engine": "InnoDB",
    "mysql_charset": "utf8mb4",
    "mysql_collate": "utf8mb4_bin",
    "mysql_row_format": "DYNAMIC",
}

BUILT_IN_TYPES: dict[str, int] = {
    "user_preference": 0,
    "shopping_list": 7 * 86_400,
    "price_alert": 30 * 86_400,
    "temporary_constraint": 14 * 86_400,
    "rejection_reason": 90 * 86_400,
    "substitute_record": 0,
    "adopted_decision": 0,
    "task_experience": 0,
    "collaboration_rule": 0,
    "episode": 180 * 86_400,
}
"""Built-in memory types with their default life in seconds; 0 = for ever."""

REPEATABLE_TYPES = frozenset({"episode"})
"""Turns, not facts: the same words may stand in them twice."""


def _tenant() -> Column[str]:
    return Column("tenant", Id(256), nullable=False)


agents = Table(
    "agents",
    metadata,
    _tenant(),
    Column("agent_id", Id(), nullable=False),
    Column("display_name", LongText, nullable=False, default=""),
    Column("target_id", Id(), nullable=False, default=""),
    Column("long_memory_provider", String(16), nullable=False),
    Column("open_long_memory", Boolean, nullable=False),
    Column("context_rounds", Integer, nullable=False),
    Column("role", String(16), nullable=False),
    Column("created_at", Instant, nullable=False),
    Column("updated_at", Instant, nullable=False),
    PrimaryKeyConstraint("tenant", "agent_id"),
    **OPTIONS,
)

api_keys = Table(
    "api_keys",
    metadata,
    Column("key_id", Id(64), primary_key=True),
    _tenant(),
    Column("agent_id", Id(), nullable=False),
    Column("role", String(16), nullable=False),
    Column("secret_hash", String(128), nullable=False),
    Column("created_at", Instant, nullable=False),
    Column("revoked_at", Instant),
    Index("ix_api_keys_agent", "tenant", "agent_id"),
    **OPTIONS,
)

sessions = Table(
    "sessions",
    metadata,
    Column("session_no", Number, primary_key=True, autoincrement=True),
    _tenant(),
    Column("session_id", Id(), nullable=False),
    Column("user_id", Id(), nullable=False),
    Column("agent_id", Id(), nullable=False),
    Column("participants", Json, nullable=False),
    Column("state", String(16), nullable=False),
    Column("zone", String(64), nullable=False),
    Column("settled_seq", Number, nullable=False, default=0),
    Column("summary", LongText),
    Column("summary_tokens", Integer, nullable=False, default=0),
    Column("summary_upto_seq", Number, nullable=False, default=0),
    Column("summary_model", String(128), nullable=False, default=""),
    Column("summary_at", Instant),
    Column("created_at", Instant, nullable=False),
    Column("updated_at", Instant, nullable=False),
    Column("ended_at", Instant),
    UniqueConstraint("tenant", "session_id", name="uq_sessions_id"),
    Index("ix_sessions_user", "tenant", "user_id"),
    **OPTIONS,
)
"""How far a session goes is told by its newest message (primary key of ``messages``), nowhere else.

``settled_seq``: up to where messages were given to a run.
"""

messages = Table(
    "messages",
    metadata,
    Column("session_no", Number, ForeignKey("sessions.session_no", ondelete="CASCADE"), nullable=False),
    Column("seq", Number, nullable=False),
    Column("message_id", Id(), nullable=False),
    Column("agent_id", Id(), nullable=False),
    Column("role", String(16), nullable=False),
    Column("kind", String(16), nullable=False),
    Column("body", Json, nullable=False),
    Column("tokens", Integer, nullable=False),
    Column("digest", String(32), nullable=False),
    Column("request_digest", String(64), nullable=False),
    Column("said_at", Instant, nullable=False),
    Column("created_at", Instant, nullable=False),
    Column("run_id", Id(64)),
    PrimaryKeyConstraint("session_no", "seq"),
    UniqueConstraint("session_no", "message_id", name="uq_messages_message_id"),
    Index("ix_messages_digest", "session_no", "digest"),
    **OPTIONS,
)
"""``body`` holds content, name, tool_calls, tool_call_id, metadata; a retry is compared by ``request_digest``."""

message_digests = Table(
    "message_digests",
    metadata,
    Column("session_no", Number, ForeignKey("sessions.session_no", ondelete="CASCADE"), nullable=False),
    Column("digest", String(32), nullable=False),
    Column("occurrence", Integer, nullable=False),
    Column("seq", Number, nullable=False),
    Column("run_id", Id(64), nullable=False),
    Column("settled", Boolean, nullable=False),
    Column("claimed_at", Instant, nullable=False),
    PrimaryKeyConstraint("session_no", "digest", "occurrence"),
    Index("ix_message_digests_run", "run_id"),
    **OPTIONS,
)

collections = Table(
    "collections",
    metadata,
    Column("collection_no", Number, primary_key=True, autoincrement=True),
    _tenant(),
    Column("name", Id(COLLECTION_BYTES), nullable=False),
    Column("kind", String(16), nullable=False),
    Column("read_agents", Names),
    Column("write_agents", Names),
    Column("memory_types", Names),
    Column("conflict_policy", String(32), nullable=False),
    Column("change_seq", Number, nullable=False, default=0),
    Column("purged_seq", Number, nullable=False, default=0),
    Column("created_at", Instant, nullable=False),
    Column("updated_at", Instant, nullable=False),
    UniqueConstraint("tenant", "name", name="uq_collections_name"),
    **OPTIONS,
)
"""Who may register, and for which types; NULL = every agent of the tenant, every type."""

registrations = Table(
    "registrations",
    metadata,
    Column("collection_no", Number, ForeignKey("collections.collection_no", ondelete="CASCADE"), nullable=False),
    Column("agent_id", Id(), nullable=False),
    Column("may_read", Boolean, nullable=False),
    Column("may_write", Boolean, nullable=False),
    Column("memory_types", Names),
    Column("expires_at", Instant),
    Column("revoked_at", Instant),
    Column("decided_by", Id(), nullable=False),
    Column("created_at", Instant, nullable=False),
    PrimaryKeyConstraint("collection_no", "agent_id"),
    **OPTIONS,
)
"""``decided_by``: who granted or revoked it last; what an administrator decided, the agent itself cannot change."""

memory_types = Table(
    "memory_types",
    metadata,
    Column("name", Id(64), primary_key=True),
    Column("table_name", String(64), nullable=False, unique=True),
    Column("ttl_seconds", Number, nullable=False),
    Column("built_in", Boolean, nullable=False),
    Column("created_at", Instant, nullable=False),
    **OPTIONS,
)

memory_versions = Table(
    "memory_versions",
    metadata,
    _tenant(),
    Column("memory_id", Id(), nullable=False),
    Column("version", Integer, nullable=False),
    Column("change", String(16), nullable=False),
    Column("collection", Id(COLLECTION_BYTES), nullable=False),
    Column("memory_type", Id(64), nullable=False),
    Column("content", LongText, nullable=False),
    Column("metadata", Json, nullable=False),
    Column("agent_id", Id(), nullable=False),
    Column("reason", LongText, nullable=False),
    Column("standing", Boolean, nullable=False),
    Column("safety", Boolean, nullable=False),
    Column("importance", Integer, nullable=False),
    Column("said_at", Instant, nullable=False),
    Column("base_version", Integer),
    Column("conflict", Boolean, nullable=False),
    Column("rolled_back_to", Integer),
    Column("run_id", Id(64)),
    Column("session_id", Id(), nullable=False),
    Column("sources", Json, nullable=False),
    Column("edit_key", String(64)),
    Column("digest", String(64), nullable=False),
    Column("created_at", Instant, nullable=False),
    PrimaryKeyConstraint("tenant", "memory_id", "version"),
    UniqueConstraint("tenant", "memory_id", "edit_key", name="uq_memory_versions_key"),
    Index("ix_memory_versions_run", "tenant", "run_id"),
    Index("ix_memory_versions_author", "tenant", "agent_id", "created_at"),
    Index("ix_memory_versions_session", "tenant", "session_id", "created_at"),
    Index("ix_memory_versions_collection", "tenant", "collection"),
    **OPTIONS,
)
"""``sources`` are the messages (all of ``session_id``) that made the version; ``edit_key`` makes a repeat a no-op."""

memory_links = Table(
    "memory_links",
    metadata,
    _tenant(),
    Column("memory_id", Id(), nullable=False),
    Column("other_id", Id(), nullable=False),
    Column("relation", String(32), nullable=False),
    Column("created_at", Instant, nullable=False),
    PrimaryKeyConstraint("tenant", "memory_id", "other_id", "relation"),
    Index("ix_memory_links_other", "tenant", "other_id"),
    **OPTIONS,
)

memory_tombstones = Table(
    "memory_tombstones",
    metadata,
    _tenant(),
    Column("collection", Id(COLLECTION_BYTES), nullable=False),
    Column("fingerprint", String(64), nullable=False),
    Column("memory_id", Id(), nullable=False),
    Column("memory_type", Id(64), nullable=False),
    Column("deleted_by", Id(), nullable=False),
    Column("deleted_at", Instant, nullable=False),
    PrimaryKeyConstraint("tenant", "collection", "memory_id"),
    Index("ix_memory_tombstones_fingerprint", "tenant", "collection", "fingerprint"),
    **OPTIONS,
)
"""What was deleted on purpose, so that consolidation does not bring it back."""

read_ledger = Table(
    "read_ledger",
    metadata,
    Column("read_no", Number, primary_key=True, autoincrement=True),
    _tenant(),
    Column("memory_id", Id(), nullable=False),
    Column("version", Integer, nullable=False),
    Column("agent_id", Id(), nullable=False),
    Column("session_id", Id(), nullable=False),
    Column("request_id", Id(), nullable=False),
    Column("collection", Id(COLLECTION_BYTES), nullable=False),
    Column("read_at", Instant, nullable=False),
    Index("ix_read_ledger_memory", "tenant", "memory_id", "version"),
    Index("ix_read_ledger_at", "tenant", "read_at"),
    **OPTIONS,
)

events = Table(
    "events",
    metadata,
    _tenant(),
    Column("seq", Number, nullable=False),
    Column("kind", String(64), nullable=False),
    Column("actor", Id(), nullable=False),
    Column("collection", Id(COLLECTION_BYTES), nullable=False),
    Column("memory_id", Id(), nullable=False),
    Column("detail", Json, nullable=False),
    Column("at", Instant, nullable=False),
    Column("previous_hash", String(64), nullable=False),
    Column("hash", String(64), nullable=False),
    PrimaryKeyConstraint("tenant", "seq"),
    Index("ix_events_kind", "tenant", "kind", "at"),
    Index("ix_events_memory", "tenant", "memory_id"),
    **OPTIONS,
)

event_heads = Table(
    "event_heads",
    metadata,
    Column("tenant", Id(256), primary_key=True),
    Column("last_seq", Number, nullable=False),
    Column("last_hash", String(64), nullable=False),
    **OPTIONS,
)

runs = Table(
    "runs",
    metadata,
    _tenant(),
    Column("run_id", Id(64), nullable=False),
    Column("session_no", Number, nullable=False),
    Column("session_id", Id(), nullable=False),
    Column("user_id", Id(), nullable=False),
    Column("agent_id", Id(), nullable=False),
    Column("state", String(16), nullable=False),
    Column("from_seq", Number, nullable=False),
    Column("upto_seq", Number, nullable=False),
    Column("attempts", Integer, nullable=False),
    Column("fence", Number, nullable=False),
    Column("lease_until", Instant),
    Column("judgement", Json),
    Column("plan", Json),
    Column("counts", Json, nullable=False),
    Column("timings_ms", Json, nullable=False),
    Column("cost", Json, nullable=False),
    Column("error_code", String(64), nullable=False),
    Column("error_detail", LongText, nullable=False),
    Column("created_at", Instant, nullable=False),
    Column("started_at", Instant),
    Column("finished_at", Instant),
    PrimaryKeyConstraint("tenant", "run_id"),
    Index("ix_runs_session", "session_no", "upto_seq"),
    Index("ix_runs_state", "state", "created_at"),
    **OPTIONS,
)

run_receipts = Table(
    "run_receipts",
    metadata,
    _tenant(),
    Column("run_id", Id(64), nullable=False),
    Column("write_key", Id(128), nullable=False),
    Column("memory_id", Id(), nullable=False),
    Column("action", String(16), nullable=False),
    Column("version", Integer, nullable=False),
    Column("provider", String(16), nullable=False),
    Column("external_ids", Json, nullable=False),
    Column("verify_at", Instant),
    Column("verify_attempts", Integer, nullable=False, default=0),
    PrimaryKeyConstraint("tenant", "run_id", "write_key", "provider"),
    Index("ix_run_receipts_verify", "verify_at"),
    **OPTIONS,
)

retirements = Table(
    "retirements",
    metadata,
    _tenant(),
    Column("retirement_id", Id(128), nullable=False),
    Column("provider", String(16), nullable=False),
    Column("collection", Id(COLLECTION_BYTES), nullable=False),
    Column("memory_id", Id(), nullable=False),
    Column("replaced_by", Id(), nullable=False),
    Column("run_id", Id(64), nullable=False),
    Column("attempts", Integer, nullable=False),
    Column("last_error", LongText, nullable=False),
    Column("created_at", Instant, nullable=False),
    Column("due_at", Instant, nullable=False),
    Column("done_at", Instant),
    PrimaryKeyConstraint("tenant", "retirement_id"),
    Index("ix_retirements_due", "done_at", "due_at"),
    **OPTIONS,
)

provider_copies = Table(
    "provider_copies",
    metadata,
    _tenant(),
    Column("memory_id", Id(), nullable=False),
    Column("provider", String(16), nullable=False),
    Column("external_id", Id(), nullable=False),
    Column("collection", Id(COLLECTION_BYTES), nullable=False),
    Column("user_id", Id(), nullable=False),
    Column("verified_at", Instant),
    Column("created_at", Instant, nullable=False),
    Column("expires_at", Instant),
    PrimaryKeyConstraint("tenant", "provider", "memory_id", "external_id"),
    Index("ix_provider_copies_user", "tenant", "user_id"),
    Index("ix_provider_copies_expires", "expires_at"),
    **OPTIONS,
)
"""``external_id`` is empty until it is known. ``expires_at`` is empty for ever, or once the removal is noted."""

quarantine = Table(
    "quarantine",
    metadata,
    _tenant(),
    Column("quarantine_id", Id(64), nullable=False),
    Column("collection", Id(COLLECTION_BYTES), nullable=False),
    Column("memory_type", Id(64), nullable=False),
    Column("content", LongText, nullable=False),
    Column("reason", LongText, nullable=False),
    Column("actor", Id(), nullable=False),
    Column("session_id", Id(), nullable=False),
    Column("run_id", Id(64)),
    Column("created_at", Instant, nullable=False),
    Column("decided_at", Instant),
    Column("decision", String(16), nullable=False, default=""),
    Column("user_id", Id(), nullable=False, default=""),
    Column("memory_id", Id(), nullable=False, default=""),
    Column("decided_by", Id(), nullable=False, default=""),
    Column("unit", Json),
    PrimaryKeyConstraint("tenant", "quarantine_id"),
    Index("ix_quarantine_created", "created_at"),
    Index("ix_quarantine_user", "tenant", "user_id"),
    **OPTIONS,
)
"""``actor``: the agent it came from. ``unit``: what else was to be written. An empty ``decision`` waits for one.

``memory_id``: what it was to change, or what it became when it was released.
"""

embeddings = Table(
    "embeddings",
    metadata,
    Column("model", Id(128), nullable=False),
    Column("text_hash", String(64), nullable=False),
    Column("vector", Vector, nullable=False),
    Column("created_at", Instant, nullable=False),
    PrimaryKeyConstraint("model", "text_hash"),
    Index("ix_embeddings_text", "text_hash"),
    **OPTIONS,
)

jobs = Table(
    "jobs",
    metadata,
    Column("name", Id(64), primary_key=True),
    Column("cursor", Json, nullable=False),
    Column("lease_until", Instant),
    Column("fence", Number, nullable=False, default=0),
    Column("finished_at", Instant),
    **OPTIONS,
)

audits = Table(
    "audits",
    metadata,
    _tenant(),
    Column("week", String(16), nullable=False),
    Column("report", Json, nullable=False),
    Column("created_at", Instant, nullable=False),
    PrimaryKeyConstraint("tenant", "week"),
    **OPTIONS,
)


def memory_table(name: str, into: MetaData = metadata) -> Table:
    """Return the table of one memory type, e.g. ``mem_user_preference``; the same object each time it is asked.

    ``purge_at``: when the row may be removed – when it expires, or some time after it was deleted.
    """
    if name in into.tables:
        return into.tables[name]
    return Table(
        name,
        into,
        _tenant(),
        Column("memory_id", Id(), nullable=False),
        Column("collection", Id(COLLECTION_BYTES), nullable=False),
        Column("agent_id", Id(), nullable=False),
        Column("content", LongText, nullable=False),
        Column("metadata", Json, nullable=False),
        Column("read_agents", Names),
        Column("write_agents", Names),
        Column("ttl_seconds", Number, nullable=False),
        Column("version", Integer, nullable=False),
        Column("status", String(16), nullable=False),
        Column("standing", Boolean, nullable=False),
        Column("safety", Boolean, nullable=False),
        Column("importance", Integer, nullable=False),
        Column("confidence", Float, nullable=False, default=1.0),
        Column("superseded_by", Id()),
        Column("fingerprint", String(64), nullable=False),
        Column("digest", String(64), nullable=False),
        Column("run_id", Id(64)),
        Column("user_id", Id(), nullable=False, default=""),
        Column("embedding", Vector),
        Column("embedding_model", String(128), nullable=False),
        Column("change_seq", BigInteger, nullable=False),
        Column("said_at", Instant, nullable=False),
        Column("created_at", Instant, nullable=False),
        Column("updated_at", Instant, nullable=False),
        Column("expires_at", Instant),
        Column("purge_at", Instant),
        PrimaryKeyConstraint("tenant", "memory_id"),
        Index(f"ix_{name}_changes", "tenant", "collection", "change_seq"),
        Index(f"ix_{name}_purge", "purge_at"),
        Index(f"ix_{name}_fingerprint", "tenant", "collection", "fingerprint"),
        Index(f"ix_{name}_standing", "tenant", "collection", "standing"),
        Index(f"ix_{name}_user", "tenant", "user_id"),
        Index(f"ix_{name}_run", "tenant", "run_id"),
        **OPTIONS,
    )


def table_name(memory_type: str) -> str:
    """Return the table that a built-in or operator-made type uses."""
    return f"mem_{memory_type}"


for _name in BUILT_IN_TYPES:
    memory_table(table_name(_name))
