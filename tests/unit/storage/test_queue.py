"""The queue carries references within SQS's limits, in bounded time, and its failures come as ours."""

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, cast

import pytest
from botocore.exceptions import ClientError, EndpointConnectionError
from moto import mock_aws

from strata import config
from strata.errors import ConfigurationError, PayloadTooLargeError, QueueUnavailableError
from strata.model.runs import RunNotice
from strata.storage.queue import SqsRunQueue, body_of, open_queue

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient

NOTICE = RunNotice(tenant="家", session_id="会话 " + "长" * 120, run_id="r1", upto_seq=400)


class Sqs:
    """Takes messages, or raises."""

    def __init__(self, error: Exception | None = None) -> None:
        self.sent: list[dict[str, Any]] = []
        self._error = error

    def send_message(self, **message: Any) -> None:
        self.sent.append(message)
        if self._error is not None:
            raise self._error

    def change_message_visibility_batch(self, **_: Any) -> None:
        if self._error is not None:
            raise self._error


def sent(*notices: RunNotice, deduplication: str = "") -> list[dict[str, Any]]:
    sqs = Sqs()
    queue = SqsRunQueue("https://sqs/runs.fifo", lambda: cast("SQSClient", sqs))
    for notice in notices:
        queue.send(notice, deduplication=deduplication)
    return sqs.sent


def test_a_notice_holds_references_and_no_text() -> None:
    (message,) = sent(NOTICE)
    assert json.loads(message["MessageBody"]) == {
        "tenant": "家",
        "session_id": NOTICE.session_id,
        "run_id": "r1",
        "upto_seq": 400,
    }
    assert len(message["MessageBody"].encode()) < 1_000


def test_groups_are_sessions_and_ids_are_within_sqs_limits() -> None:
    other = RunNotice(tenant="家", session_id="会", run_id="r1", upto_seq=400)
    elsewhere = RunNotice(tenant="园", session_id=NOTICE.session_id, run_id="r1", upto_seq=400)
    groups = [message["MessageGroupId"] for message in sent(NOTICE, other, elsewhere, NOTICE)]
    assert groups[0] == groups[3]
    assert len(set(groups)) == 3
    assert all(len(group) <= 128 and group.isascii() for group in groups)


def test_a_repeat_is_swallowed_a_later_run_and_a_wanted_repeat_are_not() -> None:
    later = RunNotice(tenant="家", session_id=NOTICE.session_id, run_id="r2", upto_seq=402)
    ids = [message["MessageDeduplicationId"] for message in sent(NOTICE, NOTICE, later)]
    ids += [message["MessageDeduplicationId"] for message in sent(NOTICE, deduplication="replay 1")]
    assert ids[0] == ids[1]
    assert len(set(ids)) == 3


def test_size_is_counted_in_bytes() -> None:
    with pytest.raises(PayloadTooLargeError):
        body_of(RunNotice(tenant="家", session_id="长" * 400_000, run_id="r", upto_seq=1))


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (EndpointConnectionError(endpoint_url="https://sqs"), QueueUnavailableError),
        (ClientError({"Error": {"Code": "ThrottlingException"}}, "SendMessage"), QueueUnavailableError),
        (
            ClientError({"Error": {"Code": "AWS.SimpleQueueService.NonExistentQueue"}}, "SendMessage"),
            ConfigurationError,
        ),
    ],
)
def test_foreign_errors_are_translated(error: Exception, expected: type[Exception]) -> None:
    queue = SqsRunQueue("https://sqs/runs.fifo", lambda: cast("SQSClient", Sqs(error)))
    with pytest.raises(expected):
        queue.send(NOTICE)
    with pytest.raises(expected):
        queue.postpone({"receipt": 20})


def test_without_a_queue_nothing_is_opened() -> None:
    with pytest.raises(ConfigurationError):
        open_queue(config.Queue())


@pytest.fixture
def aws() -> Iterator[None]:
    with mock_aws():
        yield


@pytest.mark.usefixtures("aws")
def test_sqs_takes_what_is_sent() -> None:
    import boto3

    sqs = boto3.client("sqs")
    url = sqs.create_queue(QueueName="runs.fifo", Attributes={"FifoQueue": "true"})["QueueUrl"]
    open_queue(config.Queue(url=url)).send(NOTICE)
    (message,) = sqs.receive_message(QueueUrl=url, AttributeNames=["All"])["Messages"]
    assert json.loads(message["Body"])["run_id"] == "r1"
    assert message["Attributes"]["MessageGroupId"]


@pytest.mark.usefixtures("aws")
def test_sqs_puts_off_what_it_is_told_to_and_passes_over_receipts_it_does_not_know() -> None:
    import boto3

    sqs = boto3.client("sqs")
    url = sqs.create_queue(QueueName="runs.fifo", Attributes={"FifoQueue": "true", "VisibilityTimeout": "360"})[
        "QueueUrl"
    ]
    queue = open_queue(config.Queue(url=url))
    queue.send(NOTICE)
    queue.send(RunNotice(tenant="t", session_id="s", run_id="r2", upto_seq=1))
    receipts = [
        message["ReceiptHandle"] for message in sqs.receive_message(QueueUrl=url, MaxNumberOfMessages=10)["Messages"]
    ]
    assert "Messages" not in sqs.receive_message(QueueUrl=url)
    queue.postpone({"made up": 5, receipts[0]: 0})
    (back,) = sqs.receive_message(QueueUrl=url, MaxNumberOfMessages=10)["Messages"]
    assert json.loads(back["Body"])["run_id"] == "r1"
