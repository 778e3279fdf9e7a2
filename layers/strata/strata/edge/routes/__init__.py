"""Routes: each validates, calls one flow, and presents what it answers."""

from strata.edge.routes import (
    agents,
    collections,
    context,
    history,
    memories,
    messages,
    quarantine,
    reports,
    runs,
    status,
    users,
    working,
)

ROUTERS = (
    context.router,
    messages.router,
    working.router,
    runs.router,
    agents.router,
    collections.router,
    memories.router,
    history.router,
    quarantine.router,
    reports.router,
    users.router,
    status.router,
)
"""Every route of the API, in the order of the document."""
