"""A candidate on its way to a plan: every field filled, and named by what it is made of."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from strata.dedup.fingerprint import fingerprint
from strata.model.memories import Category, Source
from strata.model.messages import JsonObject
from strata.model.runs import PlannedWrite, Run, WriteAction
from strata.policy.names import derived_id


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """One memory to be, in its collection and type."""

    key: str
    """Also its memory id."""
    collection: str
    memory_type: str
    content: str
    fingerprint: str
    category: Category
    importance: int
    ttl_seconds: int
    standing: bool
    safety: bool
    said_at: datetime
    sources: tuple[Source, ...]
    confidence: float
    rule: str
    evidence: str
    metadata: JsonObject
    quarantine: str = ""
    """Why it is set aside for review instead of being stored; empty if it is not."""

    @property
    def place(self) -> tuple[str, str]:
        """Where it would be stored; memories of two places are never compared."""
        return self.collection, self.memory_type

    @property
    def order(self) -> tuple[datetime, int]:
        """By when it was said."""
        return self.said_at, max([source.seq for source in self.sources], default=0)


def key_of(run: Run, collection: str, memory_type: str, seqs: Sequence[int], content: str) -> str:
    """Return the name of a write: the same for every attempt of a run, another for every other statement."""
    said = ",".join(map(str, sorted(seqs)))
    return derived_id(run.tenant, run.session_id, run.run_id, collection, memory_type, said, fingerprint(content))


def with_sources_of(kept: Proposal, repeated: Proposal) -> Proposal:
    """Return a proposal that also stands for one which says the same; its key stays."""
    return replace(
        kept,
        sources=tuple(sorted({*kept.sources, *repeated.sources}, key=lambda source: source.seq)),
        importance=max(kept.importance, repeated.importance),
        standing=kept.standing or repeated.standing,
        safety=kept.safety or repeated.safety,
        said_at=max(kept.said_at, repeated.said_at),
    )


def planned(  # noqa: PLR0913 (what a decision has)
    proposal: Proposal,
    action: WriteAction,
    *,
    reason: str,
    repeats: str | None = None,
    replaces: tuple[str, ...] = (),
    replaces_external: tuple[str, ...] = (),
    superseded_by: str | None = None,
    keep_old_visible: bool = False,
) -> PlannedWrite:
    """Return the decision about a proposal."""
    return PlannedWrite(
        key=proposal.key,
        action=action,
        collection=proposal.collection,
        memory_type=proposal.memory_type,
        content=proposal.content,
        category=proposal.category.value,
        importance=proposal.importance,
        ttl_seconds=proposal.ttl_seconds,
        standing=proposal.standing,
        safety=proposal.safety,
        said_at=proposal.said_at,
        sources=proposal.sources,
        confidence=proposal.confidence,
        rule=proposal.rule,
        evidence=proposal.evidence,
        reason=reason,
        repeats=repeats,
        replaces=replaces,
        replaces_external=replaces_external,
        superseded_by=superseded_by,
        keep_old_visible=keep_old_visible,
        metadata=proposal.metadata,
    )
