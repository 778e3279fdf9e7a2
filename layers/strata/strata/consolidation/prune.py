"""Step 5, prune: every proposal held against the batch and against what is stored in its collection and type.

Similarity only proposes pairs; the guard decides what they are to each other. What cannot be proven equal stays two.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from strata.consolidation.board import Entry, Finding, Findings, Relation, entry_of
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
    stored: Sequence[Stored]
    places: Mapping[str, Mapping[str, int]]
    """By key of a proposal where the ``stored`` ones stand that are worth a look beside it, by id."""
    findings: Findings
    """What is more than alike, among the proposals too."""

    def near(self, proposal: Proposal) -> list[Entry]:
        """Return the stored entries that are worth a look beside a proposal, in the order in which they are listed."""
        places = self.places.get(proposal.key)
        return [_stored(self.stored[place]) for place in sorted(places.values())] if places else []

    def entries(self, findings: Findings) -> list[Entry]:
        """Return the stored entries that are anything to one of the proposals by ``findings``."""
        telling = (pair for pair, finding in findings.items() if finding.relation is not Relation.NEAR)
        found = {self.places[key][entry_id] for key, entry_id in telling if entry_id in self.places.get(key, ())}
        return [_stored(self.stored[place]) for place in sorted(found)]


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
        near = self._pairs.proposed([entry.content for entry in batch], [item.memory.content for item in stored])
        places: dict[str, dict[str, int]] = {entry.id: {} for entry in batch}
        for new, old in near:
            places[batch[new].id][stored[old].memory.memory_id] = old
        return Held(
            collection=collection,
            memory_type=memory_type,
            proposals=tuple(group),
            stored=stored,
            places=places,
            findings=self._stored_findings(batch, stored, near) | self._batch_findings(batch),
        )

    def _stored_findings(
        self, batch: Sequence[Entry], stored: Sequence[Stored], near: Sequence[tuple[int, int]]
    ) -> dict[tuple[str, str], Finding]:
        found: dict[tuple[str, str], Finding] = {}
        for new, old in near:
            entry, memory = batch[new], stored[old].memory
            finding = self._finding(entry.content, memory.content, later=entry.order >= (memory.said_at, 0))
            if finding.relation is not Relation.NEAR:  # decides nothing, and nearly all are
                found[entry.id, memory.memory_id] = finding
        return found

    def _batch_findings(self, batch: Sequence[Entry]) -> dict[tuple[str, str], Finding]:
        found: dict[tuple[str, str], Finding] = {}
        for pair in self._pairs.proposed_within([entry.content for entry in batch]):
            entry, other = batch[max(pair)], batch[min(pair)]
            finding = self._finding(entry.content, other.content, later=entry.order >= other.order)
            if finding.relation is not Relation.NEAR:
                found[entry.id, other.id] = finding
        return found

    def _finding(self, new: str, old: str, *, later: bool) -> Finding:
        """The guard reads two statements in the order in which they were said."""
        return self._pairs.compared(old, new) if later else _turned(self._pairs.compared(new, old))


def _turned(finding: Finding) -> Finding:
    """Say of the earlier statement what was found of the later one."""
    turned = _TURNED.get(finding.relation)
    return finding if turned is None else replace(finding, relation=turned)


_TURNED = {Relation.WITHIN: Relation.BEYOND, Relation.BEYOND: Relation.WITHIN}


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
