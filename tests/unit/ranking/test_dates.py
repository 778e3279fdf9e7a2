"""Dates that a question names."""

import pytest

from strata.ranking.dates import NamedDate, named_dates
from strata.ranking.tokens import fold


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("What did we cook on 8 May 2023?", [NamedDate(2023, 5, 8)]),
        ("on May 8th, 2023", [NamedDate(2023, 5, 8)]),
        ("on the 8th of May", [NamedDate(0, 5, 8)]),
        ("in 2023-05-08 and 2023/5", [NamedDate(2023, 5, 8), NamedDate(2023, 5, 0)]),
        ("2023年5月8日说了什么", [NamedDate(2023, 5, 8)]),
        ("5月8号", [NamedDate(0, 5, 8)]),
        ("２０２３年５月", [NamedDate(2023, 5, 0)]),
        ("in May", [NamedDate(0, 5, 0)]),
        ("during September", [NamedDate(0, 9, 0)]),
        ("back in 2022", [NamedDate(2022, 0, 0)]),
        ("May 3, in 2022", [NamedDate(2022, 5, 3)]),
        ("2023-13-40", []),
    ],
)
def test_named(question: str, expected: list[NamedDate]) -> None:
    assert list(named_dates(fold(question))) == expected


@pytest.mark.parametrize("question", ["may I have tea?", "we march on", "room 3021", "一月月票", "call 138-2023-1"])
def test_not_named(question: str) -> None:
    assert named_dates(fold(question)) == ()
