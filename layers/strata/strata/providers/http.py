"""The one HTTP side of every external provider: deadlines, size limit, retries, breakers, typed errors.

* A call ends with its deadline, whatever the server does: not answering, dripping bytes, announcing more than it has.
* An answer above the size limit is refused unread, or where the limit is passed.
* Only what is safe to repeat is repeated: reads, deletes by id, and anything that was never sent. Waits are random
  below a doubling bound; a server's ``Retry-After`` is honoured where it fits the deadline.
* Each endpoint has its breaker.
* Redirects are not followed and compressed answers not accepted: the first could carry the key elsewhere, the second
  make ten bytes of a service into a gigabyte of ours.
"""

import json
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar
from urllib.parse import SplitResult, urlsplit

import httpx

from strata import errors
from strata.clock import Clock
from strata.config import Providers
from strata.observability import count, logger
from strata.providers.answers import Answer, refuse
from strata.providers.breaker import Breakers
from strata.providers.credentials import Credential
from strata.providers.deadline import Deadline, Until
from strata.providers.transport import DeadlineTransport

_Parsed = TypeVar("_Parsed")

_FIRST_PAUSE_SECONDS = 0.05
_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
_HEADERS = {"Accept": "application/json", "Accept-Encoding": "identity", "User-Agent": "strata"}
_NOT_SENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout)


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One request. ``operation`` names it in logs and is what its breaker goes by."""

    operation: str
    path: str
    method: str = "POST"
    body: Mapping[str, Any] | None = None
    query: Mapping[str, str | int] = field(default_factory=dict)
    repeatable: bool = True
    expected: frozenset[int] = frozenset()
    """Statuses besides 2xx that are an answer, such as 404 to a delete."""
    size_factor: int = 1
    """Multiplies the size limit: a listing may be as long as the collection."""


class Endpoint:
    """One service. Thread-safe; one per process, so that connections are kept and breakers remember."""

    def __init__(
        self,
        provider: str,
        base_url: str,
        settings: Providers,
        clock: Clock,
        *,
        credential: Credential | None = None,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        self.provider = provider
        self._settings = settings
        self._clock = clock
        self._credential = credential
        self._breakers = Breakers(clock, failures=settings.breaker_failures, seconds=settings.breaker_seconds)
        url = _checked_url(base_url, secret=credential is not None)
        self._http = httpx.Client(
            base_url=url,
            headers=_HEADERS,
            transport=transport or DeadlineTransport(tls=url.startswith("https:"), ca_file=settings.ca_file),
            trust_env=False,
        )

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def call(self, call: Call, deadline: Deadline, parse: Callable[[Answer], _Parsed]) -> _Parsed:
        """Make a call, repeat it where that is safe and useful, and return what ``parse`` makes of the answer.

        ``parse`` runs inside the breaker: a service that answers 200 with an error inside is not up.

        Raises:
            ProviderUnavailableError: no usable answer (or ProviderTimeoutError, RateLimitedError, CircuitOpenError).
            ProviderRejectedError: the service refuses the request.
            ProviderProtocolError: the answer is not what the contract says.
        """
        attempt = 0
        while True:
            try:
                return self._guarded(call, deadline, parse)
            except errors.ProviderUnavailableError as error:
                pause = self._pause(call, deadline, error, attempt)
                if pause is None:
                    self._note(call, error)
                    raise
            except (errors.ProviderProtocolError, errors.ProviderRejectedError) as error:
                self._note(call, error)
                raise
            attempt += 1
            self._clock.sleep(pause)

    def _guarded(self, call: Call, deadline: Deadline, parse: Callable[[Answer], _Parsed]) -> _Parsed:
        with self._breakers.of(call.operation).guard():
            return parse(self._answer(call, deadline))

    def _pause(
        self, call: Call, deadline: Deadline, error: errors.ProviderUnavailableError, attempt: int
    ) -> float | None:
        """Return the seconds to wait before the next attempt, or None if there is to be none."""
        unsafe = not call.repeatable and error.fields.get("sent", True)
        if unsafe or attempt >= self._settings.retries or self._breakers.of(call.operation).is_open:
            return None
        asked = error.fields.get("retry_after_seconds")
        least = float(asked) if isinstance(asked, int) else 0.0
        pause = least + random.uniform(0.0, _FIRST_PAUSE_SECONDS * 2**attempt)  # noqa: S311 jitter
        return pause if pause < deadline.remaining() else None

    def _answer(self, call: Call, deadline: Deadline) -> Answer:
        """Send once, and once more with a fresh key if the present one is refused."""
        answer = self._sent(call, deadline)
        if answer.status == httpx.codes.UNAUTHORIZED and self._credential:
            self._credential.forget()
            answer = self._sent(call, deadline)
        if not (httpx.codes.is_success(answer.status) or answer.status in call.expected):
            refuse(answer)
        return answer

    def _sent(self, call: Call, deadline: Deadline) -> Answer:
        if deadline.remaining() <= 0:
            message = f"No time is left to ask {self.provider} ({call.operation})."
            raise errors.ProviderTimeoutError(message, fields={"provider": self.provider, "sent": False})
        request = self._request(call, deadline)
        try:
            response = self._http.send(request, stream=True)
            try:
                return self._read(call, response)
            finally:
                response.close()
        except httpx.HTTPError as error:
            raise self._no_answer(call, error) from None  # the cause may quote what was sent

    def _request(self, call: Call, deadline: Deadline) -> httpx.Request:
        connect = Until(deadline, self._settings.connect_timeout_seconds)
        until = Until(deadline)
        timeouts = {"connect": connect, "pool": float(until), "read": until, "write": until}
        headers = {"Content-Type": "application/json"} if call.body is not None else {}
        if self._credential:
            headers.update([self._credential.header()])
        return self._http.build_request(
            call.method,
            call.path,
            content=_encoded(call.body),
            params=dict(call.query),
            headers=headers,
            extensions={"timeout": timeouts},
        )

    def _read(self, call: Call, response: httpx.Response) -> Answer:
        limit = self._settings.max_response_bytes * call.size_factor
        answer = Answer(
            provider=self.provider,
            operation=call.operation,
            status=response.status_code,
            retry_after=response.headers.get("retry-after", ""),
        )
        announced = response.headers.get("content-length", "")
        if announced.isdigit() and int(announced) > limit:
            answer.unusable(f"it is larger than {limit} bytes")
        if response.headers.get("content-encoding", "identity").lower() not in {"", "identity"}:
            answer.unusable("it is compressed")
        content = bytearray()
        for chunk in response.iter_raw():
            content += chunk
            if len(content) > limit:
                answer.unusable(f"it is larger than {limit} bytes")
        return replace(answer, content=bytes(content))

    def _no_answer(self, call: Call, error: Exception) -> errors.ProviderUnavailableError:
        late = isinstance(error, httpx.TimeoutException)
        kind = errors.ProviderTimeoutError if late else errors.ProviderUnavailableError
        message = f"No answer from {self.provider} to {call.operation}: {type(error).__name__}."
        sent = not isinstance(error, _NOT_SENT)
        return kind(message, fields={"provider": self.provider, "operation": call.operation, "sent": sent})

    def _note(self, call: Call, error: errors.StrataError) -> None:
        """Log and count one failed call; those kept away by a breaker are only counted."""
        count("ProviderFailed", dimensions={"provider": self.provider, "code": error.code})
        if not isinstance(error, errors.CircuitOpenError):
            detail = {"provider": self.provider, "operation": call.operation, "code": error.code}
            logger.warning("provider.failed", extra={**detail, "reason": error.message})


def _encoded(body: Mapping[str, Any] | None) -> bytes | None:
    """Return JSON in UTF-8; what has no UTF-8 (a lone surrogate) becomes a question mark."""
    return None if body is None else json.dumps(body, ensure_ascii=False).encode("utf-8", "replace")


def _checked_url(url: str, *, secret: bool) -> str:
    """Return a base address.

    Raises:
        ConfigurationError: it is none, holds credentials, or would carry a key over the network unencrypted.
    """
    parts = _split(url)
    if parts is None or parts.scheme not in {"http", "https"} or not parts.hostname or parts.query or parts.fragment:
        raise errors.ConfigurationError("A provider's address must be http:// or https:// with a host.")
    if parts.username or parts.password:
        raise errors.ConfigurationError("A provider's address must not hold credentials; there are settings for keys.")
    if secret and parts.scheme == "http" and parts.hostname not in _LOOPBACK:
        raise errors.ConfigurationError("A provider with a key must be addressed with https://.")
    return parts.geturl().rstrip("/")


def _split(url: str) -> SplitResult | None:
    """Return the parts of an address, or None if it has a port that is none."""
    try:
        parts = urlsplit(url)
        port = parts.port  # raises if it is no number
    except ValueError:
        return None
    return None if port == 0 else parts
