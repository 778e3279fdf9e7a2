"""Relative dates are those of the moment and the place in which they were said."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strata.consolidation.dates import dated, lasts_until

SAID = datetime(2026, 5, 1, 1, 30, tzinfo=UTC)
"""A Friday morning in Shanghai, still Thursday evening in New York."""
ZONE = "Asia/Shanghai"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "I had the scan yesterday; results come next Friday",
            "I had the scan yesterday (2026-04-30); results come next Friday (2026-05-08)",
        ),
        ("明天要抽血", "明天（2026-05-02）要抽血"),
        ("这周嗓子疼", "这周（2026-04-27至2026-05-03）嗓子疼"),
        ("下周一到周四不在家", "下周一到周四（2026-05-04至2026-05-07）不在家"),
        ("三天内不能吃烫的", "三天内（2026-05-01至2026-05-04）不能吃烫的"),
        ("Last week's chili", "Last week's (2026-04-20 to 2026-04-26) chili"),
    ],
)
def test_a_relative_expression_gets_its_date_behind_it(text: str, expected: str) -> None:
    assert dated(text, said_at=SAID, zone=ZONE) == expected


@pytest.mark.parametrize(
    "text",
    ["每周三晚上要上瑜伽课", "swimming every Wednesday", "生日是5月12日", "on 2026-03-10", "May I ask", "两周瘦了三斤"],
)
def test_what_needs_no_reference_is_left_as_it_is(text: str) -> None:
    assert dated(text, said_at=SAID, zone=ZONE) == text


def test_a_weekday_in_a_story_is_the_last_one() -> None:
    assert dated("周三那个菜谱", said_at=SAID, zone=ZONE, past=True) == "周三（2026-04-29）那个菜谱"


def test_the_day_is_that_of_the_users_zone() -> None:
    assert dated("today", said_at=SAID, zone="America/New_York") == "today (2026-04-30)"
    assert dated("today", said_at=SAID, zone=ZONE) == "today (2026-05-01)"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("this is off until Friday", datetime(2026, 5, 8, 16, tzinfo=UTC)),
        ("今晚十点以后不能吃东西", datetime(2026, 5, 1, 16, tzinfo=UTC)),
        ("到六月底都别约我", datetime(2026, 6, 30, 16, tzinfo=UTC)),
        ("code freeze until the 15th", datetime(2026, 5, 15, 16, tzinfo=UTC)),
    ],
)
def test_a_period_is_over_at_midnight_where_the_user_lives(text: str, expected: datetime) -> None:
    assert lasts_until(text, said_at=SAID, zone=ZONE) == expected


@pytest.mark.parametrize("text", ["yesterday", "上周", "peanuts", ""])
def test_what_is_over_or_names_no_time_has_no_end(text: str) -> None:
    assert lasts_until(text, said_at=SAID, zone=ZONE) is None


def test_an_unknown_zone_is_utc() -> None:
    assert dated("today", said_at=SAID, zone="Nowhere/Land") == "today (2026-05-01)"


@given(st.text(max_size=60), st.datetimes(datetime(2000, 1, 1), datetime(2090, 1, 1), timezones=st.just(UTC)))  # noqa: DTZ001
def test_dating_only_adds(text: str, said_at: datetime) -> None:
    result = iter(dated(text, said_at=said_at, zone=ZONE))
    assert all(character in result for character in text)
