"""Who may enter a session. What is another's looks like what is not there."""

from strata.errors import NotFoundError
from strata.model.sessions import Session


def admitted(session: Session | None, agent_id: str, user_id: str | None = None) -> Session:
    """Return the session if the agent is its owner or a participant, and the user, if named, is its user.

    Raises:
        NotFoundError: otherwise.
    """
    if session is None or not session.admits(agent_id) or user_id not in {None, session.user_id}:
        raise NotFoundError
    return session
