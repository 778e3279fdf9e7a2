"""An OpenAI-compatible chat endpoint."""

import json
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import httpx

from strata.errors import InferenceUnavailableError
from strata.model.messages import JsonObject
from strata.ports import ChatReply

CONNECT_SECONDS = 2.0
MAX_REPLY_BYTES = 2 * 1024 * 1024
_SUCCESSORS = {"max_tokens": "max_completion_tokens"}
"""Options that newer models want under another name; the others are left out where they are refused."""


class OpenAIChat:
    """Implements ``strata.ports.Chat``. One connection pool for the life of the process."""

    def __init__(
        self, url: str, model: str, key: Callable[[], str], *, transport: httpx.BaseTransport | None = None
    ) -> None:
        self.model = model
        self._url = f"{url.rstrip('/')}/chat/completions"
        self._key = key
        self._http = httpx.Client(transport=transport)
        self._refused: frozenset[str] = frozenset()
        """Options this endpoint has refused: it is asked without them from then on."""

    def complete(
        self,
        messages: Sequence[JsonObject],
        *,
        schema: JsonObject | None = None,
        max_tokens: int,
        timeout_seconds: float,
    ) -> ChatReply:
        """Return one completion at temperature 0; nothing is repeated, the caller has rules to fall back on.

        Only what was refused for an option the endpoint does not know is asked again, without that option.

        Raises:
            InferenceUnavailableError: no answer in time, a refusal, or an answer outside the contract.
        """
        give_up_at = time.monotonic() + timeout_seconds
        options: dict[str, Any] = {"temperature": 0, "max_tokens": max_tokens}
        if schema is not None:
            options["response_format"] = _format(schema)
        while True:
            offered = {name: value for name, value in options.items() if name not in self._refused}
            body = {"model": self.model, "messages": list(messages), **self._accepted(options)}
            status, text = self._posted(body, give_up_at)
            refused = _refused(text, offered) if status == httpx.codes.BAD_REQUEST else ""
            if not refused:
                return _reply(status, text, self.model)
            self._refused |= {refused}

    def _accepted(self, options: Mapping[str, Any]) -> dict[str, Any]:
        """Return the options as the endpoint takes them."""
        named = {
            name if name not in self._refused else _SUCCESSORS.get(name, ""): value for name, value in options.items()
        }
        named.pop("", None)
        return named

    def _posted(self, body: Mapping[str, Any], give_up_at: float) -> tuple[int, bytes]:
        """Return status and body. A server that sends byte by byte is given up in time, too."""
        key = self._key()
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        left = max(0.001, give_up_at - time.monotonic())
        timeout = httpx.Timeout(left, connect=min(CONNECT_SECONDS, left))
        read = bytearray()
        try:
            with self._http.stream("POST", self._url, json=body, headers=headers, timeout=timeout) as answer:
                for piece in answer.iter_bytes():
                    read += piece
                    _check(len(read), give_up_at)
                return answer.status_code, bytes(read)
        except httpx.HTTPError as error:
            raise InferenceUnavailableError(fields={"reason": type(error).__name__}) from error


def _check(size: int, give_up_at: float) -> None:
    if size > MAX_REPLY_BYTES:
        raise InferenceUnavailableError(fields={"reason": "too_large"})
    if time.monotonic() > give_up_at:
        raise InferenceUnavailableError(fields={"reason": "too_slow"})


def _format(schema: JsonObject) -> dict[str, Any]:
    return {"type": "json_schema", "json_schema": {"name": "answer", "schema": dict(schema), "strict": False}}


def _refused(text: bytes, offered: Mapping[str, Any]) -> str:
    """Return the option a refusal is about. Where it names none, the schema is the likeliest; empty without one."""
    try:
        problem = json.loads(text)["error"]
        told = f"{problem.get('param')} {problem.get('message')}"
    except (ValueError, KeyError, TypeError, AttributeError):
        told = ""
    named = [name for name in offered if name in told]
    return named[0] if named else "response_format" if "response_format" in offered else ""


def _reply(status: int, text: bytes, model: str) -> ChatReply:
    if not httpx.codes.is_success(status):
        raise InferenceUnavailableError(fields={"reason": f"http_{status}"})
    try:
        document = json.loads(text)
        choice = document["choices"][0]
        usage = document.get("usage") or {}
        return ChatReply(
            text=_text(choice["message"].get("content")),
            finish_reason=str(choice.get("finish_reason") or ""),
            prompt_tokens=int(usage.get("prompt_tokens") or 0),
            completion_tokens=int(usage.get("completion_tokens") or 0),
            model=str(document.get("model") or model),
        )
    except (ValueError, KeyError, IndexError, TypeError, AttributeError):
        raise InferenceUnavailableError(fields={"reason": "protocol"}) from None


def _text(content: object) -> str:
    """Return the text of a message that some endpoints give in parts. Raises TypeError for what is neither."""
    if isinstance(content, list):
        return "".join(_text(part.get("text")) for part in content if part.get("type", "text") == "text")
    if content is None or isinstance(content, str):
        return content or ""
    raise TypeError
