"""What reads a day or a span of days from a match: patterns of both languages, each with its reader."""

import re
from collections.abc import Callable
from datetime import date, timedelta
from functools import cache
from typing import TypeAlias

from strata.consolidation.days import (
    any_of,
    coming,
    coming_day,
    date_or_none,
    first_of_month,
    length,
    number,
    step,
    words,
)

WEEK = 7
Reader = Callable[[re.Match[str], date], tuple[date, date] | None]
Entry: TypeAlias = tuple[str, Reader, bool]
"""Pattern, reader, and whether it needs the day on which it was said."""


@cache
def readers() -> tuple[tuple[re.Pattern[str], Reader, bool], ...]:
    """Return every pattern with its reader."""
    entries = (*_day_entries(), *_span_entries(), *_length_entries(), *_calendar_entries())
    return tuple((re.compile(pattern), reader, relative) for pattern, reader, relative in entries)


def _day(match: re.Match[str], today: date) -> tuple[date, date]:
    day = today + timedelta(days=words("days")[match.group()])
    return day, day


def _span(match: re.Match[str], today: date) -> tuple[date, date]:
    return today, today + timedelta(days=int(words("spans")[match.group()]) - 1)


def weekday(match: re.Match[str], today: date) -> tuple[date, date]:
    """A weekday, with or without this, next, last."""
    wanted = int(words("weekdays")[match["weekday"]])
    monday = today - timedelta(days=today.weekday())
    which = (match["which"] or "").strip()
    if which in {"this", "这", "这个", "本"}:
        day = monday + timedelta(days=wanted)
    elif which in {"next", "下", "下个"}:
        day = monday + timedelta(days=WEEK + wanted)
    elif which in {"上", "上个"}:
        day = monday + timedelta(days=wanted - WEEK)
    elif which == "last":
        day = today - timedelta(days=(today.weekday() - wanted - 1) % WEEK + 1)
    else:
        day = today + timedelta(days=(wanted - today.weekday() - 1) % WEEK + 1)
    return day, day


def _weekdays(match: re.Match[str], today: date) -> tuple[date, date]:
    """From one weekday to another, of the coming days or of the week that is named."""
    first, _ = weekday(match, today)
    wanted = int(words("weekdays")[match["other"]])
    return first, first + timedelta(days=(wanted - first.weekday()) % WEEK)


def _week(match: re.Match[str], today: date) -> tuple[date, date]:
    """This, next, last week; what is left of this one."""
    monday = today - timedelta(days=today.weekday()) + timedelta(days=WEEK * step(match["which"]))
    return monday, monday + timedelta(days=WEEK - 1)


def _weekend(match: re.Match[str], today: date) -> tuple[date, date]:
    monday = today - timedelta(days=today.weekday()) + timedelta(days=WEEK * step(match["which"]))
    return monday + timedelta(days=5), monday + timedelta(days=6)


def _month(match: re.Match[str], today: date) -> tuple[date, date]:
    first = first_of_month(today, step(match["which"]))
    return first, first_of_month(first, 1) - timedelta(days=1)


def _month_end(_match: re.Match[str], today: date) -> tuple[date, date]:
    last = first_of_month(today, 1) - timedelta(days=1)
    return last, last


def _named_month_end(match: re.Match[str], today: date) -> tuple[date, date] | None:
    month = number(match["month"])
    first = coming(today, int(month), 1) if month else None
    if first is None:
        return None
    last = first_of_month(first, 1) - timedelta(days=1)
    return last, last


def _year_end(_match: re.Match[str], today: date) -> tuple[date, date]:
    last = date(today.year, 12, 31)
    return last, last


def _ahead(match: re.Match[str], today: date) -> tuple[date, date] | None:
    """Within, for, after some days, weeks, months."""
    days = length(match)
    return (today, today + timedelta(days=days)) if days else None


def _in(match: re.Match[str], today: date) -> tuple[date, date] | None:
    days = length(match)
    return (today + timedelta(days=days),) * 2 if days else None


def _ago(match: re.Match[str], today: date) -> tuple[date, date] | None:
    days = length(match)
    return (today - timedelta(days=days),) * 2 if days else None


def _calendar(match: re.Match[str], today: date) -> tuple[date, date] | None:
    """A day of a month, or a day of this or the next month; the nearest that is not long past."""
    groups = match.groupdict()
    day = number(groups["day"])
    month = words("months").get(groups.get("month") or "") or number(groups.get("month"))
    if not day:
        return None
    found = coming(today, int(month), int(day)) if month else coming_day(today, int(day), step(groups.get("which")))
    return (found, found) if found else None


def _iso(match: re.Match[str], _today: date) -> tuple[date, date] | None:
    day = date_or_none(int(match["year"]), int(match["month"]), int(match["day"]))
    return (day, day) if day else None


def _day_entries() -> tuple[Entry, ...]:
    """Today, a weekday."""
    en_weekday = any_of("weekdays", latin=True)
    return (
        (any_of("days", latin=False), _day, True),
        (rf"\b(?:{any_of('days', latin=True)})\b", _day, True),
        (any_of("spans", latin=False), _span, False),
        (rf"\b(?:{any_of('spans', latin=True)})\b", _span, False),
        (
            r"(?<![每隔逢])(?P<which>这个?|本|下个?|上个?)?(?:周|星期|礼拜)(?P<weekday>[一二三四五六日天])(?![\d一二三四五六日天]?次)",
            weekday,
            True,
        ),
        (
            rf"(?<!every )(?<!each )(?<!most )(?<!other )\b(?P<which>this |next |last )?(?P<weekday>{en_weekday})\b",
            weekday,
            True,
        ),
        (
            r"(?<![每隔逢])(?P<which>这个?|本|下个?|上个?)?(?:周|星期|礼拜)(?P<weekday>[一二三四五六日天])(?:到|至|-|~)(?:周|星期|礼拜)?(?P<other>[一二三四五六日天])",
            _weekdays,
            True,
        ),
        (
            (
                rf"\b(?P<which>this |next |last )?(?P<weekday>{en_weekday})"
                rf" (?:to|through|until|till|-) (?P<other>{en_weekday})\b"
            ),
            _weekdays,
            True,
        ),
    )


def _span_entries() -> tuple[Entry, ...]:
    """Weeks, weekends, months, the end of something."""
    return (
        (r"(?P<which>这个?|本|下个?|上个?)(?:周|星期|礼拜)(?![一二三四五六日天末])", _week, True),
        (r"\b(?:the rest of )?(?P<which>this|next|last) week\b", _week, True),
        (r"(?<!每)(?<!个)(?P<which>这个?|本|下个?|上个?)周末", _weekend, True),
        (r"\b(?P<which>this|next|last|the) weekend\b", _weekend, True),
        (r"(?P<which>这个|本|下个?|上个?)月(?![底初中\d])", _month, True),
        (r"\b(?:the rest of )?(?P<which>this|next|last) month\b", _month, True),
        (r"(?<![一二三四五六七八九十\d])月底", _month_end, True),
        (r"\b(?:the )?end of (?:the|this) month\b", _month_end, True),
        (r"(?P<month>[\d一二三四五六七八九十]{1,2})月底", _named_month_end, True),
        (r"年底|年末", _year_end, True),
        (r"\b(?:the )?end of (?:the|this) year\b", _year_end, True),
    )


def _length_entries() -> tuple[Entry, ...]:
    """So many days, weeks or months from now or ago."""
    zh_number, en_number = r"[\d一二两俩三四五六七八九十半]+", rf"\d+|{any_of('numbers', latin=True)}"
    zh_unit, en_unit = "天|周|星期|礼拜|月", "(?:day|week|fortnight|month)s?"
    return (
        (rf"(?P<number>{zh_number})个?(?P<unit>{zh_unit})(?:之内|以内|内|里)", _ahead, True),
        (rf"(?:这|未来|接下来|接下来的|今后)(?P<number>{zh_number})个?(?P<unit>{zh_unit})", _ahead, True),
        (
            (
                r"\b(?:within|over the next|during the next|for the next|for another|in)"
                rf" (?P<number>{en_number}) (?P<unit>{en_unit})\b"
            ),
            _ahead,
            True,
        ),
        (rf"\bfor (?:at least |about )?(?P<number>{en_number}) (?P<unit>{en_unit})\b", _ahead, False),
        (rf"\b(?:the |for )?next (?P<number>{en_number}) (?P<unit>{en_unit})\b", _ahead, True),
        (rf"(?P<number>{zh_number})个?(?P<unit>{zh_unit})(?:之后|以后|后)", _in, True),
        (rf"\b(?P<number>{en_number}) (?P<unit>{en_unit}) from now\b", _in, True),
        (rf"(?P<number>{zh_number})个?(?P<unit>{zh_unit})(?:之前|以前|前)", _ago, True),
        (rf"\b(?P<number>{en_number}) (?P<unit>{en_unit}) ago\b", _ago, True),
    )


def _calendar_entries() -> tuple[Entry, ...]:
    """Days of the calendar."""
    en_month = any_of("months")
    return (
        (
            r"(?<!\d)(?P<month>[\d一二三四五六七八九十]{1,3})月(?P<day>[\d一二三四五六七八九十]{1,3})[日号]",
            _calendar,
            False,
        ),
        (r"(?P<which>下个?|这个|本)月(?P<day>[\d一二三四五六七八九十]{1,3})[日号]", _calendar, True),
        (
            r"(?<![\d月一二三四五六七八九十])(?P<day>[\d一二三四五六七八九十]{1,3})号(?![楼线院口门床码])",
            _calendar,
            True,
        ),
        (rf"\b(?P<month>{en_month})\.? (?P<day>\d{{1,2}})(?:st|nd|rd|th)?\b(?!:)", _calendar, False),
        (rf"\b(?:the )?(?P<day>\d{{1,2}})(?:st|nd|rd|th)? (?:of )?(?P<month>{en_month})\b", _calendar, False),
        (
            r"\bthe (?P<day>\d{1,2})(?:st|nd|rd|th)\b(?! (?:floor|time|grade|street|avenue|birthday|place|century))",
            _calendar,
            True,
        ),
        (r"(?<!\d)(?P<year>20\d\d)[-/.年](?P<month>\d{1,2})[-/.月](?P<day>\d{1,2})日?(?!\d)", _iso, False),
    )
