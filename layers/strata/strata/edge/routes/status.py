"""Health of the service and its OpenAPI document; no key is needed for either."""

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.router import APIGatewayHttpRouter

from strata import __version__
from strata.edge import openapi
from strata.edge.answers import answers
from strata.edge.callers import RuntimeOf
from strata.edge.schemas.status import DependencyOut, HealthOut

router = APIGatewayHttpRouter()


@router.get("/v1/health", summary="Health", responses=answers(HealthOut), security=[], tags=["service"])
def health(runtime: RuntimeOf) -> HealthOut:
    """Ask every dependency, within bounded time; 200 also when one is down, so that the state can be read."""
    found = runtime.health()
    dependencies = {name: DependencyOut.model_validate(state) for name, state in found.items()}
    states = {state.state for state in dependencies.values()}
    overall = next((state for state in ("down", "degraded") if state in states), "ok")
    return HealthOut(
        state=overall,  # type: ignore[arg-type] # one of the three
        version=__version__,
        schema_version=runtime.schema_version(),
        dependencies=dependencies,
    )


@router.get("/v1/openapi.json", summary="The OpenAPI document", security=[], tags=["service"])
def document() -> Response[str]:
    """Return the description of every route."""
    from strata.edge.routes import ROUTERS  # the list holds this router too

    return Response(200, "application/json", openapi.document(*ROUTERS))
