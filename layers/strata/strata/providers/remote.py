"""Any external service as a provider: what holds for all of them stands here, once.

* **Looked before it is added.** An add whose answer was lost may have been stored, also by a process that is gone, so
  every add first asks for its idempotency key; and it asks again when the answer did not come or makes no sense. It
  never adds a second time on a mere suspicion: a late server may store after we have looked.
* **Read back.** A success that stored nothing is told from one that did by looking. What cannot be read back is an
  error, except in a service that works in the background: there reconciliation looks later, because a copy that is
  visible at once has a temporary id and may vanish.
* **Found by key.** ``get`` and ``delete`` take the id that Strata gave a memory, or the provider's own. Temporary ids
  never leave this module.
* **Deleted is what can no longer be read.** A service's own word counts neither way.
"""

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime, timedelta

from strata.clock import Clock
from strata.config import Providers
from strata.errors import CircuitOpenError, ProviderProtocolError, ProviderRejectedError, ProviderUnavailableError
from strata.model.agents import ProviderName
from strata.model.context import SearchMode
from strata.model.memories import Hit, Memory
from strata.observability import logger
from strata.ports import Capabilities, MemoryDraft, ProviderHits, ProviderQuery, ProviderScope
from strata.providers.deadline import Deadline
from strata.providers.items import UNKNOWN_AGE, Item
from strata.providers.marks import belongs, marks_of, memory_of
from strata.providers.scopes import Cube, checked_collection, conversation_of
from strata.providers.selection import best, is_readable, is_wanted, score_of
from strata.providers.wire import MAX_QUERY_CHARS, Acknowledgement, Entry, Findings, Question, Wire

_WIDER = 3
"""How many times more is asked for where Strata filters what comes back."""

_COPIES = 2
"""Entries that a provider may keep of one memory: a working copy, or two halves."""

_SETTLED_AFTER = timedelta(hours=1)
"""A raw copy as old as this stays: nobody works on it any more."""


class RemoteProvider:
    """A ``Provider`` over one service. Thread-safe."""

    def __init__(self, wire: Wire, settings: Providers, clock: Clock) -> None:
        self._wire = wire
        self._settings = settings
        self._clock = clock

    @property
    def name(self) -> ProviderName:
        """Which one it is."""
        return self._wire.name

    def capabilities(self) -> Capabilities:
        """Say what it can do."""
        return self._wire.capabilities

    def close(self) -> None:
        """Close the connections."""
        self._wire.close()

    # --- reading --------------------------------------------------------------------------------------------------

    def search(self, query: ProviderQuery) -> ProviderHits:
        """Return at most ``top_k`` hits per collection, best first, with notes on what was not done as asked.

        Raises:
            NotFoundError: a collection is another user's or another agent's.
            ProviderUnavailableError, ProviderRejectedError, ProviderProtocolError: see ``Endpoint.call``.
        """
        cubes = {checked_collection(query.scope, name): name for name in dict.fromkeys(query.collections)}
        question = self._question(query, tuple(cubes))
        if not cubes or not question.text:
            return ProviderHits(hits=(), notes=("An empty query finds nothing.",) if cubes else ())
        seconds = min(query.deadline_seconds, self._settings.search_timeout_seconds)
        findings = self._wire.search(question, Deadline(self._clock, seconds))
        hits = self._hits(findings, query, cubes)
        chosen = [hit for name in cubes.values() for hit in best(hits.get(name, ()), query.top_k)]
        chosen.sort(key=lambda hit: hit.score, reverse=True)
        return ProviderHits(hits=tuple(chosen), notes=(*findings.notes, *self._notes(query)))

    def listed(self, scope: ProviderScope, collection: str, *, limit: int = 100) -> list[Memory]:
        """Return what is stored, newest first, each memory once; also what is expired, superseded or provisional."""
        cube = checked_collection(scope, collection, whole_tenant=True)
        items = self._wire.everything(cube, limit * _COPIES, self._write_deadline)
        once = {memory.memory_id: memory for memory in self._memories(reversed(items), scope.tenant, collection)}
        return list(reversed(once.values()))[:limit]

    def get(self, scope: ProviderScope, collection: str, external_id: str) -> Memory | None:
        """Return one memory by Strata's id or the provider's, or None. A provisional copy is not there yet."""
        cube = checked_collection(scope, collection)
        found = self._wire.matching(cube, frozenset({external_id}), self._write_deadline)
        settled = [item for item in found if not self._is_pending(item)]
        return next(iter(self._memories(settled, scope.tenant, collection)), None)

    # --- writing --------------------------------------------------------------------------------------------------

    def add(self, scope: ProviderScope, draft: MemoryDraft, *, now: datetime) -> tuple[str, ...]:  # noqa: ARG002
        """Store one memory once, however often it is tried, and return the provider's ids if they are lasting.

        Raises:
            NotFoundError: the collection is another user's or another agent's.
            ProviderUnavailableError: it is not known to be stored; try again later.
            ProviderRejectedError, ProviderProtocolError: see ``Endpoint.call``.
        """
        cube = checked_collection(scope, draft.collection)
        conversation = conversation_of(scope.tenant, scope.session_id)
        entry = Entry(cube=cube, draft=draft, marks=marks_of(scope, draft), conversation=conversation)
        known = self._stored(entry)
        if not known:
            known = self._acknowledged(entry, self._wire.store)
        return self._lasting(known)

    def delete(self, scope: ProviderScope, collection: str, external_ids: Sequence[str]) -> None:
        """Delete by Strata's ids or the provider's, within the collection only; absent ids are fine.

        Raises:
            ProviderUnavailableError: something is still there, or is still being worked on; try again later.
        """
        cube = checked_collection(scope, collection, whole_tenant=True)
        wanted = frozenset(external_ids)
        found = self._wire.matching(cube, wanted, self._write_deadline)
        if not found:
            return
        self._wire.remove(cube, [item.external_id for item in found], self._write_deadline)
        left = self._wire.matching(cube, wanted, self._write_deadline)
        if left or any(self._is_pending(item) for item in found):
            message = f"{self.name} still has, or is still working on, a memory that was to be deleted."
            raise ProviderUnavailableError(message, fields={"provider": self.name.value, "operation": "delete"})

    # --- inside ---------------------------------------------------------------------------------------------------

    def _write_deadline(self) -> Deadline:
        return Deadline(self._clock, self._settings.write_timeout_seconds)

    def _question(self, query: ProviderQuery, cubes: tuple[Cube, ...]) -> Question:
        filtered = query.memory_types is not None or bool(query.tags)
        return Question(
            cubes=cubes,
            text=query.text.strip()[:MAX_QUERY_CHARS],
            limit=query.top_k * (_WIDER if filtered else 1),
            tags=query.tags,
            conversation=conversation_of(query.scope.tenant, query.scope.session_id),
        )

    def _notes(self, query: ProviderQuery) -> tuple[str, ...]:
        able = self.capabilities()
        keyword = query.mode is SearchMode.KEYWORD and not able.keyword
        tags = query.tags and not able.tags
        return (
            *((f"{self.name} has no keyword search; it searched by meaning.",) if keyword else ()),
            *((f"{self.name} cannot filter by tags; only its best results were filtered.",) if tags else ()),
        )

    def _hits(self, findings: Findings, query: ProviderQuery, cubes: dict[Cube, str]) -> dict[str, list[Hit]]:
        now = self._clock.now()
        by_collection: dict[str, list[Hit]] = {}
        for item in findings.items:
            collection, score = cubes.get(Cube(item.cube)), score_of(item)
            if collection is None or score is None or not belongs(item, query.scope.tenant, collection):
                continue
            memory = memory_of(item, self.name, query.scope.tenant, collection)
            if is_readable(memory, query, now) and is_wanted(memory, query, tags=not self.capabilities().tags):
                hit = Hit(memory=memory, score=score, signals=("semantic",))
                by_collection.setdefault(collection, []).append(hit)
        return by_collection

    def _memories(self, items: Iterable[Item], tenant: str, collection: str) -> list[Memory]:
        return [memory_of(item, self.name, tenant, collection) for item in items if belongs(item, tenant, collection)]

    def _stored(self, entry: Entry) -> list[Item]:
        return self._wire.find(entry.cube, entry.draft.memory_id, entry.draft.content, self._write_deadline)

    def _acknowledged(self, entry: Entry, store: Callable[[Entry, Deadline], Acknowledgement]) -> list[Item]:
        """Add, and return what can be seen of it; nothing if it is to be looked at later."""
        try:
            answer = store(entry, self._write_deadline())
        except CircuitOpenError:
            raise
        except (ProviderUnavailableError, ProviderProtocolError):
            known = self._stored_after_all(entry)
            if not known:
                raise
            return known
        if answer.stored and self.capabilities().asynchronous:
            return []
        return self._stored(entry) or self._missing(entry, answer, store)

    def _stored_after_all(self, entry: Entry) -> list[Item]:
        """Look once more where the answer was lost; what goes wrong now is not the news."""
        try:
            known = self._stored(entry)
        except (ProviderUnavailableError, ProviderProtocolError, ProviderRejectedError):
            return []
        if known:
            logger.info("provider.add_found_after_failure", extra={"provider": self.name.value})
        return known

    def _missing(
        self, entry: Entry, answer: Acknowledgement, store: Callable[[Entry, Deadline], Acknowledgement]
    ) -> list[Item]:
        """An add was answered with success and cannot be read back: try without a model, once, or say so."""
        if not answer.stored and store != self._wire.store_verbatim:
            return self._acknowledged(entry, self._wire.store_verbatim)
        message = f"{self.name} acknowledged a memory that cannot be read back."
        raise ProviderUnavailableError(message, fields={"provider": self.name.value, "operation": "add"})

    def _is_pending(self, item: Item) -> bool:
        """Whether an entry is a copy under a temporary id that will still be replaced."""
        stored = item.created_at or UNKNOWN_AGE
        return item.provisional and self._clock.now() - stored < _SETTLED_AFTER

    def _lasting(self, items: Sequence[Item]) -> tuple[str, ...]:
        return tuple(item.external_id for item in items if not self._is_pending(item))
