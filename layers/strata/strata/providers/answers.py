"""What a service's HTTP answer means, before anybody looks at its contents.

Error texts name the provider, the operation and the status, never the body: services repeat the memory, the prompt or
the key they were sent.
"""

import json
from dataclasses import dataclass
from typing import Any, NoReturn

from strata import errors

_TIMEOUTS = frozenset({408, 504})
_TOO_MANY = 429
_NO_REDIRECTS = range(300, 400)


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A complete answer with a status of 2xx, or of one that the call expects."""

    provider: str
    operation: str
    status: int
    content: bytes = b""
    retry_after: str = ""

    @property
    def is_empty(self) -> bool:
        """Whether there is no body: some services accept background work that way."""
        return not self.content.strip()

    def json(self) -> Any:  # noqa: ANN401 whatever was sent
        """Return the parsed body. Raises ProviderProtocolError if it is not JSON."""
        try:
            return json.loads(self.content)
        except (ValueError, RecursionError):
            self.unusable("it is not JSON")

    def document(self) -> dict[str, Any]:
        """Return the body as a JSON object. Raises ProviderProtocolError."""
        parsed = self.json()
        return parsed if isinstance(parsed, dict) else self.unusable("it is not a JSON object")

    def unusable(self, why: str) -> NoReturn:
        """Raise ProviderProtocolError."""
        message = f"The answer of {self.provider} to {self.operation} cannot be used: {why}."
        raise errors.ProviderProtocolError(message, fields=self.fields)

    @property
    def fields(self) -> dict[str, object]:
        """What an error about this answer says of it."""
        return {"provider": self.provider, "operation": self.operation, "provider_status": self.status}


def refuse(answer: Answer) -> NoReturn:
    """Raise what an unexpected status means.

    Raises:
        RateLimitedError: 429, or a gateway's word for it; ``retry_after_seconds`` is among its fields if it was told.
        ProviderTimeoutError: 408 and 504.
        ProviderUnavailableError: any other 5xx.
        ProviderProtocolError: a redirect; following it could carry the key elsewhere.
        ProviderRejectedError: any other 4xx.
    """
    code = _service_code(answer.content)
    message = f"{answer.provider} answered {answer.operation} with status {answer.status}."
    fields = answer.fields | ({"provider_code": code} if code else {})
    if answer.status == _TOO_MANY or "rate_limited" in code:
        wait = {"retry_after_seconds": int(answer.retry_after)} if _is_short_number(answer.retry_after) else {}
        raise errors.RateLimitedError(message, fields=fields | wait)
    if answer.status in _NO_REDIRECTS:
        raise errors.ProviderProtocolError(message, fields=fields)
    if answer.status < 500:  # noqa: PLR2004 the border between the two kinds of HTTP errors
        raise errors.ProviderRejectedError(message, fields=fields)
    kind = errors.ProviderTimeoutError if answer.status in _TIMEOUTS else errors.ProviderUnavailableError
    raise kind(message, fields=fields)


def _is_short_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) < 6  # noqa: PLR2004 a day and more is no wait


def _service_code(content: bytes) -> str:
    """Return the short code in an error's body, if it has one; free text stays where it is."""
    try:
        parsed = json.loads(content)
    except (ValueError, RecursionError):
        return ""
    code = parsed.get("code") if isinstance(parsed, dict) else None
    text = str(code) if isinstance(code, str | int) else ""
    return text if len(text) <= 40 and text.replace("_", "").isalnum() else ""  # noqa: PLR2004 a code, not a sentence
