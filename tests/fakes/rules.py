"""A rule judge for tests of what comes after judging: a message says itself what it is worth."""

from collections.abc import Mapping, Sequence
from typing import Any

from strata.model.memories import Candidate, Category, Scope
from strata.model.messages import Message, Role

KINDS: Mapping[str, dict[str, Any]] = {
    "过敏": {"category": Category.SAFETY, "importance": 10, "safety": True, "standing": True},
    "忌口": {"category": Category.PREFERENCE, "importance": 9, "standing": True},
    "偏好": {"category": Category.PREFERENCE, "importance": 7},
    "临时": {"category": Category.TEMPORARY, "importance": 5},
    "经验": {"category": Category.COLLABORATION, "importance": 6, "scope": Scope.AGENT},
    "琐事": {"category": Category.PREFERENCE, "importance": 1},
}


def labelled(messages: Sequence[Message], *, zone: str, context: Sequence[Message]) -> list[Candidate]:
    """Take ``偏好：喜欢喝茶`` at its word; what has no label is not worth keeping."""
    return [found for message in messages if message.role is Role.USER and (found := _candidate(message)) is not None]


def _candidate(message: Message) -> Candidate | None:
    label, _, content = str(message.content).partition("：")
    if label not in KINDS or not content:
        return None
    fields = {"scope": Scope.USER, **KINDS[label]}
    return Candidate(
        content=content, source_seqs=(message.seq,), said_at=message.said_at, rule=f"test.{label}", **fields
    )
