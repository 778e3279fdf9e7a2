"""What gets installed is pinned once, by content, and the lock files name no place it comes from."""

import re
from functools import cache
from pathlib import Path

import pytest

from tests.architecture.source import ROOT

LAYER = ROOT / "layers/strata/requirements.lock"
LOCAL, DEV = ROOT / ".ci/locks/local.lock", ROOT / ".ci/locks/dev.lock"
LOCKS = [LAYER, *sorted((ROOT / "locks").glob("*.lock"))]
# Lambda's own runtime has it, with what it needs.
IN_THE_RUNTIME = {"boto3"}


@cache
def pins(lock: Path) -> frozenset[str]:
    """The pinned versions, with the markers they hold under."""
    return frozenset(line.rstrip(" \\") for line in lock.read_text().splitlines() if re.match(r"\w", line))


@pytest.mark.parametrize("lock", LOCKS, ids=lambda lock: lock.name)
def test_a_lock_holds_versions_and_digests_and_nothing_else(lock: Path) -> None:
    line = re.compile(r"#.*|[\w.-]+==[\w.!+-]+( ; [^#:@/]+)? \\|    --hash=sha256:[0-9a-f]{64}( \\)?|")
    assert [text for text in lock.read_text().splitlines() if not line.fullmatch(text)] == []
    assert not re.search(r"://|@ ", lock.read_text())


def test_one_version_of_everything_everywhere() -> None:
    assert _versions(LAYER) <= _versions(LOCAL) <= _versions(DEV)


def _versions(lock: Path) -> set[str]:
    return {pin.partition(" ;")[0] for pin in pins(lock)}


def test_the_layer_brings_what_the_product_asks_for() -> None:
    asked = {line.partition(">")[0] for line in (LAYER.parent / "requirements.txt").read_text().splitlines() if line}
    names = {pin.partition("==")[0] for pin in pins(LAYER)}
    assert {name for name in asked if not name.startswith("#")} - names == IN_THE_RUNTIME
