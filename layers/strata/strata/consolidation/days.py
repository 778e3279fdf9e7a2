"""Days of the calendar and the words for them."""

import re
from collections.abc import Mapping
from datetime import date, timedelta

from strata.consolidation.rule_data import table


def coming(today: date, month: int, day: int) -> date | None:
    """The nearest such day: up to two months back it is meant as past, else it is to come."""
    this = date_or_none(today.year, month, day)
    if this is not None and this < today - timedelta(days=60):
        return date_or_none(today.year + 1, month, day)
    return this


def coming_day(today: date, day: int, months: int) -> date | None:
    first = first_of_month(today, months)
    found = date_or_none(first.year, first.month, day)
    if found is not None and months == 0 and found < today - timedelta(days=10):
        first = first_of_month(today, 1)
        return date_or_none(first.year, first.month, day)
    return found


def first_of_month(day: date, months: int) -> date:
    index = day.year * 12 + day.month - 1 + months
    return date(index // 12, index % 12 + 1, 1)


def date_or_none(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day)
    except ValueError:
        return None


def step(which: str | None) -> int:
    word = (which or "").strip()
    if word in {"next", "下", "下个"}:
        return 1
    return -1 if word in {"last", "上", "上个"} else 0


def length(match: re.Match[str]) -> int:
    """Days, from a number and a unit; 0 if it is no number."""
    many = number(match["number"])
    unit = match["unit"].removesuffix("s") if match["unit"].isascii() else match["unit"]
    return max(round(many * words("units")[unit]), 1) if many else 0


def number(text: str | None) -> float:
    if not text:
        return 0
    word = text.strip()
    if word.isdecimal():
        return int(word)
    known = words("numbers")
    if word in known:
        return known[word]
    if "十" in word:
        tens, _, ones = word.partition("十")
        return 10 * (known.get(tens, 0) or (1 if not tens else 0)) + known.get(ones, 0)
    return 0


def words(name: str) -> Mapping[str, float]:
    found: Mapping[str, float] = table("dates")[name]
    return found


def any_of(name: str, *, latin: bool | None = None) -> str:
    found = [word for word in words(name) if latin is None or word.isascii() is latin]
    return "|".join(re.escape(word) for word in sorted(found, key=len, reverse=True))
