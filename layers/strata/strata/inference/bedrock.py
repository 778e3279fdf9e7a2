"""Chat by Amazon Bedrock's Converse call."""

import threading
from collections.abc import Callable, Sequence
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from strata.errors import InferenceUnavailableError
from strata.model.messages import JsonObject
from strata.ports import ChatReply

CONNECT_SECONDS = 2
READ_SECONDS = 30
_FINISHED = {"max_tokens": "length", "end_turn": "stop", "stop_sequence": "stop"}


def bedrock_client() -> Any:  # noqa: ANN401 boto3 makes its clients at run time
    """Return a client with bounded timeouts that repeats nothing."""
    import boto3
    from botocore.config import Config

    connect: Any = boto3.client
    limits = Config(
        connect_timeout=CONNECT_SECONDS,
        read_timeout=READ_SECONDS,
        retries={"mode": "standard", "total_max_attempts": 1},
    )
    return connect("bedrock-runtime", config=limits)


class BedrockChat:
    """Implements ``strata.ports.Chat``; Converse has no schema, so that the prompt alone asks for JSON."""

    def __init__(self, model: str, client: Callable[[], Any] = bedrock_client) -> None:
        self.model = model
        self._make = client
        self._lock = threading.Lock()
        self._client: Any = None

    def complete(
        self,
        messages: Sequence[JsonObject],
        *,
        schema: JsonObject | None = None,  # noqa: ARG002 the port's signature
        max_tokens: int,
        timeout_seconds: float,  # noqa: ARG002 the client's own limit is lower
    ) -> ChatReply:
        """Return one completion at temperature 0. Raises InferenceUnavailableError."""
        system = [{"text": one["content"]} for one in messages if one["role"] == "system"]
        turns = [
            {"role": one["role"], "content": [{"text": one["content"]}]} for one in messages if one["role"] != "system"
        ]
        limits = {"maxTokens": max_tokens, "temperature": 0}
        try:
            answer = self._connected().converse(
                modelId=self.model, system=system, messages=turns, inferenceConfig=limits
            )
            return self._reply(answer)
        except (BotoCoreError, ClientError) as error:
            raise InferenceUnavailableError(fields={"reason": type(error).__name__}) from error
        except (KeyError, TypeError):
            raise InferenceUnavailableError(fields={"reason": "protocol"}) from None

    def _connected(self) -> Any:  # noqa: ANN401 boto3 makes its clients at run time
        with self._lock:
            if self._client is None:
                self._client = self._make()
            return self._client

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
