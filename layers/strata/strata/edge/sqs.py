"""The queue door: FIFO batches, failures reported message by message.

A failed message takes the later ones of its group with it, because order within a session is a promise; other groups go
on. The processor is made anew for every batch: kept between calls it would remember failures of the batch before.
"""

import json
from collections.abc import Mapping
from typing import Any

from aws_lambda_powertools.utilities.batch import SqsFifoPartialProcessor, process_partial_response
from aws_lambda_powertools.utilities.data_classes.sqs_event import SQSRecord

from strata import bootstrap
from strata.edge.http import Handler
from strata.errors import DeadlineExceededError, InputError, StrataError
from strata.model.runs import RunNotice
from strata.observability import count, logger

MIN_SECONDS = 5.0
"""A run is not begun with less time than this; the message comes back instead."""


def door() -> Handler:
    """Return the Lambda handler of the consolidator."""

    def handler(event: Mapping[str, Any], context: Any) -> dict[str, Any]:  # noqa: ANN401 Lambda's context
        if not event.get("Records"):
            return {"batchItemFailures": []}
        processor = SqsFifoPartialProcessor(skip_group_on_error=True)
        processor.raise_on_entire_batch_failure = False
        response = process_partial_response(
            event=dict(event), record_handler=_record_handler(context), processor=processor, context=context
        )
        return dict(response)

    return handler


def notice_of(body: str) -> RunNotice:
    """Read the reference that a message carries.

    Raises:
        InputError: it is none.
    """
    try:
        document = json.loads(body)
        return RunNotice(
            tenant=str(document["tenant"]),
            session_id=str(document["session_id"]),
            run_id=str(document["run_id"]),
            upto_seq=int(document["upto_seq"]),
        )
    except (ValueError, KeyError, TypeError):
        message = "The message is not a reference to a run."
        raise InputError(message) from None


def _record_handler(context: Any) -> Any:  # noqa: ANN401 called by the library
    def remaining_seconds() -> float:
        return float(context.get_remaining_time_in_millis()) / 1_000

    def record_handler(record: SQSRecord) -> str:
        if remaining_seconds() < MIN_SECONDS:
            raise DeadlineExceededError
        notice = notice_of(record.body)
        attempt = int(record.attributes.approximate_receive_count)
        with_fields = {"run_id": notice.run_id, "session_id": notice.session_id, "attempt": attempt}
        try:
            run = bootstrap.runtime().consolidate(notice, attempt=attempt, remaining_seconds=remaining_seconds)
        except StrataError as error:
            logger.warning("run.interrupted", extra={**with_fields, "code": error.code})
            count("RunInterrupted")
            raise
        except Exception:
            logger.exception("run.crashed", extra=with_fields)
            count("RunCrashed")
            raise
        logger.info("run.handled", extra={**with_fields, "state": run.state.value})
        return run.run_id

    return record_handler
