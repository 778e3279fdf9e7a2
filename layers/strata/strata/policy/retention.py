"""How long a memory lives. Pure.

A life is counted in whole seconds of UTC from the write: 0 = for ever. Nothing else means "for ever", and local
calendars, zones of the process and daylight saving have no part in it.
"""

from datetime import UTC, datetime, timedelta

from strata.errors import ValidationError

FOR_EVER = 0
MAX_TTL_SECONDS = 100 * 366 * 86_400
"""A century; larger values are mistakes (milliseconds, most of the time) and would leave the calendar."""


def checked_ttl(value: object) -> int:
    """Return a life in seconds.

    Raises:
        ValidationError: not a whole number from 0 to a century. Booleans, fractions and texts are refused, so that
            no writer gets an immortal or a stillborn memory by accident.
    """
    if isinstance(value, bool) or not isinstance(value, int):
        raise ValidationError("ttl must be a whole number of seconds; 0 = for ever.", fields={"field": "ttl"})
    if not 0 <= value <= MAX_TTL_SECONDS:
        raise ValidationError(f"ttl must be from 0 to {MAX_TTL_SECONDS} seconds.", fields={"field": "ttl"})
    return value


def expiry(ttl_seconds: int, now: datetime) -> datetime | None:
    """Return the instant from which a memory is invisible: exactly ``ttl_seconds`` after ``now``; None = never."""
    return None if ttl_seconds == FOR_EVER else now.astimezone(UTC) + timedelta(seconds=ttl_seconds)


def checked_instant(value: object, field: str) -> datetime:
    """Return an instant given as ISO 8601 with an offset, or as an aware ``datetime``.

    Raises:
        ValidationError: a calendar date, or a time without a zone: neither names an instant.
    """
    instant = _parsed(value)
    if instant is None or instant.utcoffset() is None:
        message = f"{field} must be an instant with an offset, such as 2026-03-10T08:00:00+08:00."
        raise ValidationError(message, fields={"field": field})
    try:
        return instant.astimezone(UTC)
    except OverflowError:
        raise ValidationError(f"{field} is outside the calendar.", fields={"field": field}) from None


def _parsed(value: object) -> datetime | None:
    if isinstance(value, datetime):
        return value
    try:
        return datetime.fromisoformat(value) if isinstance(value, str) else None
    except ValueError:
        return None
