"""Weekly reports and the audit trail; for admins."""

from typing import Annotated

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.openapi.params import Header, Query
from aws_lambda_powertools.event_handler.router import APIGatewayHttpRouter

from strata.edge.answers import answers
from strata.edge.callers import AdminOf, RuntimeOf
from strata.edge.http import serialised
from strata.edge.schemas.ids import MAX_NUMBER, PathId
from strata.edge.schemas.status import AuditsOut, EventOut, EventsOut, ReportOut
from strata.maintenance.page import render

router = APIGatewayHttpRouter()


@router.get("/v1/events", summary="The audit trail", responses=answers(EventsOut, also=(403,)), tags=["audit"])
def events(
    caller: AdminOf,
    runtime: RuntimeOf,
    limit: Annotated[int, Query(ge=1, le=500)] = 50,
    before: Annotated[int | None, Query(ge=1, le=MAX_NUMBER)] = None,
    kind: Annotated[str, Query(max_length=64)] = "",
    memory_id: Annotated[str, Query(max_length=128)] = "",
    collection: Annotated[str, Query(max_length=134)] = "",
) -> EventsOut:
    """Return events, newest first; nothing in the product can change one."""
    found = runtime.events.page(
        caller.tenant, limit=limit, before_seq=before, kind=kind, memory_id=memory_id, collection=collection
    )
    more = found[-1].seq if len(found) == limit else None
    return EventsOut(events=[EventOut.model_validate(item) for item in found], before=more)


@router.get("/v1/audits", summary="List reports", responses=answers(AuditsOut, also=(403,)), tags=["audit"])
def audits(caller: AdminOf, runtime: RuntimeOf) -> AuditsOut:
    """Return the weeks of which there is a report, newest first."""
    return AuditsOut(weeks=runtime.audits.weeks(caller.tenant))


@router.get("/v1/audits/<week>", summary="One report", responses=answers(ReportOut, also=(403,)), tags=["audit"])
def audit(week: PathId, caller: AdminOf, runtime: RuntimeOf, accept: Annotated[str, Header()] = "") -> Response[str]:
    """Return a weekly report: JSON, or a page with charts where ``Accept`` prefers HTML."""
    report = runtime.audits.get(caller.tenant, week)
    if prefers_html(accept):
        return Response(200, "text/html; charset=utf-8", render(report))
    return Response(200, "application/json", serialised({"week": week, "report": report}))


def prefers_html(accept: str) -> bool:
    """Tell whether an ``Accept`` header ranks a page above JSON; whoever says nothing gets JSON (RFC 9110, 12.5.1)."""
    wanted = dict(map(_ranked, accept.lower().split(",")))
    html = wanted.get("text/html", wanted.get("text/*", 0.0))
    anything = wanted.get("*/*", 0.0)
    return html > 0 and html >= wanted.get("application/json", wanted.get("application/*", min(anything, html)))


def _ranked(part: str) -> tuple[str, float]:
    kind, _, rest = part.partition(";")
    quality = rest.rpartition("q=")[2].strip()
    try:
        return kind.strip(), float(quality or 1.0)
    except ValueError:
        return kind.strip(), 1.0
