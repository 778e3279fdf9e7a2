"""Door: the shared library, agents and keys, reports, users, health."""

from strata.edge.http import door
from strata.edge.routes import agents, collections, history, memories, quarantine, reports, status, users

handler = door(
    agents.router,
    collections.router,
    memories.router,
    history.router,
    quarantine.router,
    reports.router,
    users.router,
    status.router,
)
