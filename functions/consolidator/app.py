"""Door: the queue's notices of ended sessions."""

from strata.edge.sqs import door

handler = door()
