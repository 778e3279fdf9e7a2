"""The short-term side of a context load."""

from dataclasses import dataclass, field
from typing import Protocol

from strata.model.context import Degraded
from strata.model.messages import JsonObject
from strata.model.sessions import Window
from strata.ports.library import Access


@dataclass(frozen=True, slots=True, kw_only=True)
class ShortTerm:
    """What a session gives to a context load."""

    window: Window
    working: JsonObject = field(default_factory=dict)
    degraded: tuple[Degraded, ...] = ()


class WindowReader(Protocol):
    """The short-term side of a context load."""

    def __call__(self, access: Access, session_id: str, user_id: str, *, rounds: int, max_tokens: int) -> ShortTerm:
        """Return the window of a session (summary included in ``max_tokens``) and its scratch.

        A session that does not exist yet has an empty window. Raises NotFoundError if the session is another user's,
        or the agent is neither owner nor participant.
        """
        ...
