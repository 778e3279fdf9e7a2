"""Dates that a question names, in English, Chinese or ISO form, so that what was said then can be preferred."""

import re
from dataclasses import dataclass

MONTHS = "january february march april may june july august september october november december".split()
_MONTH_OF = {name[:3]: number for number, name in enumerate(MONTHS, start=1)}
_NAMES = "|".join([*MONTHS, *(name[:3] for name in MONTHS), "sept"])
_YEAR = r"(?:19|20)\d\d"

_ISO = re.compile(rf"(?<![\d-])({_YEAR})[-/.](\d{{1,2}})(?:[-/.](\d{{1,2}}))?\b")
_CHINESE = re.compile(rf"(?:({_YEAR})\s*年)?\s*(\d{{1,2}})\s*月(?:份|\s*(\d{{1,2}})\s*[日号號])?")
_ENGLISH = re.compile(
    rf"\b(?:(?P<before>\d{{1,2}})(?:st|nd|rd|th)?\s+(?:of\s+)?)?(?P<month>{_NAMES})\b\.?"
    rf"(?:\s+(?P<after>\d{{1,2}})(?:st|nd|rd|th)?\b)?(?:,?\s*(?P<year>{_YEAR})\b)?"
)
_BARE_YEAR = re.compile(rf"(?<![\d-])({_YEAR})(?![\d-])")
_AMBIGUOUS = re.compile(r"\b(?:in|of|on|during|since|by|until|last|this|next|early|mid|late)\s+$")


@dataclass(frozen=True, slots=True)
class NamedDate:
    """A date as far as it was named; 0 = not said."""

    year: int = 0
    month: int = 0
    day: int = 0


def named_dates(text: str) -> tuple[NamedDate, ...]:
    """Return the dates that a folded text (lower case, NFKC) names; none if it names none."""
    found = [*_numeric(_ISO, text), *_numeric(_CHINESE, text), *_english(text)]
    years = [int(year) for year in _BARE_YEAR.findall(text)]
    if not found:
        return tuple(NamedDate(year=year) for year in dict.fromkeys(years))
    only = years[0] if len(set(years)) == 1 else 0
    return tuple(dict.fromkeys(NamedDate(date.year or only, date.month, date.day) for date in found if _exists(date)))


def _numeric(pattern: re.Pattern[str], text: str) -> list[NamedDate]:
    return [NamedDate(*(int(part or 0) for part in match)) for match in pattern.findall(text)]


def _english(text: str) -> list[NamedDate]:
    return [
        NamedDate(int(match["year"] or 0), _MONTH_OF[match["month"][:3]], int(match["before"] or match["after"] or 0))
        for match in _ENGLISH.finditer(text)
        if _means_month(match, text)
    ]


def _means_month(match: re.Match[str], text: str) -> bool:
    """*may*, *march*, *mar* and *dec* are also other words: something beside them must say that a month is meant."""
    if match["month"] not in {"may", "march", "mar", "jan", "dec", "sept"}:
        return True
    said = match["before"] or match["after"] or match["year"]
    return said is not None or _AMBIGUOUS.search(text[: match.start()]) is not None


def _exists(date: NamedDate) -> bool:
    return 1 <= date.month <= 12 and date.day <= 31  # noqa: PLR2004 (months and days)
