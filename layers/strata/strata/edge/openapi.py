"""The OpenAPI document, made of the routes themselves."""

from functools import lru_cache

from aws_lambda_powertools.event_handler.openapi.models import HTTPBearer
from aws_lambda_powertools.event_handler.router import APIGatewayHttpRouter

from strata import __version__
from strata.edge.http import make_resolver


@lru_cache(maxsize=1)
def document(*routers: APIGatewayHttpRouter) -> str:
    """Return the document as JSON; made once in a process, because it never changes."""
    return make_resolver(*routers).get_openapi_json_schema(
        title="Strata",
        version=__version__,
        description="Memory for a platform of many agents.",
        security_schemes={"key": HTTPBearer()},
        security=[{"key": []}],
    )
