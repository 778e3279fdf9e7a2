"""From the vocabulary to the answers of the API."""

from dataclasses import asdict
from typing import Any

from strata.consolidation.undo import Undone
from strata.edge.schemas.context import ContextOut, DegradedOut, DeliveredOut, DroppedOut, LayersOut
from strata.edge.schemas.memories import HitOut, MemoryOut, VersionOut
from strata.edge.schemas.runs import (
    LeftOut,
    PlannedOut,
    PlanOut,
    ReceiptOut,
    RunOut,
    SourceOut,
    UndoOut,
    UndoStepOut,
)
from strata.edge.schemas.sessions import AppendOut, MessageOut, SessionOut, SkippedOut, StoredOut, SummaryOut
from strata.model.context import ContextMemory, Lane, LoadedContext
from strata.model.memories import Hit, Memory, MemoryVersion
from strata.model.messages import Appended, JsonObject, Message
from strata.model.runs import Plan, PlannedWrite, Receipt, Run
from strata.model.sessions import Session


def content(value: str | tuple[JsonObject, ...] | None) -> str | list[dict[str, Any]] | None:
    """Return a message's content as JSON."""
    return [dict(part) for part in value] if isinstance(value, tuple) else value


def message(item: Message) -> MessageOut:
    """Return one stored message."""
    return MessageOut(
        seq=item.seq,
        message_id=item.message_id,
        role=item.role.value,
        kind=item.kind.value,
        content=content(item.content),
        name=item.name,
        tool_calls=[dict(call) for call in item.tool_calls],
        tool_call_id=item.tool_call_id,
        metadata=dict(item.metadata),
        agent_id=item.agent_id,
        tokens=item.tokens,
        digest=item.digest,
        said_at=item.said_at,
        created_at=item.created_at,
    )


def appended(item: Appended) -> AppendOut:
    """Return the answer to an append."""
    return AppendOut(
        session_id=item.session_id,
        messages=[StoredOut(message_id=one.message_id, seq=one.seq, tokens=one.tokens) for one in item.messages],
        skipped=[SkippedOut(index=one.index, reason=one.reason) for one in item.skipped],
        replayed=item.replayed,
        last_seq=item.last_seq,
    )


def session(item: Session) -> SessionOut:
    """Return a session without its messages."""
    summary = item.summary
    return SessionOut(
        session_id=item.key.session_id,
        user_id=item.user_id,
        agent_id=item.agent_id,
        participants=list(item.participants),
        state=item.state.value,
        messages=item.last_seq,
        zone=item.zone,
        summary=SummaryOut.model_validate(summary) if summary else None,
        created_at=item.created_at,
        updated_at=item.updated_at,
        ended_at=item.ended_at,
    )


def memory_fields(item: Memory) -> dict[str, Any]:
    """Return what a memory and a hit have in common."""
    policy = {"read_agents": item.policy.read_agents, "write_agents": item.policy.write_agents}
    return {
        "memory_id": item.memory_id,
        "collection": item.collection,
        "memory_type": item.memory_type,
        "agent_id": item.agent_id,
        "content": item.content,
        "metadata": dict(item.metadata),
        "access_policy": {name: None if allowed is None else list(allowed) for name, allowed in policy.items()},
        "ttl_seconds": item.ttl_seconds,
        "version": item.version,
        "standing": item.standing,
        "safety": item.safety,
        "importance": item.importance,
        "said_at": item.said_at,
        "created_at": item.created_at,
        "updated_at": item.updated_at,
        "expires_at": item.expires_at,
    }


def memory(item: Memory) -> MemoryOut:
    """Return one memory."""
    return MemoryOut(**memory_fields(item))


def hit(item: Hit) -> HitOut:
    """Return one search result."""
    return HitOut(
        **memory_fields(item.memory), score=round(item.score, 4), signals=list(item.signals), linked=list(item.linked)
    )


def version(item: MemoryVersion) -> VersionOut:
    """Return one step of a history."""
    return VersionOut(
        version=item.version,
        change=item.change.value,
        memory_type=item.memory_type,
        content=item.content,
        metadata=dict(item.metadata),
        agent_id=item.agent_id,
        reason=item.reason,
        base_version=item.base_version,
        conflict=item.conflict,
        rolled_back_to=item.rolled_back_to,
        run_id=item.run_id,
        created_at=item.created_at,
    )


def planned(item: PlannedWrite) -> PlannedOut:
    """Return one decision of a plan."""
    return PlannedOut(
        key=item.key,
        action=item.action.value,
        collection=item.collection,
        memory_type=item.memory_type,
        content=item.content,
        importance=item.importance,
        rule=item.rule,
        evidence=item.evidence,
        reason=item.reason,
        replaces=list(item.replaces),
        sources=[SourceOut(session_id=one.session_id, seq=one.seq) for one in item.sources],
    )


def run(item: Run, *, whole: bool = True) -> RunOut:
    """Return a run; a list leaves the plans out."""
    plan = item.plan
    return RunOut(
        run_id=item.run_id,
        session_id=item.session_id,
        user_id=item.user_id,
        agent_id=item.agent_id,
        state=item.state.value,
        from_seq=item.from_seq,
        upto_seq=item.upto_seq,
        attempts=item.attempts,
        judge=plan.judge if plan else None,
        model=plan.model if plan else None,
        prompt_version=plan.prompt_version if plan else None,
        judge_error=plan.judge_error if plan else None,
        plan=[planned(write) for write in plan.writes] if plan and whole else None,
        receipts=[ReceiptOut(**_receipt(one)) for one in item.receipts] if whole else [],
        counts=dict(item.counts),
        timings_ms=dict(item.timings_ms),
        cost=dict(item.cost),
        error_code=item.error_code,
        error_detail=item.error_detail,
        created_at=item.created_at,
        started_at=item.started_at,
        finished_at=item.finished_at,
    )


def undone(item: Undone) -> UndoOut:
    """Return a run with what was taken back, or would be."""
    taken = item.taken
    return UndoOut(
        **dict(run(item.run)),
        applied=item.applied,
        steps=[UndoStepOut.model_validate(step) for step in taken.steps],
        left=[LeftOut(memory_id=memory_id, reason=reason) for memory_id, reason in taken.kept],
        leaving=list(taken.leaving),
        withdrawn=list(taken.withdrawn),
    )


def plan(item: Plan) -> PlanOut:
    """Return a plan that was not carried out."""
    return PlanOut(
        judge=item.judge,
        model=item.model,
        judge_error=item.judge_error,
        counts=dict(item.counts),
        plan=[planned(write) for write in item.writes],
    )


def context(item: LoadedContext) -> ContextOut:
    """Return a loaded context."""
    lanes = {lane: [delivered(one) for one in item.memories if one.lane is lane] for lane in Lane}
    return ContextOut(
        messages=[dict(one) for one in item.messages],
        summary=item.summary.text if item.summary else None,
        memories=LayersOut(
            constraints=lanes[Lane.CONSTRAINT],
            user=lanes[Lane.USER],
            shared=lanes[Lane.SHARED],
            agent=lanes[Lane.AGENT],
        ),
        prompt=item.prompt,
        working=dict(item.working),
        usage=dict(item.usage),
        dropped=[DroppedOut.model_validate(one) for one in item.dropped],
        degraded=[DegradedOut.model_validate(one) for one in item.degraded],
        timings_ms=dict(item.timings_ms),
    )


def delivered(item: ContextMemory) -> DeliveredOut:
    """Return one delivered memory."""
    found = item.hit.memory
    return DeliveredOut(
        memory_id=found.memory_id,
        version=found.version,
        memory_type=found.memory_type,
        content=item.text,
        score=round(item.hit.score, 4),
        collection=found.collection,
        agent_id=found.agent_id,
        standing=found.standing,
        signals=list(item.hit.signals),
        updated_at=found.updated_at,
    )


def _receipt(item: Receipt) -> dict[str, Any]:
    fields = asdict(item)
    told = {name: fields[name] for name in ("key", "memory_id", "action", "version", "provider", "looks")}
    return {**told, "kept": item.kept.value}
