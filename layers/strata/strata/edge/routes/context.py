"""The context of a request."""

from aws_lambda_powertools.event_handler.router import APIGatewayHttpRouter

from strata.edge import present
from strata.edge.answers import answers
from strata.edge.callers import CallerOf, RuntimeOf
from strata.edge.schemas.context import ContextIn, ContextOut
from strata.model.context import ContextRequest, SearchMode

router = APIGatewayHttpRouter()


@router.post("/v1/context", summary="Load the context of a request", responses=answers(ContextOut), tags=["context"])
def load(body: ContextIn, caller: CallerOf, runtime: RuntimeOf) -> ContextOut:
    """Load the session's window and long-term memories in parallel, within budgets and one deadline."""
    request = ContextRequest(
        session_id=body.session_id,
        user_id=body.user_id,
        message=body.message,
        context=body.context,
        context_rounds=body.context_rounds,
        collections=tuple(body.collections),
        memory_types=None if body.memory_types is None else tuple(body.memory_types),
        filters=body.filters,
        mode=SearchMode(body.mode),
        window_max_tokens=body.window_max_tokens,
        memory_budget_tokens=body.memory_budget_tokens,
        total_budget_tokens=body.total_budget_tokens,
        top_k=body.top_k,
        deadline_ms=body.deadline_ms,
    )
    return present.context(runtime.load_context(caller, request))
