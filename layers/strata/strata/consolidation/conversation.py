"""What a judge gets to see: the new messages of a run within what was said around them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from strata.consolidation.echo import without_echo
from strata.consolidation.texts import is_chinese, is_of_user, is_said, spoken
from strata.model.messages import Message


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """Messages oldest first, cleaned: no injected memory, no secrets, nothing that is not talk."""

    messages: tuple[Message, ...]
    new: tuple[int, ...]
    """``seq`` of the messages this run claimed."""
    zone_name: str = "UTC"

    @property
    def zone(self) -> tzinfo:
        """The user's zone; UTC if the name is none."""
        try:
            return ZoneInfo(self.zone_name)
        except (ZoneInfoNotFoundError, ValueError):
            return ZoneInfo("UTC")

    @property
    def fresh(self) -> tuple[Message, ...]:
        """The messages to be judged."""
        claimed = set(self.new)
        return tuple(message for message in self.messages if message.seq in claimed)

    @property
    def around(self) -> tuple[Message, ...]:
        """The messages that only help to understand the others."""
        claimed = set(self.new)
        return tuple(message for message in self.messages if message.seq not in claimed)

    @property
    def language(self) -> str:
        """``zh`` if what the user newly said is Chinese, else ``en``."""
        said = "\n".join(spoken(message) for message in self.fresh if is_of_user(message))
        return "zh" if is_chinese(said) else "en"


def conversation(
    messages: Sequence[Message], claimed: Sequence[Message], *, zone_name: str, redact: Callable[[str], str]
) -> Conversation:
    """Return the conversation to be judged; messages that are empty once they are clean are left out."""
    seqs = {message.seq for message in claimed}
    cleaned = [_cleaned(message, redact) for message in messages if is_said(message)]
    kept = tuple(message for message in cleaned if spoken(message).strip())
    return Conversation(
        messages=kept, new=tuple(message.seq for message in kept if message.seq in seqs), zone_name=zone_name
    )


def _cleaned(message: Message, redact: Callable[[str], str]) -> Message:
    return replace(message, content=redact(without_echo(spoken(message))))
