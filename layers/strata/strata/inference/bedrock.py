"""Chat by Amazon Bedrock's Converse call."""

import threading
from collections.abc import Callable, Sequence
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError
from botocore.parsers import ResponseParserError

from strata.errors import InferenceUnavailableError
from strata.model.messages import JsonObject
from strata.ports import ChatReply

CONNECT_SECONDS = 2
_LIMITS = (2, 5, 10, 20, 30, 60, 120)
"""Seconds; a call gets the smallest that is not below its own, so that few clients are made."""
_FINISHED = {"max_tokens": "length", "end_turn": "stop", "stop_sequence": "stop"}


def bedrock_client(read_seconds: int) -> Any:  # noqa: ANN401 boto3 makes its clients at run time
    """Return a client with bounded timeouts that repeats nothing."""
    import boto3
    from botocore.config import Config

    connect: Any = boto3.client
    limits = Config(
        connect_timeout=CONNECT_SECONDS,
        read_timeout=read_seconds,
        retries={"mode": "standard", "total_max_attempts": 1},
    )
    return connect("bedrock-runtime", config=limits)


class BedrockChat:
    """Implements ``strata.ports.Chat``; Converse has no schema, so that the prompt alone asks for JSON."""

    def __init__(self, model: str, client: Callable[[int], Any] = bedrock_client) -> None:
        self.model = model
        self._make = client
        self._lock = threading.Lock()
        self._clients: dict[int, Any] = {}
        """By their limit in seconds: boto3 fixes it when a client is made."""

    def complete(
        self,
        messages: Sequence[JsonObject],
        *,
        schema: JsonObject | None = None,  # noqa: ARG002 the port's signature
        max_tokens: int,
        timeout_seconds: float,
    ) -> ChatReply:
        """Return one completion at temperature 0. Raises InferenceUnavailableError."""
        system = [{"text": one["content"]} for one in messages if one["role"] == "system"]
        turns = [
            {"role": one["role"], "content": [{"text": one["content"]}]} for one in messages if one["role"] != "system"
        ]
        limits = {"maxTokens": max_tokens, "temperature": 0}
        try:
            answer = self._connected(timeout_seconds).converse(
                modelId=self.model, system=system, messages=turns, inferenceConfig=limits
            )
            return self._reply(answer)
        except (BotoCoreError, ClientError) as error:
            raise InferenceUnavailableError(fields={"reason": type(error).__name__}) from error
        except (ResponseParserError, KeyError, TypeError):
            raise InferenceUnavailableError(fields={"reason": "protocol"}) from None

    def _connected(self, timeout_seconds: float) -> Any:  # noqa: ANN401 boto3 makes its clients at run time
        seconds = next((limit for limit in _LIMITS if limit >= timeout_seconds), _LIMITS[-1])
        with self._lock:
            if seconds not in self._clients:
                self._clients[seconds] = self._make(seconds)
            return self._clients[seconds]

    def _reply(self, answer: Any) -> ChatReply:  # noqa: ANN401 what boto3 returns
        parts = answer["output"]["message"]["content"]
        usage = answer.get("usage") or {}
        stopped = str(answer.get("stopReason") or "")
        return ChatReply(
            text="".join(part.get("text", "") for part in parts),
            finish_reason=_FINISHED.get(stopped, stopped),
            prompt_tokens=int(usage.get("inputTokens") or 0),
            completion_tokens=int(usage.get("outputTokens") or 0),
            model=self.model,
        )
