"""The tables are read before the first test, so that no property pays for them."""

import pytest

from strata.dedup import decide


@pytest.fixture(scope="session", autouse=True)
def tables() -> None:
    decide("用户喜欢茶", "User likes tea")
