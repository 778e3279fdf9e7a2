"""Step 7, commit: the plan is stored, then its new memories are written, then old ones are retired.

Every write has a key of its own, and whatever is done under it again changes nothing: a crash at any point is healed
by doing the plan again. New before old: at no instant is a topic empty. What was written is proven by a receipt. A
removal at an external provider is noted before it is tried, and reconcile tries it until it succeeds.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from strata.clock import Clock
from strata.consolidation.claim import Hold
from strata.consolidation.look_again import LookAgain
from strata.consolidation.lookup import ProviderFor, external, scope_of
from strata.consolidation.native import NativeWrites
from strata.consolidation.pairs import Pairs
from strata.errors import (
    InferenceUnavailableError,
    ProviderProtocolError,
    ProviderRejectedError,
    ProviderUnavailableError,
)
from strata.model.runs import Plan, PlannedWrite, Receipt, Retirement, WriteAction
from strata.observability import logger
from strata.policy.retention import expiry
from strata.ports import Embedder, MemoryDraft, MemoryStore, Provider, RunStore

VERIFY_AFTER_SECONDS = 30
"""When an asynchronous provider is asked whether it kept what it acknowledged."""
_WRITES_TEXT = frozenset({WriteAction.INSERT, WriteAction.REFINE, WriteAction.SUPERSEDE})

StepHook = Callable[[str], None]
"""Called with the name of what was just done."""


class Commit:
    """Step 7."""

    def __init__(
        self,
        runs: RunStore,
        store: MemoryStore,
        embedder: Embedder,
        provider_for: ProviderFor,
        clock: Clock,
        on_step: StepHook,
    ) -> None:
        self._runs = runs
        self._native = NativeWrites(store)
        self._look_again = LookAgain(store, Pairs())
        self._embedder = embedder
        self._provider_for = provider_for
        self._clock = clock
        self._on_step = on_step

    def __call__(self, hold: Hold, plan: Plan, *, last_chance: bool) -> None:
        """Do what the plan says and has no receipt for yet.

        Raises:
            LeaseLostError: another worker has taken over; it does the same plan.
            TransientError: a store or provider is away; what was written has its receipt.
            ProviderRejectedError: the provider does not take a memory.
        """
        if hold.run.plan is None:
            self._runs.save_plan(hold.lease, hold.run.tenant, plan)
            self._on_step("plan")
        else:
            hold.prolong()
        hold.seen = plan.seen
        abroad = external(self._provider_for(hold.run.tenant, hold.run.agent_id))
        done = {receipt.key: receipt.memory_id for receipt in hold.run.receipts}
        waiting = [write for write in plan.writes if write.key not in done]
        vectors = self._vectors(waiting, last_chance=last_chance)
        for write in sorted(waiting, key=lambda write: leaves(write, abroad)):
            hold.keep()
            receipt = self._write(hold, _resolved(write, done), abroad, vectors.get(write.key, b""))
            self._on_step(f"written {write.key}")
            self._runs.add_receipts(hold.lease, hold.run.tenant, [receipt], now=self._clock.now())
            done[write.key] = receipt.memory_id
            self._on_step(f"receipt {write.key}")
        self._look_again(hold.run, plan, set(done.values()), now=self._clock.now())
        if hold.is_second_judgement:
            self._native.give_up(hold, _spoken_of(plan, done), self._clock.now())

    def _write(self, hold: Hold, write: PlannedWrite, abroad: Provider | None, vector: bytes) -> Receipt:
        now = self._clock.now()
        if write.action is WriteAction.QUARANTINE:
            self._runs.quarantine(hold.run, write, now=now)
        if write.action is WriteAction.QUARANTINE or (write.action is WriteAction.SKIP and write.repeats is None):
            return Receipt(key=write.key, memory_id="", action=write.action, version=0, provider=self._native.name)
        draft = self._draft(hold, write, vector, now)
        if abroad is not None and leaves(write, abroad):
            receipt = self._add(hold, write, abroad, draft, now)
        else:
            receipt = self._native.write(hold, write, draft, now)
        self._on_step(f"added {write.key}")
        if write.action is WriteAction.SUPERSEDE and not write.keep_old_visible:
            self._native.retire(hold, write, receipt.memory_id, now)
            self._retire_external(hold, write, abroad, receipt.memory_id)
        return receipt

    def _add(self, hold: Hold, write: PlannedWrite, provider: Provider, draft: MemoryDraft, now: datetime) -> Receipt:
        """Store a memory with the agent's provider under its key as idempotency key."""
        receipt = Receipt(
            key=write.key,
            memory_id=write.repeats or draft.memory_id,
            action=write.action,
            version=1,
            provider=provider.name.value,
        )
        if write.repeats is not None or write.superseded_by is not None:
            return receipt  # it is there, or it was outdated before it came: a provider has no history to keep it in
        ids = provider.add(scope_of(hold.run), draft, now=now)
        verify_at = now + timedelta(seconds=VERIFY_AFTER_SECONDS) if provider.capabilities().asynchronous else None
        return replace(receipt, external_ids=ids, verify_at=verify_at)

    def _retire_external(self, hold: Hold, write: PlannedWrite, provider: Provider | None, replaced_by: str) -> None:
        if not write.replaces_external or provider is None or not replaced_by:
            return
        noted = [
            Retirement(
                retirement_id=f"{write.key}:{place}",
                tenant=hold.run.tenant,
                provider=provider.name.value,
                collection=write.collection,
                memory_id=old,
                replaced_by=replaced_by,
                run_id=hold.run.run_id,
            )
            for place, old in enumerate(write.replaces_external)
        ]
        self._runs.add_retirements(hold.lease, noted, now=self._clock.now())
        self._on_step(f"retiring {write.key}")
        for item in noted:
            self._try_retirement(hold, item, provider)

    def _try_retirement(self, hold: Hold, item: Retirement, provider: Provider) -> None:
        error = ""
        try:
            provider.delete(scope_of(hold.run), item.collection, [item.memory_id])
        except (ProviderUnavailableError, ProviderRejectedError, ProviderProtocolError) as failure:
            logger.warning("commit.retirement_waits", extra={"run_id": hold.run.run_id, "code": failure.code})
            error = failure.code
        self._runs.retired(item, error=error, now=self._clock.now())

    def _draft(self, hold: Hold, write: PlannedWrite, vector: bytes, now: datetime) -> MemoryDraft:
        return self._native.draft(
            hold.run,
            write,
            expires_at=expiry(write.ttl_seconds, now),
            embedding=vector or None,
            embedding_model=self._embedder.name if vector else "",
        )

    def _vectors(self, writes: Sequence[PlannedWrite], *, last_chance: bool) -> dict[str, bytes]:
        """Return a vector for each text to be written; none without a model, or if it is away to the last."""
        texts = {write.key: write.content for write in writes if write.action in _WRITES_TEXT and not write.repeats}
        if not texts or not self._embedder.dimensions:
            return {}
        try:
            return dict(zip(texts, self._embedder.embed(list(texts.values())), strict=True))
        except InferenceUnavailableError:
            if not last_chance:
                raise
            logger.warning("commit.not_embedded", extra={"texts": len(texts)})
            return {}


def leaves(write: PlannedWrite, abroad: Provider | None) -> bool:
    """Tell whether a memory goes to the external provider: constraints never do, they must be there when it is not."""
    return abroad is not None and not (write.standing or write.safety)


def _resolved(write: PlannedWrite, done: dict[str, str]) -> PlannedWrite:
    """Turn names of writes of the same plan into the ids of what they became."""
    return replace(
        write,
        repeats=done.get(write.repeats, write.repeats) if write.repeats else None,
        replaces=tuple(done.get(old, old) for old in write.replaces),
        superseded_by=done.get(write.superseded_by, write.superseded_by) if write.superseded_by else None,
    )


def _spoken_of(plan: Plan, done: dict[str, str]) -> set[str]:
    """Return the memories that a plan wrote, found again or replaced."""
    named = {old for write in plan.writes for old in (*write.replaces, write.repeats) if old is not None}
    return {done.get(name, name) for name in named | {write.key for write in plan.writes}}
