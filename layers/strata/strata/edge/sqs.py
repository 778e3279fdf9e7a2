"""The queue door: FIFO batches, failures reported message by message.

A failed message takes the later ones of its group with it, because order within a session is a promise; other groups go
on. What failed comes back after a wait that grows with its attempts. The processor is made anew for every batch: kept
between calls it would remember failures of the batch before.
"""

import json
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from aws_lambda_powertools.utilities.batch import SqsFifoPartialProcessor, process_partial_response
from aws_lambda_powertools.utilities.data_classes.sqs_event import SQSRecord

from strata import bootstrap
from strata.edge.backoff import Record, waits
from strata.edge.http import Handler
from strata.errors import DeadlineExceededError, InputError, StrataError
from strata.model.runs import RunNotice
from strata.observability import count, logger

MIN_SECONDS = 5.0
"""A run is not begun with less time than this; the message comes back instead."""

POSTPONING_SECONDS = 8.0
"""What putting off may take at most; with less time left the queue's own visibility timeout decides."""


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
        failed = {str(item["itemIdentifier"]) for item in response["batchItemFailures"]}
        if failed and _remaining(context) > POSTPONING_SECONDS:
            _postpone(event["Records"], failed)
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


def _postpone(records: Iterable[Record], failed: Collection[str]) -> None:
    """Say when failed messages come back. Without that they do so too, after the queue's visibility timeout."""
    try:
        runtime = bootstrap.runtime()
        limits = runtime.settings.queue
        when = waits(records, failed, first=limits.retry_first_seconds, longest=limits.retry_longest_seconds)
        runtime.queue.postpone(when)
    except Exception:
        logger.exception("queue.not_postponed", extra={"messages": len(failed)})
        count("NoticeNotPostponed")


def _record_handler(context: Any) -> Any:  # noqa: ANN401 called by the library
    def record_handler(record: SQSRecord) -> str:
        if _remaining(context) < MIN_SECONDS:
            raise DeadlineExceededError
        notice = notice_of(record.body)
        attempt = int(record.attributes.approximate_receive_count)
        with_fields = {"run_id": notice.run_id, "session_id": notice.session_id, "attempt": attempt}
        try:
            run = bootstrap.runtime().consolidate(
                notice, attempt=attempt, remaining_seconds=lambda: _remaining(context)
            )
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


def _remaining(context: Any) -> float:  # noqa: ANN401 Lambda's context
    """Return the seconds that the invocation has left."""
    return float(context.get_remaining_time_in_millis()) / 1_000
