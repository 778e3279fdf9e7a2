"""Reading a session: its window for a model, its messages page by page, the session itself."""

from dataclasses import dataclass

from strata import config
from strata.model.messages import Message
from strata.model.sessions import Session, SessionKey, Window
from strata.ports import Access, MessageLog, SessionStore, ShortTerm
from strata.sessions.admission import admitted
from strata.sessions.snapshot import Snapshots
from strata.tokens.counter import TokenCounter
from strata.tokens.window import select

NOTHING = Window(messages=(), summary=None, tokens=0, omitted=0)
"""The window of a session that does not exist yet."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadWindow:
    """Implements ``strata.ports.WindowReader``."""

    snapshots: Snapshots
    counter: TokenCounter
    settings: config.Window

    def __call__(self, access: Access, session_id: str, user_id: str, *, rounds: int, max_tokens: int) -> ShortTerm:
        """Return the newest messages that fit, whole tool groups only, with the summary in front of what was left out.

        A session that does not exist yet has an empty window. Raises NotFoundError for another's session.
        """
        key = SessionKey(tenant=access.tenant, session_id=session_id)
        snapshot = self.snapshots.take(key, max(1, rounds) * self.settings.messages_per_round)
        if snapshot.session is None:
            return ShortTerm(window=NOTHING, degraded=snapshot.degraded)
        session = admitted(snapshot.session, access.agent_id, user_id)
        window = select(
            snapshot.messages,
            max_tokens=max_tokens,
            summary=session.summary,
            summary_budget=self.settings.summary_tokens,
            counter=self.counter,
        )
        return ShortTerm(window=window, working=snapshot.working, degraded=snapshot.degraded)


@dataclass(frozen=True, slots=True, kw_only=True)
class ListMessages:
    """Pages backwards through a session."""

    log: MessageLog
    sessions: SessionStore

    def __call__(
        self,
        key: SessionKey,
        agent_id: str,
        *,
        limit: int,
        before_seq: int | None = None,
        user_id: str | None = None,
    ) -> list[Message]:
        """Return the newest ``limit`` messages below ``before_seq``, oldest first. Raises NotFoundError."""
        admitted(self.sessions.get(key), agent_id, user_id)
        return self.log.tail(key, limit, before_seq=before_seq)


@dataclass(frozen=True, slots=True, kw_only=True)
class GetSession:
    """Tells of a session."""

    sessions: SessionStore

    def __call__(self, key: SessionKey, agent_id: str, *, user_id: str | None = None) -> Session:
        """Return owner, participants, counts, summary and state. Raises NotFoundError."""
        return admitted(self.sessions.get(key), agent_id, user_id)
