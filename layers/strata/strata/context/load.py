"""Loading a context: three loads side by side, joined by one deadline; complete without what is late or missing.

The window is loaded in the calling thread, standing constraints and the provider's search in threads of their own. The
long-term side is an enhancement: when it is off, fails or is late, the answer says so in ``degraded`` and is complete
without it. Constraints are waited for longer than the rest: they come from our own database, and an answer without them
may be unsafe. A late thread is left to its own timeouts; the two pools are apart, so that hanging searches never keep
the constraints waiting.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from strata import config
from strata.clock import Clock
from strata.context import answer
from strata.context.choice import chosen, without_window
from strata.context.gather import Gather
from strata.context.inject import Inject, Injection
from strata.context.pending import LongTerm, Pending, milliseconds
from strata.errors import StrataError
from strata.model.agents import AgentProfile, Caller
from strata.model.context import ContextRequest, Degraded, LoadedContext
from strata.model.events import Read
from strata.observability import count, logger
from strata.ports import Access, ShortTerm, WindowReader
from strata.tokens.counter import MESSAGE_TOKENS, TokenCounter

T = TypeVar("T")
EnterReads = Callable[[str, Sequence[Read]], None]
"""(tenant, reads): enters deliveries in the read ledger."""


class LoadContext:
    """Loads everything that one request needs."""

    def __init__(
        self,
        window: WindowReader,
        gather: Gather,
        enter: EnterReads,
        counter: TokenCounter,
        settings: config.Settings,
        clock: Clock,
    ) -> None:
        self._window = window
        self._gather = gather
        self._enter = enter
        self._inject = Inject(counter, settings.context)
        self._summary_header_tokens = counter.count(answer.SUMMARY_HEADER) + MESSAGE_TOKENS
        self._settings = settings.context
        self._window_settings = settings.window
        self._clock = clock
        self._constraint_threads = ThreadPoolExecutor(settings.context.threads, thread_name_prefix="constraints")
        self._search_threads = ThreadPoolExecutor(settings.context.threads, thread_name_prefix="search")

    def __call__(self, caller: Caller, profile: AgentProfile, request: ContextRequest) -> LoadedContext:
        """Return the context.

        Raises:
            NotFoundError: the session is another's, or a named collection is not the agent's to read.
            StorageUnavailableError: the window can be had neither from the cache nor from the database.
        """
        started = self._clock.monotonic()
        access = Access.of(caller)
        self._gather.refuse_strangers(access, request.collections, self._clock.now())
        pending = self._begun(access, profile, request, started)
        short = self._short_term(access, profile, request)
        short_done = self._clock.monotonic()
        long = pending.joined()
        injection = self._injected(request, short, long)
        self._enter_reads(caller, request, injection)
        timings = {
            "short_term": milliseconds(started, short_done),
            "long_term": long.took_ms,
            "total": milliseconds(started, self._clock.monotonic()),
        }
        return self._loaded(short, long, injection, timings)

    def close(self) -> None:
        """Take no more loads; do not wait for what hangs."""
        self._constraint_threads.shutdown(wait=False, cancel_futures=True)
        self._search_threads.shutdown(wait=False, cancel_futures=True)

    def _begun(self, access: Access, profile: AgentProfile, request: ContextRequest, started: float) -> "Pending":
        reason = _why_off(profile)
        if reason:
            return Pending(self._clock, started, {}, off=reason)
        seconds = (request.deadline_ms or self._settings.deadline_ms) / 1_000
        now = self._clock.now()
        return Pending(
            self._clock,
            started,
            {"constraints": started + self._constraint_seconds(seconds), "long_term": started + seconds},
            standing=self._constraint_threads.submit(self._gather.standing, access, request, now),
            found=self._search_threads.submit(self._gather.found, access, profile, request, deadline_seconds=seconds),
        )

    def _constraint_seconds(self, seconds: float) -> float:
        """Constraints come from our own database; they are waited for longer than what only helps."""
        return max(seconds, self._settings.constraints_deadline_ms / 1_000)

    def _short_term(self, access: Access, profile: AgentProfile, request: ContextRequest) -> ShortTerm:
        rounds = request.context_rounds or profile.context_rounds
        return self._window(
            access, request.session_id, request.user_id, rounds=rounds, max_tokens=self._window_budget(request)
        )

    def _window_budget(self, request: ContextRequest) -> int:
        """Leave room for memories, but never less than half of the total for the conversation itself."""
        total = _given(request.total_budget_tokens, self._settings.total_tokens)
        wanted = _given(request.window_max_tokens, self._window_settings.max_tokens)
        room = max(total - self._memory_budget(request), total - total // 2) - self._summary_header_tokens
        return max(1, min(wanted, room))

    def _memory_budget(self, request: ContextRequest) -> int:
        return _given(request.memory_budget_tokens, self._settings.memory_tokens)

    def _injected(self, request: ContextRequest, short: ShortTerm, long: LongTerm) -> Injection:
        total = _given(request.total_budget_tokens, self._settings.total_tokens)
        left = total - self._sent_tokens(short)
        hits = without_window(long.hits, request.session_id, short.window.messages)
        choice = chosen(long.standing, hits, self._settings)
        return self._inject(choice, max(0, min(self._memory_budget(request), left)), self._clock.now())

    def _sent_tokens(self, short: ShortTerm) -> int:
        return short.window.tokens + (self._summary_header_tokens if short.window.summary else 0)

    def _enter_reads(self, caller: Caller, request: ContextRequest, injection: Injection) -> None:
        """Who was given what is entered after the fact; a ledger that is away must not cost the answer."""
        if not injection.memories:
            return
        now = self._clock.now()
        reads = [
            Read(
                memory_id=one.hit.memory.memory_id,
                version=one.hit.memory.version,
                agent_id=caller.agent_id,
                session_id=request.session_id,
                request_id=caller.request_id,
                collection=one.hit.memory.collection,
                read_at=now,
            )
            for one in injection.memories
        ]
        try:
            self._enter(caller.tenant, reads)
        except StrataError as error:
            logger.warning("context.reads_not_entered", extra={"code": error.code, "reads": len(reads)})
            count("ReadLedgerFailed")

    def _loaded(
        self, short: ShortTerm, long: LongTerm, injection: Injection, timings: dict[str, float]
    ) -> LoadedContext:
        summary = short.window.summary
        sent = self._sent_tokens(short)
        summary_tokens = sent - short.window.tokens + summary.tokens if summary else 0
        return LoadedContext(
            messages=answer.messages(injection.prompt, short.window),
            window=short.window.messages,
            summary=summary,
            memories=injection.memories,
            prompt=injection.prompt,
            working=short.working,
            usage={
                "history": sent - summary_tokens,
                "summary": summary_tokens,
                "memories": injection.tokens,
                "total": sent + injection.tokens,
            },
            dropped=injection.dropped,
            degraded=(*short.degraded, *long.degraded),
            timings_ms=timings,
        )


def _why_off(profile: AgentProfile) -> Degraded | None:
    if not profile.open_long_memory:
        return Degraded(part="long_term", code="long_memory_off", detail="open_long_memory is false.")
    if not profile.target_id:
        return Degraded(part="long_term", code="no_target", detail="The agent is bound to no model.")
    return None


def _given(value: int | None, default: int) -> int:
    return default if value is None else value
