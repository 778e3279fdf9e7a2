"""Embeddings by Amazon Bedrock: Titan (one text a call) and Cohere (many, told apart as questions and passages)."""

import json
import threading
from collections.abc import Callable, Sequence
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from strata.errors import InferenceRejectedError, InferenceUnavailableError

CONNECT_SECONDS = 2
COHERE_TEXTS = 96
"""Texts that one Cohere call takes."""
PASSING = frozenset(
    {"ThrottlingException", "ServiceUnavailableException", "InternalServerException", "ModelNotReadyException",
     "ModelTimeoutException", "ModelErrorException"}
)  # fmt: skip


def bedrock_client(timeout_seconds: float) -> Any:  # noqa: ANN401 boto3 makes its clients at run time
    """Return a client with bounded timeouts that repeats nothing."""
    import boto3
    from botocore.config import Config

    connect: Any = boto3.client
    limits = Config(
        connect_timeout=CONNECT_SECONDS,
        read_timeout=timeout_seconds,
        retries={"mode": "standard", "total_max_attempts": 1},
    )
    return connect("bedrock-runtime", config=limits)


class BedrockEmbeddings:
    """One call, or one for each text, by the model's family."""

    def __init__(self, model: str, *, timeout_seconds: float, client: Callable[[float], Any] = bedrock_client) -> None:
        self._model = model
        self._timeout_seconds = timeout_seconds
        self._make = client
        self._lock = threading.Lock()
        self._client: Any = None

    def __call__(self, texts: Sequence[str], query: bool) -> list[list[float]]:  # noqa: FBT001 (the call's shape)
        """Return one vector per text, in order.

        Raises:
            InferenceUnavailableError: no answer, throttling, or an answer outside the contract.
            InferenceRejectedError: a refusal that a repeat cannot change.
        """
        try:
            return self._cohere(texts, query=query) if "cohere." in self._model else self._titan(texts)
        except ClientError as error:
            code = error.response.get("Error", {}).get("Code", "")
            failure = InferenceUnavailableError if code in PASSING else InferenceRejectedError
            raise failure(fields={"reason": code}) from error
        except BotoCoreError as error:
            raise InferenceUnavailableError(fields={"reason": type(error).__name__}) from error
        except (ValueError, KeyError, TypeError):
            raise InferenceUnavailableError(fields={"reason": "protocol"}) from None

    def _titan(self, texts: Sequence[str]) -> list[list[float]]:
        return [_floats(self._invoked({"inputText": text})["embedding"]) for text in texts]

    def _cohere(self, texts: Sequence[str], *, query: bool) -> list[list[float]]:
        vectors: list[list[float]] = []
        kind = "search_query" if query else "search_document"
        for start in range(0, len(texts), COHERE_TEXTS):
            part = list(texts[start : start + COHERE_TEXTS])
            found = self._invoked({"texts": part, "input_type": kind, "truncate": "END"})["embeddings"]
            vectors += [_floats(vector) for vector in (found["float"] if isinstance(found, dict) else found)]
        return vectors

    def _invoked(self, body: dict[str, Any]) -> Any:  # noqa: ANN401 JSON
        answer = self._connected().invoke_model(
            modelId=self._model, body=json.dumps(body), accept="application/json", contentType="application/json"
        )
        return json.loads(answer["body"].read())

    def _connected(self) -> Any:  # noqa: ANN401 boto3 makes its clients at run time
        with self._lock:
            if self._client is None:
                self._client = self._make(self._timeout_seconds)
            return self._client


def _floats(vector: Sequence[Any]) -> list[float]:
    return [float(value) for value in vector]
