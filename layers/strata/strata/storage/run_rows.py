"""Rows of the run ledger to objects and back.

Judgement and plan are kept as JSON with the names of their fields. A field that a later release adds has a default,
so that a plan which an earlier one stored can still be resumed.
"""

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from datetime import datetime
from typing import Any

from sqlalchemy import Row

from strata.model.memories import AccessPolicy, Candidate, Category, Scope, Source
from strata.model.messages import JsonObject
from strata.model.runs import Judgement, Plan, PlannedWrite, Receipt, Retirement, Run, RunState, WriteAction


def plan_document(plan: Plan) -> JsonObject:
    """Return a plan as JSON."""
    return {**asdict(plan), "writes": [_write_document(write) for write in plan.writes], "counts": dict(plan.counts)}


def judgement_document(judgement: Judgement) -> JsonObject:
    """Return a judgement as JSON."""
    candidates = [
        {**asdict(candidate), "said_at": _text(candidate.said_at), "tags": dict(candidate.tags)}
        for candidate in judgement.candidates
    ]
    return {**asdict(judgement), "candidates": candidates, "dropped": dict(judgement.dropped)}


def run_from(row: Row[Any], receipts: Iterable[Receipt] = ()) -> Run:
    """Return the run of a row of ``runs``."""
    values = row._mapping  # noqa: SLF001 SQLAlchemy's public name for it
    return Run(
        **{name: values[name] for name in _PLAIN},
        state=RunState(values["state"]),
        judgement=_judgement(values["judgement"]),
        plan=_plan(values["plan"]),
        receipts=tuple(receipts),
    )


def receipt_from(row: Row[Any]) -> Receipt:
    """Return the receipt of a row of ``run_receipts``."""
    return Receipt(
        key=row.write_key,
        memory_id=row.memory_id,
        action=WriteAction(row.action),
        version=row.version,
        provider=row.provider,
        external_ids=tuple(row.external_ids),
        verify_at=row.verify_at,
        looks=row.verify_attempts,
    )


def receipt_row(tenant: str, run_id: str, receipt: Receipt) -> dict[str, Any]:
    """Return the row of a receipt."""
    return {
        "tenant": tenant,
        "run_id": run_id,
        "write_key": receipt.key,
        "memory_id": receipt.memory_id,
        "action": receipt.action.value,
        "version": receipt.version,
        "provider": receipt.provider,
        "external_ids": list(receipt.external_ids),
        "verify_at": receipt.verify_at,
        "verify_attempts": receipt.looks,
    }


def retirement_from(row: Row[Any]) -> Retirement:
    """Return the retirement of a row of ``retirements``."""
    names = Retirement.__dataclass_fields__
    return Retirement(**{name: getattr(row, name) for name in names})


_PLAIN = (
    "tenant",
    "run_id",
    "session_id",
    "user_id",
    "agent_id",
    "from_seq",
    "upto_seq",
    "attempts",
    "fence",
    "lease_until",
    "counts",
    "timings_ms",
    "cost",
    "error_code",
    "error_detail",
    "created_at",
    "started_at",
    "finished_at",
)


def _write_document(write: PlannedWrite) -> JsonObject:
    return {**asdict(write), "said_at": _text(write.said_at), "metadata": dict(write.metadata)}


def _plan(document: Mapping[str, Any] | None) -> Plan | None:
    if document is None:
        return None
    return Plan(**{**document, "writes": tuple(_write(write) for write in document["writes"])})


def _write(document: Mapping[str, Any]) -> PlannedWrite:
    policy = document["policy"]
    return PlannedWrite(
        **{
            **document,
            "action": WriteAction(document["action"]),
            "said_at": _instant(document["said_at"]),
            "sources": tuple(Source(**source) for source in document["sources"]),
            "replaces": tuple(document["replaces"]),
            "replaces_external": tuple(document["replaces_external"]),
            "policy": AccessPolicy(**{name: _names(policy[name]) for name in policy}),
        }
    )


def _judgement(document: Mapping[str, Any] | None) -> Judgement | None:
    if document is None:
        return None
    return Judgement(**{**document, "candidates": tuple(_candidate(item) for item in document["candidates"])})


def _candidate(document: Mapping[str, Any]) -> Candidate:
    return Candidate(
        **{
            **document,
            "category": Category(document["category"]),
            "scope": Scope(document["scope"]),
            "source_seqs": tuple(document["source_seqs"]),
            "said_at": _instant(document["said_at"]) if document["said_at"] else None,
        }
    )


def _names(names: list[str] | None) -> tuple[str, ...] | None:
    return None if names is None else tuple(names)


def _text(instant: datetime | None) -> str | None:
    return instant.isoformat() if instant is not None else None


def _instant(text: str) -> datetime:
    return datetime.fromisoformat(text)
