"""MemOS answers HTTP 200 and says in the body whether it worked."""

from typing import Any, NoReturn

from strata import errors
from strata.providers.answers import Answer

RATE_LIMITED = 40309
"""Not in the vendor's table of codes; its own client treats it, and the words "rate limit", that way."""

_SUCCESS = frozenset({0, 200})
"""The server says 200, the Cloud 0, and the vendor's own tests take either for either."""


def data_of(answer: Answer) -> Any:  # noqa: ANN401 whatever the envelope holds
    """Return the ``data`` of a successful envelope.

    Raises:
        RateLimitedError, ProviderUnavailableError, ProviderRejectedError: the body's ``code`` says so.
        ProviderProtocolError: there is no envelope.
    """
    envelope = answer.document()
    code = envelope.get("code")
    if isinstance(code, bool) or not isinstance(code, int):
        answer.unusable("it has no code")
    if code not in _SUCCESS:
        _refuse(answer, code, str(envelope.get("message") or ""))
    return envelope.get("data")


def _refuse(answer: Answer, code: int, message: str) -> NoReturn:
    fields = answer.fields | {"provider_code": code}
    told = f"{answer.provider} answered {answer.operation} with code {code}."
    if code == RATE_LIMITED or "rate limit" in message.lower():
        raise errors.RateLimitedError(told, fields=fields)
    first = code
    while first > 9:  # noqa: PLR2004 the leading digit, of 500 as of 50004
        first //= 10
    if first == 5:  # noqa: PLR2004 the service's own failures
        raise errors.ProviderUnavailableError(told, fields=fields)
    raise errors.ProviderRejectedError(told, fields=fields)
