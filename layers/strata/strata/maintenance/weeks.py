"""ISO weeks in UTC, as reports are named after them: ``2026-W11`` is Monday 9 to Sunday 15 March 2026."""

import re
from datetime import UTC, datetime, timedelta

from strata.errors import ValidationError

WEEK = timedelta(days=7)
_NAME = re.compile(r"(\d{4})-W(\d{2})")


def week_of(instant: datetime) -> str:
    """Return the week that an instant lies in."""
    year, week, _day = instant.astimezone(UTC).isocalendar()
    return f"{year}-W{week:02}"


def last_week(instant: datetime) -> str:
    """Return the last week that is over at an instant."""
    return week_of(instant - WEEK)


def span_of(week: str) -> tuple[datetime, datetime]:
    """Return the first instant of a week and the first after it. Raises ValidationError."""
    match = _NAME.fullmatch(week)
    try:
        year, number = (int(match[1]), int(match[2])) if match else (0, 0)
        start = datetime.fromisocalendar(year, number, 1).replace(tzinfo=UTC)
    except ValueError:
        raise ValidationError("A week is named like 2026-W11.", fields={"field": "week"}) from None
    return start, start + WEEK


def days_of(week: str) -> list[str]:
    """Return the seven dates of a week."""
    start, _end = span_of(week)
    return [(start + timedelta(days=day)).date().isoformat() for day in range(7)]
