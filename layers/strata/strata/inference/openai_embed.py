"""An OpenAI-compatible embeddings endpoint."""

from collections.abc import Callable, Sequence
from typing import Any

import httpx

from strata.errors import InferenceRejectedError, InferenceUnavailableError

CONNECT_SECONDS = 2.0
MAX_REPLY_BYTES = 64 * 1024 * 1024
PASSING = frozenset({408, 409, 425, 429})
"""Refusals that a repeat may turn into an answer, besides the server's own failures."""
FIRST_SERVER_ERROR = 500


class OpenAIEmbeddings:
    """One call. One connection pool for the life of the process."""

    def __init__(
        self,
        url: str,
        model: str,
        key: Callable[[], str],
        *,
        timeout_seconds: float,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        self._url = f"{url.rstrip('/')}/embeddings"
        self._model = model
        self._key = key
        limits = httpx.Timeout(timeout_seconds, connect=min(CONNECT_SECONDS, timeout_seconds))
        self._http = httpx.Client(transport=transport, timeout=limits)

    def __call__(self, texts: Sequence[str], query: bool) -> list[list[float]]:  # noqa: ARG002, FBT001 (the call's shape)
        """Return one vector per text, in order.

        Raises:
            InferenceUnavailableError: no answer, a passing refusal, or an answer outside the contract.
            InferenceRejectedError: a refusal that a repeat cannot change.
        """
        key = self._key()
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        body = {"model": self._model, "input": list(texts), "encoding_format": "float"}
        try:
            answer = self._http.post(self._url, json=body, headers=headers)
        except httpx.HTTPError as error:
            raise InferenceUnavailableError(fields={"reason": type(error).__name__}) from error
        return _vectors(answer, len(texts))


def _vectors(answer: httpx.Response, expected: int) -> list[list[float]]:
    status = answer.status_code
    if status in PASSING or status >= FIRST_SERVER_ERROR:
        raise InferenceUnavailableError(fields={"reason": f"http_{status}"})
    if not answer.is_success:
        raise InferenceRejectedError(fields={"reason": f"http_{status}"})
    if len(answer.content) > MAX_REPLY_BYTES:
        raise InferenceUnavailableError(fields={"reason": "too_large"})
    try:
        items: list[Any] = sorted(answer.json()["data"], key=lambda item: item["index"])
        vectors = [[float(value) for value in item["embedding"]] for item in items]
    except (ValueError, KeyError, TypeError):
        raise InferenceUnavailableError(fields={"reason": "protocol"}) from None
    if len(vectors) != expected:
        raise InferenceUnavailableError(fields={"reason": "protocol"})
    return vectors
