"""Proposals settled one after the other, in the order in which they were said, against what holds at that moment.

Pure: it starts from what is stored, adds each write it decides and takes away what that write supersedes. So a
preference that flips and flips back within one session ends where the person ended, and every step is in the plan.

By rules nothing is ever deleted. What contradicts an older statement supersedes it; what was said before the statement
it contradicts is written as already superseded. A safety fact stays visible beside what contradicts it until the
change is said once more.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum

from strata.consolidation.proposals import Proposal, planned, with_sources_of
from strata.model.runs import PlannedWrite, WriteAction


class Relation(StrEnum):
    """What a new statement is to an older or newer one."""

    SAME = "same"
    WITHIN = "within"
    """The new one says nothing that the other does not say."""
    BEYOND = "beyond"
    """The new one says all that the other says, and more: the other is not needed any longer."""
    DETAIL = "detail"
    """The new one adds to the other; both are kept and linked."""
    AGAINST = "against"
    NEAR = "near"
    """Alike, and that is all that can be said."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A statement that holds: stored, or already decided in this plan."""

    id: str
    content: str
    order: tuple[datetime, int]
    safety: bool
    standing: bool
    external: bool
    planned: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """How a proposal stands to an entry, and in whose words."""

    relation: Relation
    reason: str


_NO_FINDINGS: Mapping[str, Finding] = {}
Findings = Mapping[tuple[str, str], Finding]
"""By (proposal key, entry id); what is not among them is near at most."""


class Board:
    """The state of one collection and type while its proposals are settled."""

    def __init__(self, entries: Iterable[Entry], findings: Findings, *, leaves: bool) -> None:
        """``leaves``: memories that are no constraints go to an external provider."""
        self._live = {entry.id: entry for entry in entries}
        self._findings: defaultdict[str, dict[str, Finding]] = defaultdict(dict)
        for (key, entry_id), finding in findings.items():
            if finding.relation is not Relation.NEAR:  # decides nothing
                self._findings[key][entry_id] = finding
        self._leaves = leaves
        self._proposals: dict[str, Proposal] = {}
        self.writes: dict[str, PlannedWrite] = {}

    def settle(self, proposal: Proposal) -> None:
        """Decide about the next proposal; earlier ones must have been said earlier."""
        same = self._related(proposal, Relation.SAME, Relation.WITHIN)
        against = self._related(proposal, Relation.AGAINST)
        older = [entry for entry in against if entry.order <= proposal.order]
        newer = [entry for entry in against if entry.order > proposal.order]
        if same:
            self._repeat(proposal, max(same, key=lambda entry: entry.order), older)
        elif newer:
            self._add_outdated(proposal, newer)
        elif older:
            self._supersede(proposal, older)
        else:
            self._extend(proposal)

    def set_aside(self, proposal: Proposal, action: WriteAction, reason: str) -> None:
        """Plan a proposal without storing it."""
        self.writes[proposal.key] = planned(proposal, action, reason=reason)

    def _repeat(self, proposal: Proposal, entry: Entry, older: Sequence[Entry]) -> None:
        if entry.planned and entry.id in self._proposals:
            self._join(proposal, entry)
        elif entry.external and not self._goes_abroad(proposal):
            self._add(proposal, WriteAction.SUPERSEDE, "kept at home as a constraint", replaces=[entry])
        elif older:
            self._confirm(proposal, entry, older)
        else:
            reason = self._reason(proposal, entry)
            self.writes[proposal.key] = planned(proposal, WriteAction.SKIP, reason=reason, repeats=entry.id)

    def _join(self, proposal: Proposal, entry: Entry) -> None:
        """The same said twice in one session is one write with two sources."""
        kept = with_sources_of(self._proposals[entry.id], proposal)
        self._proposals[entry.id] = kept
        self._live[entry.id] = replace(entry, order=proposal.order, safety=kept.safety, standing=kept.standing)
        self.writes[entry.id] = replace(
            self.writes[entry.id],
            sources=kept.sources,
            importance=kept.importance,
            standing=kept.standing,
            safety=kept.safety,
            said_at=kept.said_at,
        )

    def _confirm(self, proposal: Proposal, entry: Entry, older: Sequence[Entry]) -> None:
        """Said once more: what this entry had contradicted is now given up, safety or not."""
        confirmed = [other for other in older if other.order <= entry.order]
        contested = [other for other in older if other.order > entry.order]
        given_up = confirmed if any(other.safety for other in contested) else older
        reason = self._reason(proposal, older[0]) + ("; confirmed" if confirmed else "")
        self._plan_replacing(proposal, WriteAction.SUPERSEDE, reason, given_up, repeats=entry.id)
        self._live[entry.id] = replace(entry, order=proposal.order)
        self._retire(given_up)

    def _supersede(self, proposal: Proposal, older: Sequence[Entry]) -> None:
        visible = any(entry.safety for entry in older)
        reason = self._reason(proposal, max(older, key=lambda entry: entry.order))
        self._add(proposal, WriteAction.SUPERSEDE, reason, replaces=older, keep_old_visible=visible)

    def _extend(self, proposal: Proposal) -> None:
        beyond = self._related(proposal, Relation.BEYOND)
        detail = self._related(proposal, Relation.DETAIL)
        if beyond:
            self._add(proposal, WriteAction.SUPERSEDE, self._reason(proposal, beyond[0]), replaces=beyond)
        elif detail:
            self._add(proposal, WriteAction.REFINE, self._reason(proposal, detail[0]), replaces=detail)
        else:
            self._add(proposal, WriteAction.INSERT, "nothing stored says it")

    def _add(
        self,
        proposal: Proposal,
        action: WriteAction,
        reason: str,
        *,
        replaces: Sequence[Entry] = (),
        keep_old_visible: bool = False,
    ) -> None:
        self._plan_replacing(proposal, action, reason, replaces, keep_old_visible=keep_old_visible)
        if action is WriteAction.SUPERSEDE and not keep_old_visible:
            self._retire(replaces)
        self._proposals[proposal.key] = proposal
        self._live[proposal.key] = entry_of(proposal)

    def _plan_replacing(
        self,
        proposal: Proposal,
        action: WriteAction,
        reason: str,
        replaced: Sequence[Entry],
        *,
        repeats: str | None = None,
        keep_old_visible: bool = False,
    ) -> None:
        kept = [entry for entry in replaced if keep_old_visible or not self._is_called_off(entry, proposal)]
        self.writes[proposal.key] = planned(
            proposal,
            action,
            reason=reason,
            repeats=repeats,
            replaces=_ids(kept, external=False),
            replaces_external=_ids(kept, external=True),
            keep_old_visible=keep_old_visible,
        )

    def _is_called_off(self, entry: Entry, successor: Proposal) -> bool:
        """What this plan itself outdates never goes to an external provider, which keeps no history."""
        write = self.writes.get(entry.id)
        if write is None or not self._goes_abroad(write):
            return False
        self.writes[entry.id] = replace(write, superseded_by=successor.key)
        return True

    def _add_outdated(self, proposal: Proposal, newer: Sequence[Entry]) -> None:
        """Keep what was said before the statement it contradicts: in the history, never among what holds."""
        latest = max(newer, key=lambda entry: entry.order)
        reason = f"outdated: {self._reason(proposal, latest)}"
        self.writes[proposal.key] = planned(proposal, WriteAction.INSERT, reason=reason, superseded_by=latest.id)

    def _retire(self, entries: Iterable[Entry]) -> None:
        for entry in entries:
            self._live.pop(entry.id, None)

    def _related(self, proposal: Proposal, *relations: Relation) -> list[Entry]:
        return [
            self._live[entry_id]
            for entry_id, found in self._findings.get(proposal.key, _NO_FINDINGS).items()
            if found.relation in relations and entry_id in self._live
        ]

    def _reason(self, proposal: Proposal, entry: Entry) -> str:
        return self._findings[proposal.key][entry.id].reason

    def _goes_abroad(self, statement: Proposal | PlannedWrite) -> bool:
        return self._leaves and not (statement.standing or statement.safety)


def entry_of(proposal: Proposal) -> Entry:
    """Return what a proposal is once it is decided to be written."""
    return Entry(
        id=proposal.key,
        content=proposal.content,
        order=proposal.order,
        safety=proposal.safety,
        standing=proposal.standing,
        external=False,
        planned=True,
    )


def _ids(entries: Iterable[Entry], *, external: bool) -> tuple[str, ...]:
    return tuple(entry.id for entry in entries if entry.external is external)
