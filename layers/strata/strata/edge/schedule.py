"""The schedule door: runs the job that the event names."""

from collections.abc import Mapping
from typing import Any

from strata import bootstrap
from strata.edge.http import Handler
from strata.errors import InputError
from strata.observability import logger

MARGIN_SECONDS = 5.0


def door() -> Handler:
    """Return the Lambda handler of the maintenance function; an event is ``{"job": "purge"}``."""

    def handler(event: Mapping[str, Any], context: Any) -> dict[str, Any]:  # noqa: ANN401 Lambda's context
        name = str(event.get("job", ""))
        jobs = bootstrap.runtime().jobs
        if name not in jobs:
            message = f"There is no job {name!r}; known are {', '.join(sorted(jobs))}."
            raise InputError(message)
        seconds = float(context.get_remaining_time_in_millis()) / 1_000 - MARGIN_SECONDS
        report = jobs[name](seconds)
        logger.info("job.done", extra={"job": name, "report": report})
        return {"job": name, **report}

    return handler
