"""Door: a session ends or is resumed; the runs that settle sessions."""

from strata.edge.http import door
from strata.edge.routes import runs

handler = door(runs.router)
