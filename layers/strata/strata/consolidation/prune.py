"""Step 5, prune: every proposal held against the batch and against what is stored in its collection and type.

Similarity only proposes pairs; the guard decides what they are to each other. What cannot be proven equal stays two.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from strata.consolidation.board import Entry, Finding, Relation, entry_of
from strata.consolidation.lookup import Lookup, Stored
from strata.consolidation.pairs import Pairs
from strata.consolidation.proposals import Proposal
from strata.model.runs import Run


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """The proposals of one collection and type with what they are held against."""

    collection: str
    memory_type: str
    proposals: tuple[Proposal, ...]
    entries: tuple[Entry, ...]
    """The stored ones that are anything to one of the proposals."""
    findings: Mapping[tuple[str, str], Finding]

    def near(self, proposal: Proposal) -> list[Entry]:
        """Return the stored entries that are anything to a proposal."""
        return [entry for entry in self.entries if (proposal.key, entry.id) in self.findings]


class Prune:
    """Step 5."""

    def __init__(self, lookup: Lookup, pairs: Pairs) -> None:
        self._lookup = lookup
        self._pairs = pairs

    def __call__(self, run: Run, proposals: Sequence[Proposal], *, now: datetime) -> list[Held]:
        """Return the proposals by place, in the order in which they were said."""
        places: defaultdict[tuple[str, str], list[Proposal]] = defaultdict(list)
        for proposal in proposals:
            places[proposal.place].append(proposal)
        return [self._held(run, *place, group, now) for place, group in places.items()]

    def _held(self, run: Run, collection: str, memory_type: str, group: Sequence[Proposal], now: datetime) -> Held:
        stored = self._lookup(run, collection, memory_type, now=now)
        batch = [entry_of(proposal) for proposal in group]
        near = self._pairs.proposed([proposal.content for proposal in group], [item.memory.content for item in stored])
        entries = {old: _stored(stored[old]) for old in sorted({old for _, old in near})}
        findings = {(batch[new].id, entries[old].id): self._finding(batch[new], entries[old]) for new, old in near}
        return Held(
            collection=collection,
            memory_type=memory_type,
            proposals=tuple(group),
            entries=tuple(entries.values()),
            findings=findings | self._batch_findings(batch),
        )

    def _batch_findings(self, batch: Sequence[Entry]) -> dict[tuple[str, str], Finding]:
        near = self._pairs.proposed_within([entry.content for entry in batch])
        ordered = ((max(pair), min(pair)) for pair in near)
        return {(batch[new].id, batch[old].id): self._finding(batch[new], batch[old]) for new, old in ordered}

    def _finding(self, new: Entry, old: Entry) -> Finding:
        """The guard reads two statements in the order in which they were said."""
        if new.order >= old.order:
            return self._pairs.compared(old.content, new.content)
        return _turned(self._pairs.compared(new.content, old.content))


def _turned(finding: Finding) -> Finding:
    """Say of the earlier statement what was found of the later one."""
    turned = {Relation.WITHIN: Relation.BEYOND, Relation.BEYOND: Relation.WITHIN}
    return replace(finding, relation=turned.get(finding.relation, finding.relation))


def _stored(item: Stored) -> Entry:
    memory = item.memory
    return Entry(
        id=memory.memory_id,
        content=memory.content,
        order=(memory.said_at, 0),
        safety=memory.safety,
        standing=memory.standing,
        external=item.external,
    )
