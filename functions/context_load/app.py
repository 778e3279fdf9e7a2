"""Door: the context of a request."""

from strata.edge.http import door
from strata.edge.routes import context

handler = door(context.router)
