"""Door: messages of a session come in and are read back; participants and the working scratch."""

from strata.edge.http import door
from strata.edge.routes import messages, working

handler = door(messages.router, working.router)
