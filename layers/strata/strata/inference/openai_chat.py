"""An OpenAI-compatible chat endpoint."""

import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import httpx

from strata.errors import InferenceUnavailableError
from strata.model.messages import JsonObject
from strata.ports import ChatReply

CONNECT_SECONDS = 2.0
MAX_REPLY_BYTES = 2 * 1024 * 1024


class OpenAIChat:
    """Implements ``strata.ports.Chat``. One connection pool for the life of the process."""

    def __init__(
        self, url: str, model: str, key: Callable[[], str], *, transport: httpx.BaseTransport | None = None
    ) -> None:
        self.model = model
        self._url = f"{url.rstrip('/')}/chat/completions"
        self._key = key
        self._http = httpx.Client(transport=transport)
        self._schemas = threading.Event()
        """Set once the endpoint has refused a schema: it is asked without one from then on."""

    def complete(
        self,
        messages: Sequence[JsonObject],
        *,
        schema: JsonObject | None = None,
        max_tokens: int,
        timeout_seconds: float,
    ) -> ChatReply:
        """Return one completion at temperature 0; nothing is repeated, the caller has rules to fall back on.

        Raises:
            InferenceUnavailableError: no answer in time, a refusal, or an answer outside the contract.
        """
        body: dict[str, Any] = {
            "model": self.model,
            "messages": list(messages),
            "temperature": 0,
            "max_tokens": max_tokens,
        }
        if schema is not None and not self._schemas.is_set():
            answer = self._posted({**body, "response_format": _format(schema)}, timeout_seconds)
            if answer.status_code != httpx.codes.BAD_REQUEST:
                return _reply(answer, self.model)
            self._schemas.set()
        return _reply(self._posted(body, timeout_seconds), self.model)

    def _posted(self, body: Mapping[str, Any], timeout_seconds: float) -> httpx.Response:
        key = self._key()
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        timeout = httpx.Timeout(timeout_seconds, connect=min(CONNECT_SECONDS, timeout_seconds))
        try:
            return self._http.post(self._url, json=body, headers=headers, timeout=timeout)
        except httpx.HTTPError as error:
            raise InferenceUnavailableError(fields={"reason": type(error).__name__}) from error


def _format(schema: JsonObject) -> dict[str, Any]:
    return {"type": "json_schema", "json_schema": {"name": "answer", "schema": dict(schema), "strict": False}}


def _reply(answer: httpx.Response, model: str) -> ChatReply:
    if not answer.is_success:
        raise InferenceUnavailableError(fields={"reason": f"http_{answer.status_code}"})
    if len(answer.content) > MAX_REPLY_BYTES:
        raise InferenceUnavailableError(fields={"reason": "too_large"})
    try:
        document = answer.json()
        choice = document["choices"][0]
        usage = document.get("usage") or {}
        return ChatReply(
            text=choice["message"].get("content") or "",
            finish_reason=str(choice.get("finish_reason") or ""),
            prompt_tokens=int(usage.get("prompt_tokens") or 0),
            completion_tokens=int(usage.get("completion_tokens") or 0),
            model=str(document.get("model") or model),
        )
    except (ValueError, KeyError, IndexError, TypeError, AttributeError):
        raise InferenceUnavailableError(fields={"reason": "protocol"}) from None
