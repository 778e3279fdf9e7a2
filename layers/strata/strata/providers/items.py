"""A stored memory as a provider shows it, whichever provider that is, and how its loose values are read."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

UNKNOWN_AGE = datetime(1970, 1, 1, tzinfo=UTC)
"""Stands for a time that a provider does not tell: older than anything that does."""

_MILLISECONDS_FROM = 100_000_000_000  # in seconds, that is the year 5138


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One entry of a provider."""

    external_id: str
    cube: str
    text: str
    marks: Mapping[str, Any] = field(default_factory=dict)
    """The metadata that came with it, ours (``strata_…``) and others'."""
    score: float | None = None
    created_at: datetime | None = None
    updated_at: datetime | None = None
    preference: bool = False
    """The provider itself calls it a preference."""
    provisional: bool = False
    """A raw copy under a temporary id, until the provider has worked on it."""
    rewritten: bool = False
    """The provider changed or merged it after it was stored, so that its text is not what Strata wrote."""


def instant(value: object) -> datetime | None:
    """Read a time: ISO text with any number of fraction digits and any or no zone, or epoch seconds or milliseconds."""
    if isinstance(value, str) and value.isascii() and value.isdigit():
        value = int(value)
    try:
        if isinstance(value, str):
            parsed = datetime.fromisoformat(value.strip())
            return (parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)).astimezone(UTC)
        if isinstance(value, int | float) and not isinstance(value, bool):
            return datetime.fromtimestamp(value / 1_000 if value >= _MILLISECONDS_FROM else value, tz=UTC)
    except (ValueError, OverflowError, OSError):
        return None
    return None


def number(value: object) -> float | None:
    """Read a finite number, also from text; None if it is none."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        parsed = float(value)
    except (ValueError, OverflowError):
        return None
    return parsed if parsed - parsed == 0 else None  # infinite and not-a-number differ from themselves


def text(value: object) -> str:
    """Read a text; anything else is empty."""
    return value if isinstance(value, str) else ""


def mapping(value: object) -> Mapping[str, Any]:
    """Read an object; anything else is empty."""
    return value if isinstance(value, dict) else {}


def objects(value: object) -> Iterator[Mapping[str, Any]]:
    """Read a list of objects; null, and what is no object in it, is left out."""
    if isinstance(value, list):
        yield from (entry for entry in value if isinstance(entry, dict))
