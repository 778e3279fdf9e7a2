"""EventBridge Scheduler's part: ``rate(…)`` and ``cron(…)`` in UTC, in the background or now."""

import re
import threading
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from strata.clock import Clock
from strata.errors import ConfigurationError, NotFoundError
from strata.local.deployment import ScheduleSpec
from strata.local.function import FunctionFailed, LocalFunction
from strata.observability import logger

TICK_SECONDS = 1.0
_UNITS = {"minute": timedelta(minutes=1), "hour": timedelta(hours=1), "day": timedelta(days=1)}
_RATE = re.compile(r"rate\((\d+) (minute|hour|day)s?\)")
_CRON = re.compile(r"cron\((\S+) (\S+) (\S+) (\S+) (\S+) (\S+)\)")
_NAMES = {
    name: str(number)
    for names, first in (("JAN FEB MAR APR MAY JUN JUL AUG SEP OCT NOV DEC", 1), ("SUN MON TUE WED THU FRI SAT", 1))
    for number, name in enumerate(names.split(), first)
}
_BOUNDS = ((0, 59), (0, 23), (1, 31), (1, 12), (1, 7), (1970, 2199))
_LONGEST = timedelta(days=366)


class Cron:
    """Minute, hour, day of month, month, day of week (1 = Sunday), year; ``*``, ``?``, lists, ranges and steps."""

    def __init__(self, fields: tuple[str, ...]) -> None:
        self._allowed = [_numbers(field, *bounds) for field, bounds in zip(fields, _BOUNDS, strict=True)]

    def next_after(self, instant: datetime) -> datetime:
        """Return the first fitting minute after ``instant``, looking one year ahead."""
        candidate = instant.replace(second=0, microsecond=0) + timedelta(minutes=1)
        while not self._fits(candidate):
            candidate += timedelta(minutes=1) if self._fits_day(candidate) else _to_midnight(candidate)
            if candidate - instant > _LONGEST:
                raise ConfigurationError("the schedule never comes due")
        return candidate

    def _fits(self, at: datetime) -> bool:
        return at.minute in self._allowed[0] and at.hour in self._allowed[1] and self._fits_day(at)

    def _fits_day(self, at: datetime) -> bool:
        _, _, days, months, weekdays, years = self._allowed
        return at.day in days and at.month in months and at.isoweekday() % 7 + 1 in weekdays and at.year in years


class Rate:
    """Every so often, counted from the start."""

    def __init__(self, every: timedelta) -> None:
        self._every = every

    def next_after(self, instant: datetime) -> datetime:
        return instant + self._every


def parse(expression: str) -> Rate | Cron:
    """Return the schedule an expression means. Raises ConfigurationError if it means none."""
    if match := _RATE.fullmatch(expression):
        return Rate(int(match[1]) * _UNITS[match[2]])
    if match := _CRON.fullmatch(expression):
        return Cron(match.groups())
    raise ConfigurationError(f"{expression!r} is not a schedule")


class Scheduler:
    """The schedules of a deployment."""

    def __init__(
        self, schedules: Mapping[str, ScheduleSpec], functions: Mapping[str, LocalFunction], clock: Clock
    ) -> None:
        self._schedules = schedules
        self._functions = functions
        self._clock = clock
        self._when = {name: parse(spec.expression) for name, spec in schedules.items()}
        self._due = {name: when.next_after(clock.now()) for name, when in self._when.items()}
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="schedules", daemon=True)

    def run_now(self, name: str) -> Any:  # noqa: ANN401 any JSON value
        """Run a schedule's job and return its answer.

        Raises:
            NotFoundError: there is no such schedule.
            FunctionFailed: the job failed.
        """
        if name not in self._schedules:
            raise NotFoundError(f"There is no schedule {name}; there are {', '.join(sorted(self._schedules))}.")
        spec = self._schedules[name]
        return self._functions[spec.function].invoke(dict(spec.input))

    def run_due(self) -> list[str]:
        """Run what has come due, each once however late; return the names."""
        now = self._clock.now()
        due = [name for name, at in self._due.items() if at <= now]
        for name in due:
            self._due[name] = self._when[name].next_after(now)
            try:
                self.run_now(name)
            except FunctionFailed:
                logger.warning("schedule.failed", extra={"schedule": name})
        return due

    def start(self) -> None:
        """Run schedules in the background until ``stop``."""
        self._thread.start()

    def stop(self) -> None:
        """Start no further job."""
        self._stopped.set()

    def _run(self) -> None:
        while not self._stopped.wait(TICK_SECONDS):
            self.run_due()


def _to_midnight(at: datetime) -> timedelta:
    return at.replace(hour=0, minute=0) + timedelta(days=1) - at


def _numbers(field: str, lowest: int, highest: int) -> frozenset[int]:
    found: set[int] = set()
    for part in field.upper().split(","):
        span, _, step = part.partition("/")
        first, last = _span(span, lowest, highest, open_ended=bool(step))
        found.update(range(first, last + 1, int(step or 1)))
    return frozenset(found)


def _span(span: str, lowest: int, highest: int, *, open_ended: bool) -> tuple[int, int]:
    if span in {"*", "?"}:
        return lowest, highest
    first, _, last = (_NAMES.get(end, end) for end in span.partition("-"))
    if not first.isdigit() or (last and not last.isdigit()):
        raise ConfigurationError(f"{span!r} is not supported in a schedule")
    return int(first), int(last or (highest if open_ended else first))
