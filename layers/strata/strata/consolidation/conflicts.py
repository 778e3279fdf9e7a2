"""Step 6, conflicts: per collection, what becomes of each proposal. Returns the plan; writes nothing.

With a model that judged, it is asked once for each collection in which something stored is near, and decides among
what it is offered; the guard keeps a veto on what would lose a contradiction. Without, or without a usable answer, the
guard's findings decide. Either way the same board settles them, in the order in which they were said.
"""

from collections import defaultdict
from collections.abc import Callable, Sequence
from datetime import datetime

from strata.consolidation.board import Board, Finding
from strata.consolidation.judge import LEAST_SECONDS, RESERVE_SECONDS
from strata.consolidation.lookup import ProviderFor, access_of, external
from strata.consolidation.model_conflicts import ModelConflicts
from strata.consolidation.proposals import Proposal
from strata.consolidation.prune import Held
from strata.model.runs import Judgement, Plan, PlannedWrite, Run, WriteAction
from strata.ports import MemoryStore


class Conflicts:
    """Step 6."""

    def __init__(
        self, store: MemoryStore, provider_for: ProviderFor, model: ModelConflicts | None, *, timeout_seconds: float
    ) -> None:
        self._store = store
        self._provider_for = provider_for
        self._model = model
        self._timeout_seconds = timeout_seconds

    def __call__(
        self, run: Run, held: Sequence[Held], judgement: Judgement, *, remaining_seconds: Callable[[], float]
    ) -> Plan:
        """Return the plan of a run."""
        writes: list[PlannedWrite] = []
        for collection, groups in _by_collection(held).items():
            deleted = self._deleted(run, collection, groups)
            changed = self._asked(groups, remaining_seconds()) if judgement.judge == "model" else {}
            for group in groups:
                writes += self._settled(run, group, {**group.findings, **changed}, deleted)
        return Plan(
            writes=tuple(writes),
            judge=judgement.judge,
            model=judgement.model,
            prompt_version=judgement.prompt_version,
            judge_error=judgement.error,
        )

    def state(self, run: Run, collections: Sequence[str], *, now: datetime) -> dict[str, int]:
        """Return where the change counters of collections stand."""
        views = self._store.view(access_of(run), collections, now=now)
        return {name: view.change_seq for name, view in views.items()}

    def _asked(self, groups: Sequence[Held], remaining_seconds: float) -> dict[tuple[str, str], Finding]:
        seconds = min(self._timeout_seconds, remaining_seconds - RESERVE_SECONDS)
        if self._model is None or seconds < LEAST_SECONDS:
            return {}
        return self._model(groups, timeout_seconds=seconds)

    def _settled(
        self,
        run: Run,
        group: Held,
        findings: dict[tuple[str, str], Finding],
        deleted: dict[str, datetime],
    ) -> list[PlannedWrite]:
        leaves = external(self._provider_for(run.tenant, run.agent_id)) is not None
        board = Board(group.entries(findings), findings, leaves=leaves)
        for proposal in group.proposals:
            if proposal.quarantine:
                board.set_aside(proposal, WriteAction.QUARANTINE, proposal.quarantine)
            elif _is_unwanted(proposal, deleted):
                board.set_aside(proposal, WriteAction.SKIP, "deleted by the user after it was said")
            else:
                board.settle(proposal)
        return list(board.writes.values())

    def _deleted(self, run: Run, collection: str, groups: Sequence[Held]) -> dict[str, datetime]:
        fingerprints = [proposal.fingerprint for group in groups for proposal in group.proposals]
        return self._store.tombstoned(run.tenant, collection, fingerprints)


def _is_unwanted(proposal: Proposal, deleted: dict[str, datetime]) -> bool:
    """What a user deleted does not come back, unless the user says it again afterwards."""
    deleted_at = deleted.get(proposal.fingerprint)
    return deleted_at is not None and proposal.said_at <= deleted_at


def _by_collection(held: Sequence[Held]) -> dict[str, list[Held]]:
    collections: defaultdict[str, list[Held]] = defaultdict(list)
    for group in held:
        collections[group.collection].append(group)
    return dict(collections)
