"""Numbers with what they count: dates, clock times, amounts with units, identifiers.

Works on canonical text (``fingerprint.canonical``). Amounts are brought to one unit per family, so that 1.5 小时 is
90 minutes. A number that nothing gives a unit is left to its neighbours (``Number``).
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache

from strata.dedup.patterns import pattern
from strata.dedup.resources import load_toml
from strata.dedup.tokens import Kind, Token


@dataclass(frozen=True, slots=True)
class Number:
    """A number without a unit: an amount or part of a name, as the word before it says."""

    digits: str
    counts: bool
    """A word follows that it may count."""


Piece = str | Token | Number


def pieces(text: str) -> Iterator[Piece]:
    """``text`` in order: values read from it, numbers left open, and the strings in between."""
    if not _DIGIT.search(text):
        yield text
        return
    end = 0
    for match in _grammar(addresses="@" in text or "." in text).finditer(text):
        if match.start() > end:
            yield text[end : match.start()]
        end = match.end()
        yield _READERS[match.lastgroup or ""](match)
    if end < len(text):
        yield text[end:]


def value(family: str, amount: float | str, surface: str) -> Token:
    """The token of an amount; ``@weight=65000``."""
    shown = amount if isinstance(amount, str) else f"{round(amount, 3):g}" if amount < _EXACT else f"{amount:.0f}"
    return Token(f"@{family}={shown}", Kind.VALUE, family, surface.strip())


_EXACT = 100_000
_DIGIT = pattern(r"[\d@.]|[初高大][一二三四]")
_LONG = 5
"""Digits from which a bare number is a code to be told by heart, not an amount."""


@lru_cache(maxsize=1)
def _units() -> dict[str, tuple[str, float]]:
    """Surface → family and factor."""
    return {
        surface.strip(): (family, float(factor))
        for family, rows in load_toml("units.toml").items()
        if family != "article"
        for factor, surfaces in rows.items()
        for surface in surfaces.split(",")
    }


@lru_cache(maxsize=1)
def _articles() -> frozenset[str]:
    return frozenset(word.strip() for word in load_toml("units.toml")["article"]["_"].split(","))


_BEGINS = r"(?=[\d._+$€£¥第初高大地负-]|(?:\b|(?<=\d)){letters})"
"""What any of them begins with; else each would be tried at every letter of a text."""
_NUMBERED = r"(?:b|grade|floor|aged?) \d"
"""Words that begin one in a text without addresses."""


@lru_cache(maxsize=2)
def _grammar(*, addresses: bool) -> re.Pattern[str]:
    units = sorted(_units(), key=len, reverse=True)
    chinese = "|".join(re.escape(unit) for unit in units if not unit.isascii() or unit == "%")
    english = "|".join(re.escape(unit) for unit in units if (unit.isascii() and unit != "%") or unit.startswith("°"))
    return pattern(
        _BEGINS.format(letters="[a-z]" if addresses else _NUMBERED) + r"(?:"
        r"(?P<address>[a-z0-9._+-]+@[a-z0-9.-]+|\b(?:https?//)?[a-z0-9-]+(?:\.[a-z0-9-]+)*\.(?:com|cn|org|net|io|dev)\b)"
        r"|(?P<dashed>\d+(?:-\d+){2,}|\d{3,4}-\d{4,})"
        r"|(?P<basement>(?:地下|负)\d[层楼]?|(?:(?<=level )|(?<=floor )|(?<=[在到]))b \d\b"
        r"|\bb \d(?= (?:level|floor)\b|[层楼]))"
        r"|(?P<date>(?:\d{4}年)?\d{1,2}月\d{1,2}日)"
        r"|(?P<month>(?:\d{4}年)?\d{1,2}月份?(?![\d份]))"
        r"|(?P<year>\d{4}年)"
        r"|(?P<clock>\d{1,2}点(?:\d{1,2}分?|钟|整)?)"
        r"|(?P<hour>\b\d{1,2}(?::\d{2})? ?(?:am|pm)\b|\b\d{1,2}:\d{2}\b|\b\d{1,2} oclock\b)"
        r"|(?P<pressure>\d{2,3}/\d{2,3})"
        r"|(?P<money>[$€£¥] ?\d+(?:\.\d+)?)"
        r"|(?P<monthday>(?<=月)\d{1,2}[号日]|\d{1,2}[号日](?!(?:[楼线门桌机柜车厅馆院店铺室仓口床库座]|项目|方案|产品|选手|会议|病房|文件|员工|教室)))"
        r"|(?P<number_of>\d+号)"
        r"|(?P<line>\d+(?:路|号线|号楼|线)(?![上下]))"
        r"|(?P<ordinal_grade>\bgrade \d+\b)"
        r"|(?P<ordinal_floor>\bfloor \d+\b)"
        r"|(?P<aged>\b(?:aged|age) \d+\b)"
        rf"|(?P<amount>\d+(?:\.\d+)?(?:(?:{chinese})| ?(?:{english})(?![a-z])))"
        r"|(?P<at_hour>(?:(?<=\bat )|(?<=\bset for )|(?<=\buntil )|(?<=\bby )|(?<=\bafter )|(?<=\bbefore ))"
        r"(?:1[0-2]|[1-9])"
        r"(?=$|,| (?:every|each|on|in|daily|sharp|tonight|at night|in the|from|through|the|user)\b))"
        r"|(?P<ordinal>\d+ th\b(?= (?:of|every|each|a|per)\b|,|$))"
        r"|(?P<ranked>第\d+|\d+ th\b)"
        r"|(?P<stage>[初高大][一二三四](?![月天些点个样]))"
        r"|(?P<code>\d{5,})"
        r"|(?P<bare>\d+(?:\.\d+)?))"
    )


_NUMBER = pattern(r"\d+(?:\.\d+)?")


def _figures(text: str) -> list[float]:
    return [float(figure) for figure in _NUMBER.findall(text)]


def _date(match: re.Match[str]) -> Token:
    return value("date", "-".join(_NUMBER.findall(match[0])), match[0])


def _clock(match: re.Match[str]) -> Token:
    """A Chinese hour; whether of the morning or the evening the clause has to say."""
    hour, *minute = _figures(match[0])
    return _time_of_day(hour, minute[0] if minute else 0, match[0], certain=hour > _NOON_HOUR)


def _hour(match: re.Match[str]) -> Token:
    text = match[0]
    hour, *minute = _figures(text)
    if text.endswith("m"):
        return _time_of_day(hour % _NOON_HOUR + (_NOON_HOUR if "pm" in text else 0), sum(minute), text, certain=True)
    return _time_of_day(hour, sum(minute), text, certain=len(text.split(":")[0]) > 1 and "oclock" not in text)


_NOON_HOUR = 12


def _time_of_day(hour: float, minute: float, surface: str, *, certain: bool) -> Token:
    return value("clock" if certain else "clock12", hour * 60 + minute, surface)


def _amount(match: re.Match[str]) -> Token:
    text = match[0]
    figure = _NUMBER.match(text)
    assert figure  # noqa: S101 (the group begins with digits)
    unit = text[figure.end() :].strip()
    family, factor = _units()[unit]
    if unit in _articles() and figure[0] == "1":
        return Token("@count=1", Kind.VALUE, "article", text)
    return value(family, float(figure[0]) * factor, text)


def _simple(family: str) -> Callable[[re.Match[str]], Token]:
    return lambda match: value(family, _figures(match[0])[-1], match[0])


def _name(match: re.Match[str]) -> Token:
    """A number that tells things apart: 3号楼, 路线 101."""
    return Token(f"#{match[0]}", Kind.THING, "id", match[0])


_CURRENCIES = {"$": "usd", "€": "eur", "£": "gbp", "¥": "yuan"}

_READERS: dict[str, Callable[[re.Match[str]], Piece]] = {
    "address": _name,
    "date": _date,
    "monthday": _simple("monthday"),
    "month": lambda match: value("month", "-".join(_NUMBER.findall(match[0])), match[0]),
    "year": _simple("year"),
    "clock": _clock,
    "hour": _hour,
    "pressure": lambda match: value("pressure", match[0], match[0]),
    "money": lambda match: value(_CURRENCIES[match[0][0]], _figures(match[0])[0], match[0]),
    "number_of": _name,
    "line": _name,
    "basement": lambda match: Token(f"#b{_figures(match[0])[-1]:g}", Kind.THING, "id", match[0]),
    "ordinal_grade": _simple("grade"),
    "ordinal_floor": _simple("floor"),
    "aged": _simple("age"),
    "amount": _amount,
    "at_hour": lambda match: _time_of_day(float(match[0]), 0, match[0], certain=False),
    "ordinal": _simple("ordinal"),
    "ranked": lambda match: Token(f"#{_figures(match[0])[0]:g}.", Kind.THING, "id", match[0]),
    "stage": lambda match: Token(f"@stage={match[0]}", Kind.VALUE, "stage", match[0]),
    "dashed": lambda match: value("code", match[0], match[0]),
    "code": lambda match: value("code", match[0], match[0]),
    "bare": lambda match: Number(match[0], match.string[match.end() : match.end() + 1] == " "),
}
