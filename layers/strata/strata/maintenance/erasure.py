"""Erasing a user: everything goes, and a manifest says what went and what is still to be done.

Each step may be repeated. What could not be reached (a provider, the cache) is named as pending; erasing again goes
on there, and what a provider still keeps is removed by reconcile as soon as it can be reached. The audit trail stays:
it holds ids, counts and digests, never a word of a memory or a message.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from itertools import groupby

from strata.clock import Clock
from strata.errors import CacheUnavailableError, ForbiddenError, StrataError
from strata.model.agents import ProviderName
from strata.model.runs import Retirement
from strata.model.sessions import SessionKey
from strata.policy.names import checked_id, derived_id
from strata.ports import Access, Provider, ProviderCopy, ProviderScope, RunStore, SessionCache, SessionStore, UserStore

UNSEEN_SECONDS = 1_800
"""When a provider that works in the background is told once more to remove what it had not shown yet."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Erased:
    """The manifest of an erasure."""

    user_id: str
    removed: Mapping[str, int]
    pending: tuple[str, ...]
    """What could not be reached, e.g. ``MEMOS: 3 copies``; empty = everything is gone."""

    @property
    def complete(self) -> bool:
        """Tell whether nothing is left to do."""
        return not self.pending


class Erasure:
    """Removes users; for administrators."""

    def __init__(
        self,
        users: UserStore,
        sessions: SessionStore,
        cache: SessionCache,
        providers: Mapping[ProviderName, Provider],
        runs: RunStore,
        clock: Clock,
    ) -> None:
        self._users = users
        self._sessions = sessions
        self._cache = cache
        self._providers = providers
        self._runs = runs
        self._clock = clock

    def erase(self, access: Access, user_id: str) -> Erased:
        """Remove everything about a user. Raises ForbiddenError; ValidationError for an empty or odd id."""
        if not (access.admin or access.system):
            raise ForbiddenError
        checked_id(user_id, "user_id")
        keys = [session.key for session in self._sessions.of_user(access.tenant, user_id)]
        removed, pending = self._erase_copies(access, user_id)
        now = self._clock.now()
        memories = self._users.erase_memories(access.tenant, user_id, actor=access.agent_id, now=now)
        sessions = self._users.erase_sessions(access.tenant, user_id, actor=access.agent_id, now=now)
        cached = self._drop_cached(keys)
        return Erased(
            user_id=user_id,
            removed=_added({"provider_copies": removed}, memories, sessions),
            pending=(*pending, *cached),
        )

    def _erase_copies(self, access: Access, user_id: str) -> tuple[int, list[str]]:
        removed, pending = 0, []
        copies = sorted(self._users.copies(access.tenant, user_id), key=_place)
        for (provider, collection), group in groupby(copies, key=_place):
            batch = list(group)
            unseen = [copy for copy in batch if not copy.external_id]
            if self._deleted(access, user_id, provider, collection, batch):
                removed += self._users.forget_copies(access.tenant, batch)
                self._remove_later(access, unseen, UNSEEN_SECONDS)
            else:
                self._remove_later(access, batch, 0)
                pending.append(f"{provider}: {len(batch)} copies in {collection}")
        return removed, pending

    def _remove_later(self, access: Access, copies: Sequence[ProviderCopy], seconds: int) -> None:
        """Note removals for reconcile. They belong to no run, because the user's runs go too."""
        noted = [
            Retirement(
                retirement_id=derived_id("erased", copy.provider, copy.memory_id, copy.external_id),
                tenant=access.tenant,
                provider=copy.provider,
                collection=copy.collection,
                memory_id=_name(copy),
                replaced_by="",
                run_id="",
            )
            for copy in copies
        ]
        self._runs.add_retirements(None, noted, now=self._clock.now() + timedelta(seconds=seconds))

    def _deleted(
        self, access: Access, user_id: str, provider: str, collection: str, copies: Sequence[ProviderCopy]
    ) -> bool:
        scope = ProviderScope(tenant=access.tenant, user_id=user_id, agent_id=access.agent_id)
        try:
            keeper = self._providers[ProviderName(provider)]
            keeper.delete(scope, collection, [_name(copy) for copy in copies])
        except (KeyError, ValueError, StrataError):
            return False
        return True

    def _drop_cached(self, keys: Sequence[SessionKey]) -> list[str]:
        """The rows are gone, so that nothing can fill the cache again; what stays there ends with its own life."""
        left = 0
        for key in keys:
            try:
                self._cache.drop(key)
            except CacheUnavailableError:
                left += 1
        return [f"cache: {left} sessions"] if left else []


def _added(*counts: Mapping[str, int]) -> dict[str, int]:
    """Add up counts: a delivery goes with its memory or with its session, whichever is removed first."""
    total: Counter[str] = Counter()
    for one in counts:
        total.update(one)
    return dict(total)


def _name(copy: ProviderCopy) -> str:
    """What a provider finds a copy by: its own id, or as long as that is not known, ours."""
    return copy.external_id or copy.memory_id


def _place(copy: ProviderCopy) -> tuple[str, str]:
    return copy.provider, copy.collection
