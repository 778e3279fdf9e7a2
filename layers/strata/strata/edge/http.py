"""The HTTP door: checks the request, authenticates, routes, and turns every error into a problem document."""

import json
from collections.abc import Callable, Mapping
from typing import Any

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.exceptions import NotFoundError as NoRouteError
from aws_lambda_powertools.event_handler.openapi.exceptions import (
    RequestUnsupportedContentType,
    RequestValidationError,
)
from aws_lambda_powertools.event_handler.router import APIGatewayHttpRouter

from strata import bootstrap
from strata.edge import problems, requests
from strata.edge.callers import bearer_token
from strata.edge.resolver import ThreadedResolver
from strata.errors import InputError, RouteNotFoundError, StrataError, UnsupportedMediaTypeError, ValidationError
from strata.observability import count, logger

Handler = Callable[[Mapping[str, Any], Any], dict[str, Any]]
PUBLIC_PATHS = frozenset({"/v1/health", "/v1/openapi.json"})


def door(*routers: APIGatewayHttpRouter) -> Handler:
    """Return the Lambda handler that serves the routes of ``routers``."""
    resolver = make_resolver(*routers)

    def handler(event: Mapping[str, Any], context: Any) -> dict[str, Any]:  # noqa: ANN401 Lambda's context
        request_id = _request_id(event)
        logger.thread_safe_append_keys(correlation_id=request_id)
        try:
            return _answer(resolver, event, context, request_id)
        except StrataError as error:
            return _problem(error, request_id)
        except Exception:
            logger.exception("request.crashed", extra={"route": event.get("routeKey")})
            count("RequestCrashed")
            return _problem(StrataError(), request_id)
        finally:
            logger.thread_safe_clear_keys()

    return handler


def make_resolver(*routers: APIGatewayHttpRouter) -> ThreadedResolver:
    """Return a resolver with the product's error answers and the given routes."""
    resolver = ThreadedResolver(enable_validation=True, serializer=serialised, json_body_deserializer=requests.parsed)
    resolver.exception_handler(StrataError)(lambda error: _response(error, resolver))
    resolver.exception_handler(RequestValidationError)(lambda error: _response(_unvalidated(error), resolver))
    resolver.exception_handler(RequestUnsupportedContentType)(
        lambda _error: _response(UnsupportedMediaTypeError(), resolver)
    )
    resolver.exception_handler(NoRouteError)(lambda _error: _response(RouteNotFoundError(), resolver))
    for router in routers:
        resolver.include_router(router)
    return resolver


def serialised(document: object) -> str:
    """Write JSON compactly, in the language's own characters."""
    return json.dumps(document, ensure_ascii=False, separators=(",", ":"))


def _answer(
    resolver: ThreadedResolver,
    event: Mapping[str, Any],
    context: Any,  # noqa: ANN401 Lambda's context
    request_id: str,
) -> dict[str, Any]:
    runtime = bootstrap.runtime()
    request = requests.prepared(event, runtime.settings.http.max_body_bytes)
    if request["rawPath"] not in PUBLIC_PATHS:
        resolver.tell(caller=runtime.authenticate(bearer_token(request["headers"]), request_id))
    resolver.tell(runtime=runtime, request_id=request_id)
    return resolver.resolve(request, context)


def _unvalidated(error: RequestValidationError) -> StrataError:
    found = error.errors()
    if any(item.get("type") == "json_invalid" for item in found):
        message = "The body is not valid JSON."
        return InputError(message)
    return ValidationError(problems.told(found), fields=problems.findings(found))


def _response(error: StrataError, resolver: ThreadedResolver) -> Response[str]:
    answer = _problem(error, str(resolver.context.get("request_id", "")))
    return Response(answer["statusCode"], problems.MEDIA_TYPE, answer["body"], headers=problems.headers(error))


def _problem(error: StrataError, request_id: str) -> dict[str, Any]:
    if error.status >= 500:  # noqa: PLR2004 the border between the caller's faults and ours
        logger.warning("request.failed", extra={"code": error.code, "fields": error.fields})
    return {
        "statusCode": error.status,
        "headers": {"Content-Type": problems.MEDIA_TYPE, **problems.headers(error)},
        "body": serialised(problems.problem(error, request_id)),
        "isBase64Encoded": False,
    }


def _request_id(event: Mapping[str, Any]) -> str:
    return str(event.get("requestContext", {}).get("requestId", ""))
