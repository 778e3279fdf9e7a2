"""Door: the scheduled jobs."""

from strata.edge.schedule import door

handler = door()
