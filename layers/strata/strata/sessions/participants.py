"""Which further agents a session admits."""

from collections.abc import Sequence
from dataclasses import dataclass

from strata import config
from strata.clock import Clock
from strata.errors import CacheUnavailableError, ForbiddenError, ValidationError
from strata.model.sessions import Session, SessionKey
from strata.observability import logger
from strata.policy.names import checked_id
from strata.ports import SessionCache, SessionStore
from strata.sessions.admission import admitted


@dataclass(frozen=True, slots=True, kw_only=True)
class SetParticipants:
    """Lets the owner declare who may take part."""

    sessions: SessionStore
    cache: SessionCache
    settings: config.Session
    clock: Clock

    def __call__(
        self, key: SessionKey, agent_id: str, participants: Sequence[str], *, user_id: str | None = None
    ) -> Session:
        """Replace the participants; each once, without the owner. A withdrawn one is locked out within seconds.

        Raises:
            NotFoundError: there is no such session for this agent.
            ForbiddenError: the agent takes part, but is not the owner.
            ValidationError: an id is not one, or there are too many.
        """
        session = admitted(self.sessions.get(key), agent_id, user_id)
        if session.agent_id != agent_id:
            raise ForbiddenError("Only the agent that opened a session may change who takes part.")
        declared = dict.fromkeys(checked_id(name, "participants") for name in participants if name != agent_id)
        if len(declared) > self.settings.max_participants:
            raise ValidationError(f"A session has at most {self.settings.max_participants} participants.")
        changed = self.sessions.set_participants(key, list(declared), now=self.clock.now())
        self._show(changed)
        return changed

    def _show(self, session: Session) -> None:
        try:
            self.cache.refill(session, ())
        except CacheUnavailableError as error:
            logger.warning("cache.refill_failed", extra={"reason": error.message})
