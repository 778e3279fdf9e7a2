"""The long-term side of a load while it is under way, and what of it is there when its time is up."""

from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from concurrent.futures import TimeoutError as LateError
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from strata.clock import Clock
from strata.errors import DeadlineExceededError, StrataError
from strata.model.context import Degraded
from strata.model.memories import Hit, Memory
from strata.observability import count, logger

if TYPE_CHECKING:
    from strata.ports import ProviderHits

T = TypeVar("T")

LIMITED = "limited"
"""The search did not do all that was asked; the detail says what."""


@dataclass(slots=True, kw_only=True)
class LongTerm:
    """The long-term side of one load, as far as it came."""

    standing: Sequence[Memory] = ()
    hits: Sequence[Hit] = ()
    degraded: tuple[Degraded, ...] = ()
    took_ms: float = 0.0


class Pending:
    """The long-term side while it is under way."""

    def __init__(
        self,
        clock: Clock,
        started: float,
        deadlines: Mapping[str, float],
        *,
        off: Degraded | None = None,
        standing: "Future[list[Memory]] | None" = None,
        found: "Future[ProviderHits] | None" = None,
    ) -> None:
        self._clock = clock
        self._started = started
        self._deadlines = deadlines
        self._off = off
        self._standing = standing
        self._found = found
        self._degraded: list[Degraded] = [off] if off else []

    def joined(self) -> LongTerm:
        """Return what there is when the deadline comes; what is missing is named."""
        found = self._result(self._found, "long_term")
        standing = self._result(self._standing, "constraints")
        self._degraded += [_limited(note) for note in (found.notes if found else ())]
        return LongTerm(
            standing=standing or (),
            hits=found.hits if found else (),
            degraded=tuple(self._degraded),
            took_ms=milliseconds(self._started, self._clock.monotonic()),
        )

    def _result(self, future: "Future[T] | None", part: str) -> T | None:
        if future is None:
            return None
        try:
            failure = future.exception(max(0.0, self._deadlines[part] - self._clock.monotonic()))
        except LateError:
            future.cancel()
            failure = DeadlineExceededError()
        if failure is None:
            return future.result()
        error = failure if isinstance(failure, StrataError) else StrataError()
        logger.warning("context.degraded", extra={"part": part, "code": error.code}, exc_info=_unforeseen(failure))
        count("ContextDegraded", dimensions={"part": part, "code": error.code})
        self._degraded.append(Degraded(part=part, code=error.code, detail=error.message))
        return None


def _limited(note: str) -> Degraded:
    """Return what a provider noted: a code where it is one, else its sentence under a code that programs can read."""
    if note.isidentifier():
        return Degraded(part="long_term", code=note)
    return Degraded(part="long_term", code=LIMITED, detail=note)


def _unforeseen(failure: BaseException) -> BaseException | None:
    """Return what has to be logged with its traceback: a mistake in the long-term side costs its part, no more."""
    return None if isinstance(failure, StrataError) else failure


def milliseconds(since: float, until: float) -> float:
    """Return the time between two readings of a monotonic clock, in milliseconds."""
    return round((until - since) * 1_000, 3)
