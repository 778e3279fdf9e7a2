"""The FIFO queue to the consolidator, over SQS.

A notice carries references, never text: it is a few hundred bytes whatever the session holds. Group and deduplication
ids are digests, because SQS takes 128 ASCII characters there and ids here are any UTF-8. The group is the session, so
its runs are settled in order; the deduplication id names the run, so a repeated end is swallowed and a later end, which
is another run, is not.
"""

import json
from typing import TYPE_CHECKING

from botocore.exceptions import BotoCoreError, ClientError

from strata import config
from strata.errors import ConfigurationError, PayloadTooLargeError, QueueUnavailableError
from strata.model.runs import RunNotice
from strata.policy.names import derived_id

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from mypy_boto3_sqs import SQSClient
    from mypy_boto3_sqs.type_defs import ChangeMessageVisibilityBatchRequestEntryTypeDef

MAX_BYTES = 1_048_576
"""What SQS takes in one message, in bytes of UTF-8."""
ATTEMPTS = 2
_UNKNOWN_QUEUE = frozenset({"AWS.SimpleQueueService.NonExistentQueue", "QueueDoesNotExist"})


class SqsRunQueue:
    """Implements ``strata.ports.RunQueue``."""

    def __init__(self, url: str, client: "Callable[[], SQSClient]") -> None:
        self._url = url
        self._client = client

    def send(self, notice: RunNotice, *, deduplication: str = "") -> None:
        """Enqueue in the session's group; ``deduplication`` tells a wanted repeat from an accidental one.

        Raises:
            QueueUnavailableError: not accepted, or no answer in time; sending again is safe.
            ConfigurationError: there is no such queue.
        """
        body = body_of(notice)
        try:
            self._client().send_message(
                QueueUrl=self._url,
                MessageBody=body,
                MessageGroupId=derived_id(notice.tenant, notice.session_id),
                MessageDeduplicationId=derived_id(notice.tenant, notice.run_id, str(notice.upto_seq), deduplication),
            )
        except ClientError as error:
            raise _translated(error) from error
        except BotoCoreError as error:
            raise QueueUnavailableError(fields={"cause": type(error).__name__}) from error

    def postpone(self, waits: "Mapping[str, int]") -> None:
        """Let received messages come back after so many seconds, in one call; refused entries are passed over.

        Raises:
            QueueUnavailableError: no answer in time, or refused as a whole.
            ConfigurationError: there is no such queue.
        """
        entries: list[ChangeMessageVisibilityBatchRequestEntryTypeDef] = [
            {"Id": str(place), "ReceiptHandle": receipt, "VisibilityTimeout": seconds}
            for place, (receipt, seconds) in enumerate(waits.items())
        ]
        try:
            self._client().change_message_visibility_batch(QueueUrl=self._url, Entries=entries)
        except ClientError as error:
            raise _translated(error) from error
        except BotoCoreError as error:
            raise QueueUnavailableError(fields={"cause": type(error).__name__}) from error


def body_of(notice: RunNotice) -> str:
    """Return a notice as it travels. Raises PayloadTooLargeError (bytes are counted, not characters)."""
    document = {
        "tenant": notice.tenant,
        "session_id": notice.session_id,
        "run_id": notice.run_id,
        "upto_seq": notice.upto_seq,
    }
    body = json.dumps(document, separators=(",", ":"))
    if len(body.encode()) > MAX_BYTES:
        raise PayloadTooLargeError
    return body


def open_queue(settings: config.Queue) -> SqsRunQueue:
    """Return the queue of the settings; the client is made at the first send and kept.

    Raises:
        ConfigurationError: no queue is configured.
    """
    if not settings.url:
        raise ConfigurationError("No queue is configured.", hint="Set STRATA_QUEUE_URL.")
    made: list[SQSClient] = []

    def client() -> "SQSClient":
        if not made:
            made.append(_client(settings))
        return made[0]

    return SqsRunQueue(settings.url, client)


def _client(settings: config.Queue) -> "SQSClient":
    import boto3
    from botocore.config import Config

    limits = Config(
        connect_timeout=settings.connect_timeout_seconds,
        read_timeout=settings.read_timeout_seconds,
        retries={"mode": "standard", "max_attempts": ATTEMPTS},
    )
    return boto3.client("sqs", config=limits)


def _translated(error: ClientError) -> QueueUnavailableError | ConfigurationError:
    code = str(error.response.get("Error", {}).get("Code", ""))
    if code in _UNKNOWN_QUEUE:
        return ConfigurationError("The queue does not exist.", hint="Check STRATA_QUEUE_URL.")
    return QueueUnavailableError(fields={"cause": code})
