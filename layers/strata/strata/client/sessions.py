"""Calls about sessions, their runs, and the context of a request."""

import uuid
from collections.abc import Iterable, Mapping
from typing import Any

from strata import errors
from strata.client.records import AppendResult, ContextResult, made
from strata.client.transport import Transport, quoted, session_path


class SessionCalls(Transport):
    """Append, end, wait, load."""

    def append(
        self, session_id: str, user_id: str, messages: Iterable[Mapping[str, Any]], *, zone: str = "UTC"
    ) -> AppendResult:
        """Append 1–100 messages; message ids are added where missing, so that a repeat is harmless."""
        numbered = [{"message_id": uuid.uuid4().hex, **message} for message in messages]
        body = {"user_id": user_id, "messages": numbered, "zone": zone}
        answer = self.call("POST", f"{session_path(session_id)}/messages", body)
        return made(AppendResult, answer)

    def messages(
        self, session_id: str, *, before: int | None = None, limit: int | None = None
    ) -> list[Mapping[str, Any]]:
        """Return one page of messages, oldest first."""
        answer = self.call("GET", f"{session_path(session_id)}/messages", query={"before": before, "limit": limit})
        return list(answer["messages"])

    def session(self, session_id: str) -> Mapping[str, Any]:
        """Return a session's owner, participants, counts, summary and state."""
        answer: Mapping[str, Any] = self.call("GET", session_path(session_id))
        return answer

    def end_session(self, session_id: str) -> str:
        """End a session and return the id of the run that settles it."""
        answer = self.call("POST", f"{session_path(session_id)}/end", {})
        return str(answer["run_id"])

    def resume_session(self, session_id: str) -> Mapping[str, Any]:
        """Open an ended session again; an append does so by itself."""
        answer: Mapping[str, Any] = self.call("POST", f"{session_path(session_id)}/resume", {})
        return answer

    def put_working(self, session_id: str, values: Mapping[str, Any]) -> None:
        """Replace the session's working memory: a small scratch with a short life, never consolidated."""
        self.call("PUT", f"{session_path(session_id)}/working", {"values": dict(values)})

    def working(self, session_id: str) -> Mapping[str, Any]:
        """Return the session's working memory; empty if there is none (any more)."""
        answer: Mapping[str, Any] = self.call("GET", f"{session_path(session_id)}/working")["values"]
        return answer

    def clear_working(self, session_id: str) -> None:
        """Forget the session's working memory."""
        self.call("DELETE", f"{session_path(session_id)}/working")

    def run(self, run_id: str) -> Mapping[str, Any]:
        """Return a consolidation run."""
        answer: Mapping[str, Any] = self.call("GET", f"/v1/runs/{quoted(run_id)}")
        return answer

    def wait_for_run(self, run_id: str, *, timeout_seconds: float = 60.0) -> Mapping[str, Any]:
        """Return a run once it has ended, however it ended.

        Raises:
            DeadlineExceededError: it has not ended in time.
        """
        deadline = self._clock.monotonic() + timeout_seconds
        while (run := self.run(run_id))["state"] in {"queued", "running", "planned"}:
            if self._clock.monotonic() > deadline:
                message = f"run {run_id} is still {run['state']}"
                raise errors.DeadlineExceededError(message)
            self._clock.sleep(0.05)
        return run

    def load_context(self, session_id: str, user_id: str, message: str, **options: Any) -> ContextResult:  # noqa: ANN401
        """Load everything one request needs; ``options`` are the fields of ``POST /v1/context``."""
        body = {"session_id": session_id, "user_id": user_id, "message": message, **options}
        answer = self.call("POST", "/v1/context", body)
        return made(ContextResult, answer)
