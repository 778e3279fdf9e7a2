"""Who is calling: what routes declare to receive the caller and the running service."""

from collections.abc import Mapping
from typing import Annotated, Any

from aws_lambda_powertools.event_handler import Request
from aws_lambda_powertools.event_handler.depends import Depends

from strata.bootstrap import Runtime
from strata.errors import AuthenticationError, ForbiddenError
from strata.model.agents import Caller

SCHEME = "bearer "


def bearer_token(headers: Mapping[str, Any]) -> str:
    """Return the key of an Authorization header.

    Raises:
        AuthenticationError: there is none, or it is not a bearer token.
    """
    value = str(headers.get("authorization") or "")
    if not value.lower().startswith(SCHEME):
        raise AuthenticationError
    return value[len(SCHEME) :].strip()


def _caller(request: Request) -> Caller:
    caller: Caller = request.context["caller"]
    return caller


def _admin(request: Request) -> Caller:
    caller = _caller(request)
    if not caller.is_admin:
        raise ForbiddenError
    return caller


def _runtime(request: Request) -> Runtime:
    runtime: Runtime = request.context["runtime"]
    return runtime


CallerOf = Annotated[Caller, Depends(_caller)]
"""The authenticated caller."""
AdminOf = Annotated[Caller, Depends(_admin)]
"""The authenticated caller, who must be an admin."""
RuntimeOf = Annotated[Runtime, Depends(_runtime)]
"""The running service."""
