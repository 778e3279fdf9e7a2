"""HTTP with timeouts, safe retries, and the service's problems as typed errors."""

import json
import random
from collections.abc import Iterator, Mapping
from typing import Any, Self
from urllib.parse import quote

import httpx

from strata import errors
from strata.clock import Clock, SystemClock

RETRIED_STATUS = frozenset({429, 502, 503, 504})
MAX_WAIT_SECONDS = 2.0
JSON = {"Content-Type": "application/json"}
NOT_THERE = "Nothing takes connections there; `strata local up` starts the service on this machine."


class Transport:
    """One agent's connection to the service. Thread-safe; close it, or use it as a context manager."""

    def __init__(
        self,
        endpoint: str,
        agent_id: str,
        api_key: str,
        *,
        timeout_seconds: float = 10.0,
        retries: int = 2,
        transport: httpx.BaseTransport | None = None,
        clock: Clock | None = None,
    ) -> None:
        """Prepare the connection; nothing is sent yet. Raises ConfigurationError: no address, or no key, looks so."""
        _check(endpoint, api_key)
        self.agent_id = agent_id
        self.endpoint = endpoint.rstrip("/")
        self._retries = retries
        self._clock = clock or SystemClock()
        self._http = httpx.Client(
            base_url=self.endpoint,
            headers={"Authorization": f"Bearer {api_key}"},
            timeout=timeout_seconds,
            transport=transport,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_details: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def call(
        self,
        method: str,
        path: str,
        body: object = None,
        *,
        query: Mapping[str, Any] | None = None,
        safe: bool = True,
        gone_is_done: bool = False,
    ) -> Any:  # noqa: ANN401 the parsed answer
        """Make one call and return the parsed answer; ``safe`` allows repeats.

        ``gone_is_done``: if an answer got lost, a repeat that finds nothing any more has its answer: None.

        Raises:
            StrataError: the class that belongs to the problem's code; TransientError if no answer came.
            ValidationError: the body is not JSON in UTF-8; nothing was sent.
        """
        content = _written(body)
        parameters = {key: value for key, value in (query or {}).items() if value is not None}
        lost = False
        for attempt in range(self._retries + 1):
            last = attempt == self._retries
            try:
                answer = self._http.request(method, path, content=content, params=parameters, headers=JSON)
            except httpx.TransportError as error:
                if last or not (safe or isinstance(error, httpx.ConnectError)):
                    raise self._silence(error) from error
                lost = lost or not isinstance(error, httpx.ConnectError)
                self._clock.sleep(_pause(attempt, None))
                continue
            if answer.status_code in RETRIED_STATUS and safe and not last:
                self._clock.sleep(_pause(attempt, answer.headers.get("retry-after")))
                continue
            if gone_is_done and lost and answer.status_code == httpx.codes.NOT_FOUND:
                return None
            return _document(answer)
        raise errors.TransientError

    def _silence(self, error: httpx.TransportError) -> errors.TransientError:
        message = f"No answer from the service at {self.endpoint}: {type(error).__name__}"
        return errors.TransientError(message, hint=NOT_THERE if isinstance(error, httpx.ConnectError) else "")


def quoted(value: str) -> str:
    return quote(value, safe="")


def collection_path(name: str) -> str:
    return f"/v1/collections/{quoted(name)}"


def memory_path(collection: str, memory_id: str) -> str:
    return f"{collection_path(collection)}/memories/{quoted(memory_id)}"


def session_path(session_id: str) -> str:
    return f"/v1/sessions/{quoted(session_id)}"


def _written(body: object) -> bytes | None:
    try:
        return None if body is None else json.dumps(body, ensure_ascii=False, allow_nan=False).encode()
    except ValueError as error:  # half a surrogate pair, as a shell makes of a wrong byte; NaN
        message = "What is to be sent is not JSON in UTF-8."
        raise errors.ValidationError(message) from error


def _document(answer: httpx.Response) -> Any:  # noqa: ANN401 the parsed answer
    if answer.is_success:
        return _parsed(answer) if answer.content else None
    try:
        problem = answer.json()
    except ValueError:
        problem = {}
    raise _error(answer.status_code, problem if isinstance(problem, dict) else {})


def _parsed(answer: httpx.Response) -> Any:  # noqa: ANN401 any JSON value
    try:
        return answer.json()
    except ValueError:
        message = "What answers there is not Strata: it is not JSON."
        raise errors.StrataError(message, hint="Look at the endpoint.") from None


def _check(endpoint: str, api_key: str) -> None:
    try:
        url = httpx.URL(endpoint)
    except (httpx.InvalidURL, UnicodeError):
        url = httpx.URL("")
    if url.scheme not in {"http", "https"} or not url.host:
        message = f"The endpoint {endpoint!r} is not a URL such as http://127.0.0.1:8610."
        raise errors.ConfigurationError(message)
    if not (api_key.isascii() and api_key.isprintable()):
        message = "The API key has characters that no key has."
        raise errors.ConfigurationError(message)


def _error(status: int, problem: Mapping[str, Any]) -> errors.StrataError:
    known = {kind.code: kind for kind in _kinds(errors.StrataError)}
    kind = known.get(
        str(problem.get("code")), errors.TransientError if status in RETRIED_STATUS else errors.StrataError
    )
    error = kind(
        str(problem.get("detail") or f"The service answered {status}."),
        hint=str(problem.get("hint") or ""),
        fields={**problem.get("fields", {}), "status": status, "request_id": problem.get("request_id", "")},
    )
    error.status = status
    return error


def _kinds(kind: type[errors.StrataError]) -> Iterator[type[errors.StrataError]]:
    yield kind
    for child in kind.__subclasses__():
        yield from _kinds(child)


def _pause(attempt: int, retry_after: str | None) -> float:
    asked = float(retry_after) if retry_after and retry_after.isdigit() else 0.0
    pause: float = min(MAX_WAIT_SECONDS, max(asked, random.uniform(0.05, 0.1) * 2**attempt))  # noqa: S311 jitter
    return pause
