"""Relative dates, Chinese and English, resolved against when something was said and where the user lives.

"Next Friday", 下周五 is the Friday of the following week (Monday to Sunday); a bare weekday is the next one to come;
"last Friday" is the latest one past, 上周五 that of the week before. "Before" and "until" a day include it.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from strata.consolidation.date_readers import WEEK, readers, weekday
from strata.consolidation.folding import fold
from strata.consolidation.texts import has_han


@dataclass(frozen=True, slots=True, kw_only=True)
class Period:
    """Days that a text names, both included, and where it names them."""

    start: int
    end: int
    first: date
    last: date
    relative: bool
    """False for a date that needs no reference (2026-03-10, 5月12日) and for a vague length (最近, for two weeks)."""
    bare: bool = False
    """A weekday that is not said to be this, next or last."""


def periods(text: str, *, said_at: datetime, zone: str) -> list[Period]:
    """Return what a text says about days, in its order; of overlapping readings the longest."""
    folded = fold(text)
    today = said_at.astimezone(_zone(zone)).date()
    found = sorted(_all(folded.text, today), key=lambda period: (period.start, period.start - period.end))
    result: list[Period] = []
    for period in found:
        if not result or period.start >= result[-1].end:
            result.append(period)
    return [_placed(period, folded.offsets) for period in result]


def dated(text: str, *, said_at: datetime, zone: str, past: bool = False) -> str:
    """Return the text with the date behind every relative expression: *yesterday (2026-04-30)*, 明天（2026-05-02）.

    ``past``: it tells what was, so that a bare weekday is the last one.
    """
    parts: list[str] = []
    position = 0
    for period in periods(text, said_at=said_at, zone=zone):
        if period.relative:
            end = period.end + 2 * (text[period.end : period.end + 2] in {"'s", "’s"})
            parts += [text[position:end], _shown(period, past=past, chinese=has_han(text[period.start : period.end]))]
            position = end
    return "".join([*parts, text[position:]])


def lasts_until(text: str, *, said_at: datetime, zone: str) -> datetime | None:
    """Return the instant (UTC) at which the latest period of a text is over; None if it names none that goes on."""
    today = said_at.astimezone(_zone(zone)).date()
    last = max((period.last for period in periods(text, said_at=said_at, zone=zone)), default=None)
    if last is None or last < today:
        return None
    midnight = datetime.combine(last + timedelta(days=1), time.min, tzinfo=_zone(zone))
    return midnight.astimezone(UTC)


def _zone(name: str) -> tzinfo:
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError):
        return UTC


def _placed(period: Period, offsets: tuple[int, ...]) -> Period:
    return replace(period, start=offsets[period.start], end=offsets[period.end - 1] + 1)


def _shown(period: Period, *, past: bool, chinese: bool) -> str:
    if past and period.bare:
        period = replace(period, first=period.first - timedelta(days=WEEK), last=period.last - timedelta(days=WEEK))
    days = (
        [period.first.isoformat()]
        if period.first == period.last
        else [period.first.isoformat(), period.last.isoformat()]
    )
    return f"（{'至'.join(days)}）" if chinese else f" ({' to '.join(days)})"


def _all(text: str, today: date) -> Iterator[Period]:
    for pattern, reader, relative in readers():
        for match in pattern.finditer(text):
            days = reader(match, today)
            if days is not None:
                yield Period(
                    start=match.start(),
                    end=match.end(),
                    first=days[0],
                    last=days[1],
                    relative=relative,
                    bare=reader is weekday and not match["which"],
                )
