"""When the failed messages of a batch come back: sooner than the queue would send them, and later each time.

All that failed of one group come back together. A later one only failed because an earlier one did, and while any
message of a group is in flight the queue hands out none of the others: the order within a session stays what it was.
"""

import random
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from strata.policy.backoff import wait_seconds

Record = Mapping[str, Any]


def waits(records: Iterable[Record], failed: Collection[str], *, first: int, longest: int) -> dict[str, int]:
    """Return seconds by receipt: for each group, what the attempts at its first failure ask for.

    ``failed`` holds message ids; ``first`` and ``longest`` are the bounds of a wait, in seconds.
    """
    by_group: dict[str, int] = {}
    found: dict[str, int] = {}
    for record in (record for record in records if record["messageId"] in failed):
        attributes = record["attributes"]
        draw = random.random()  # noqa: S311 jitter, no secret
        wait = wait_seconds(int(attributes["ApproximateReceiveCount"]), first=first, longest=longest, draw=draw)
        group = attributes.get("MessageGroupId", record["messageId"])
        found[record["receiptHandle"]] = by_group.setdefault(group, wait)
    return found
