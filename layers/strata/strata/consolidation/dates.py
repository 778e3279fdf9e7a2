"""Relative dates, Chinese and English, resolved against when something was said and where the user lives.

"Next Friday", 下周五 is the Friday of the following week (Monday to Sunday); a bare weekday is the next one to come;
"last Friday" is the latest one past, 上周五 that of the week before. "Before" and "until" a day include it.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from functools import cache
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from strata.consolidation.folding import fold
from strata.consolidation.rule_data import table
from strata.consolidation.texts import has_han

WEEK = 7


@dataclass(frozen=True, slots=True, kw_only=True)
class Period:
    """Days that a text names, both included, and where it names them."""

    start: int
    end: int
    first: date
    last: date
    relative: bool
    """False for a date that needs no reference (2026-03-10, 5月12日) and for a vague or unplaced length (最近, for two weeks)."""


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


def dated(text: str, *, said_at: datetime, zone: str) -> str:
    """Return the text with the date behind every relative expression: yesterday (2026-04-30), 下周（2026-05-04至2026-05-10）."""
    parts: list[str] = []
    position = 0
    for period in periods(text, said_at=said_at, zone=zone):
        if period.relative:
            parts += [text[position : period.end], _shown(period, chinese=has_han(text[period.start : period.end]))]
            position = period.end
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
    return Period(
        start=offsets[period.start],
        end=offsets[period.end - 1] + 1,
        first=period.first,
        last=period.last,
        relative=period.relative,
    )


def _shown(period: Period, *, chinese: bool) -> str:
    days = (
        [period.first.isoformat()]
        if period.first == period.last
        else [period.first.isoformat(), period.last.isoformat()]
    )
    return f"（{'至'.join(days)}）" if chinese else f" ({' to '.join(days)})"


Reader = Callable[[re.Match[str], date], tuple[date, date] | None]


def _all(text: str, today: date) -> Iterator[Period]:
    for pattern, reader, relative in _readers():
        for match in pattern.finditer(text):
            days = reader(match, today)
            if days is not None:
                yield Period(start=match.start(), end=match.end(), first=days[0], last=days[1], relative=relative)


def _day(match: re.Match[str], today: date) -> tuple[date, date]:
    day = today + timedelta(days=_words("days")[match.group()])
    return day, day


def _span(match: re.Match[str], today: date) -> tuple[date, date]:
    return today, today + timedelta(days=int(_words("spans")[match.group()]) - 1)


def _weekday(match: re.Match[str], today: date) -> tuple[date, date]:
    """A weekday, with or without this, next, last."""
    wanted = int(_words("weekdays")[match["weekday"]])
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


def _week(match: re.Match[str], today: date) -> tuple[date, date]:
    """This, next, last week; what is left of this one."""
    monday = today - timedelta(days=today.weekday()) + timedelta(days=WEEK * _step(match["which"]))
    return monday, monday + timedelta(days=WEEK - 1)


def _weekend(match: re.Match[str], today: date) -> tuple[date, date]:
    monday = today - timedelta(days=today.weekday()) + timedelta(days=WEEK * _step(match["which"]))
    return monday + timedelta(days=5), monday + timedelta(days=6)


def _month(match: re.Match[str], today: date) -> tuple[date, date]:
    first = _first_of_month(today, _step(match["which"]))
    return first, _first_of_month(first, 1) - timedelta(days=1)


def _month_end(_match: re.Match[str], today: date) -> tuple[date, date]:
    last = _first_of_month(today, 1) - timedelta(days=1)
    return last, last


def _named_month_end(match: re.Match[str], today: date) -> tuple[date, date] | None:
    month = _number(match["month"])
    first = _coming(today, int(month), 1) if month else None
    if first is None:
        return None
    last = _first_of_month(first, 1) - timedelta(days=1)
    return last, last


def _year_end(_match: re.Match[str], today: date) -> tuple[date, date]:
    last = date(today.year, 12, 31)
    return last, last


def _ahead(match: re.Match[str], today: date) -> tuple[date, date] | None:
    """Within, for, after some days, weeks, months."""
    days = _length(match)
    return (today, today + timedelta(days=days)) if days else None


def _in(match: re.Match[str], today: date) -> tuple[date, date] | None:
    days = _length(match)
    return (today + timedelta(days=days),) * 2 if days else None


def _ago(match: re.Match[str], today: date) -> tuple[date, date] | None:
    days = _length(match)
    return (today - timedelta(days=days),) * 2 if days else None


def _calendar(match: re.Match[str], today: date) -> tuple[date, date] | None:
    """A day of a month, or a day of this or the next month; the nearest that is not long past."""
    groups = match.groupdict()
    day = _number(groups["day"])
    month = _words("months").get(groups.get("month") or "") or _number(groups.get("month"))
    if not day:
        return None
    found = _coming(today, int(month), int(day)) if month else _coming_day(today, int(day), _step(groups.get("which")))
    return (found, found) if found else None


def _iso(match: re.Match[str], _today: date) -> tuple[date, date] | None:
    day = _date(int(match["year"]), int(match["month"]), int(match["day"]))
    return (day, day) if day else None


def _coming(today: date, month: int, day: int) -> date | None:
    """The nearest such day: up to two months back it is meant as past, else it is to come."""
    this = _date(today.year, month, day)
    if this is not None and this < today - timedelta(days=60):
        return _date(today.year + 1, month, day)
    return this


def _coming_day(today: date, day: int, months: int) -> date | None:
    first = _first_of_month(today, months)
    found = _date(first.year, first.month, day)
    if found is not None and months == 0 and found < today - timedelta(days=10):
        first = _first_of_month(today, 1)
        return _date(first.year, first.month, day)
    return found


def _first_of_month(day: date, months: int) -> date:
    index = day.year * 12 + day.month - 1 + months
    return date(index // 12, index % 12 + 1, 1)


def _date(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day)
    except ValueError:
        return None


def _step(which: str | None) -> int:
    word = (which or "").strip()
    if word in {"next", "下", "下个"}:
        return 1
    return -1 if word in {"last", "上", "上个"} else 0


def _length(match: re.Match[str]) -> int:
    """Days, from a number and a unit; 0 if it is no number."""
    number = _number(match["number"])
    unit = match["unit"].removesuffix("s") if match["unit"].isascii() else match["unit"]
    return max(round(number * _words("units")[unit]), 1) if number else 0


def _number(text: str | None) -> float:
    if not text:
        return 0
    word = text.strip()
    if word.isdecimal():
        return int(word)
    known = _words("numbers")
    if word in known:
        return known[word]
    if "十" in word:
        tens, _, ones = word.partition("十")
        return 10 * (known.get(tens, 0) or (1 if not tens else 0)) + known.get(ones, 0)
    return 0


def _words(name: str) -> Mapping[str, float]:
    words: Mapping[str, float] = table("dates")[name]
    return words


def _any(name: str, *, latin: bool | None = None) -> str:
    words = [word for word in _words(name) if latin is None or word.isascii() is latin]
    return "|".join(re.escape(word) for word in sorted(words, key=len, reverse=True))


@cache
def _readers() -> tuple[tuple[re.Pattern[str], Reader, bool], ...]:
    zh_number, en_number = r"[\d一二两俩三四五六七八九十半]+", rf"\d+|{_any('numbers', latin=True)}"
    zh_unit, en_unit = "天|周|星期|礼拜|月", "(?:day|week|fortnight|month)s?"
    en_weekday, en_month = _any("weekdays", latin=True), _any("months")
    table_of_readers: tuple[tuple[str, Reader, bool], ...] = (
        (_any("days", latin=False), _day, True),
        (rf"\b(?:{_any('days', latin=True)})\b", _day, True),
        (_any("spans", latin=False), _span, False),
        (rf"\b(?:{_any('spans', latin=True)})\b", _span, False),
        (
            r"(?<![每隔逢])(?P<which>这个?|本|下个?|上个?)?(?:周|星期|礼拜)(?P<weekday>[一二三四五六日天])(?![\d一二三四五六日天]?次)",
            _weekday,
            True,
        ),
        (
            rf"(?<!every )(?<!each )(?<!most )(?<!other )\b(?P<which>this |next |last )?(?P<weekday>{en_weekday})\b",
            _weekday,
            True,
        ),
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
        (rf"(?P<number>{zh_number})个?(?P<unit>{zh_unit})(?:之内|以内|内|里)", _ahead, True),
        (rf"(?:这|未来|接下来|接下来的|今后)(?P<number>{zh_number})个?(?P<unit>{zh_unit})", _ahead, True),
        (
            rf"\b(?:within|over the next|during the next|for the next|for another|in) (?P<number>{en_number}) (?P<unit>{en_unit})\b",
            _ahead,
            True,
        ),
        (rf"\bfor (?:at least |about )?(?P<number>{en_number}) (?P<unit>{en_unit})\b", _ahead, False),
        (rf"\b(?:the |for )?next (?P<number>{en_number}) (?P<unit>{en_unit})\b", _ahead, True),
        (rf"(?P<number>{zh_number})个?(?P<unit>{zh_unit})(?:之后|以后|后)", _in, True),
        (rf"\b(?P<number>{en_number}) (?P<unit>{en_unit}) from now\b", _in, True),
        (rf"(?P<number>{zh_number})个?(?P<unit>{zh_unit})(?:之前|以前|前)", _ago, True),
        (rf"\b(?P<number>{en_number}) (?P<unit>{en_unit}) ago\b", _ago, True),
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
    return tuple((re.compile(pattern), reader, relative) for pattern, reader, relative in table_of_readers)
