"""boto3 talks to the queues of this process as it talks to SQS."""

from collections.abc import Iterator
from threading import Timer
from typing import Any

import boto3
import pytest
from botocore.config import Config
from botocore.exceptions import ClientError

from strata.clock import FakeClock
from strata.local.http_server import HttpServer
from strata.local.queue import FifoQueue
from strata.local.sqs_endpoint import MAX_BODY_BYTES, InProcessClient, SqsApi, refusal


@pytest.fixture
def api(queue: FifoQueue, dead: FifoQueue) -> SqsApi:
    return SqsApi({"runs": queue, "dead": dead})


@pytest.fixture
def sqs(api: SqsApi) -> Iterator[Any]:
    server = HttpServer(0, api.respond, refusal, max_body_bytes=MAX_BODY_BYTES)
    api.base_url = server.url
    server.start()
    config = Config(retries={"max_attempts": 0}, connect_timeout=2, read_timeout=5)
    client = boto3.client("sqs", endpoint_url=server.url, config=config)
    yield client
    client.close()
    server.stop()


@pytest.fixture
def url(sqs: Any) -> str:
    return str(sqs.get_queue_url(QueueName="runs")["QueueUrl"])


def put(sqs: Any, url: str, *texts: str, group: str = "g") -> None:
    for text in texts:
        sqs.send_message(QueueUrl=url, MessageBody=text, MessageGroupId=group, MessageDeduplicationId=text)


def test_a_message_goes_through_and_is_deleted(sqs: Any, url: str) -> None:
    sent = sqs.send_message(QueueUrl=url, MessageBody="花生", MessageGroupId="g", MessageDeduplicationId="d")
    [message] = sqs.receive_message(QueueUrl=url, AttributeNames=["All"])["Messages"]

    assert (message["MessageId"], message["Body"], message["MD5OfBody"]) == (
        sent["MessageId"],
        "花生",
        sent["MD5OfMessageBody"],
    )
    assert message["Attributes"]["ApproximateReceiveCount"] == "1"
    assert message["Attributes"]["SequenceNumber"] == sent["SequenceNumber"]
    sqs.delete_message(QueueUrl=url, ReceiptHandle=message["ReceiptHandle"])
    assert "Messages" not in sqs.receive_message(QueueUrl=url)


def test_attributes_are_shown_when_asked_for(sqs: Any, url: str) -> None:
    put(sqs, url, "a")

    assert "Attributes" not in sqs.receive_message(QueueUrl=url)["Messages"][0]


def test_a_batch_is_settled_entry_by_entry(sqs: Any, url: str, clock: FakeClock) -> None:
    entries = [
        {"Id": "good", "MessageBody": "a", "MessageGroupId": "g", "MessageDeduplicationId": "a"},
        {"Id": "bad", "MessageBody": "b", "MessageGroupId": "no spaces", "MessageDeduplicationId": "b"},
    ]
    sent = sqs.send_message_batch(QueueUrl=url, Entries=entries)
    assert [entry["Id"] for entry in sent["Successful"]] == ["good"]
    assert [(entry["Id"], entry["Code"]) for entry in sent["Failed"]] == [("bad", "InvalidParameterValue")]

    [message] = sqs.receive_message(QueueUrl=url, MaxNumberOfMessages=10)["Messages"]
    changed = sqs.change_message_visibility_batch(
        QueueUrl=url, Entries=[{"Id": "1", "ReceiptHandle": message["ReceiptHandle"], "VisibilityTimeout": 5}]
    )
    assert [entry["Id"] for entry in changed["Successful"]] == ["1"]
    clock.advance(5)
    [again] = sqs.receive_message(QueueUrl=url)["Messages"]
    deleted = sqs.delete_message_batch(
        QueueUrl=url,
        Entries=[
            {"Id": "old", "ReceiptHandle": message["ReceiptHandle"]},
            {"Id": "new", "ReceiptHandle": again["ReceiptHandle"]},
        ],
    )
    assert [entry["Id"] for entry in deleted["Successful"]] == ["new"]
    assert [entry["Id"] for entry in deleted["Failed"]] == ["old"]


def test_refusals_have_the_codes_of_sqs(sqs: Any, url: str) -> None:
    with pytest.raises(sqs.exceptions.QueueDoesNotExist):
        sqs.get_queue_url(QueueName="elsewhere")
    with pytest.raises(sqs.exceptions.ReceiptHandleIsInvalid):
        sqs.delete_message(QueueUrl=url, ReceiptHandle="made up")
    for wrong in ({"MessageGroupId": "g"}, {"MessageDeduplicationId": "d"}):
        with pytest.raises(ClientError):
            sqs.send_message(QueueUrl=url, MessageBody="a", **wrong)
    with pytest.raises(ClientError, match="DelaySeconds"):
        sqs.send_message(QueueUrl=url, MessageBody="a", MessageGroupId="g", MessageDeduplicationId="d", DelaySeconds=1)
    with pytest.raises(ClientError, match="InvalidAction"):
        sqs.tag_queue(QueueUrl=url, Tags={"a": "b"})


def test_waiting_for_a_message_ends_when_it_comes(sqs: Any, url: str, queue: FifoQueue) -> None:
    Timer(0.1, lambda: queue.send("late", group="g", deduplication="d")).start()

    assert sqs.receive_message(QueueUrl=url, WaitTimeSeconds=4)["Messages"][0]["Body"] == "late"


def test_dead_letters_are_listed_counted_and_moved_back(sqs: Any, url: str, queue: FifoQueue, clock: FakeClock) -> None:
    put(sqs, url, "poison")
    for _ in range(4):
        sqs.receive_message(QueueUrl=url)
        clock.advance(30)
    dead_url = sqs.get_queue_url(QueueName="dead")["QueueUrl"]
    attributes = sqs.get_queue_attributes(QueueUrl=dead_url, AttributeNames=["All"])["Attributes"]
    assert attributes["ApproximateNumberOfMessages"] == "1"
    [letter] = sqs.receive_message(QueueUrl=dead_url, VisibilityTimeout=0, AttributeNames=["All"])["Messages"]
    assert letter["Attributes"]["DeadLetterQueueSourceArn"] == queue.arn

    sqs.start_message_move_task(SourceArn=attributes["QueueArn"])

    assert sqs.receive_message(QueueUrl=url)["Messages"][0]["Body"] == "poison"


def test_queues_are_listed_and_purged(sqs: Any, url: str) -> None:
    put(sqs, url, "a", "b")
    sqs.purge_queue(QueueUrl=url)

    assert "Messages" not in sqs.receive_message(QueueUrl=url)
    assert len(sqs.list_queues()["QueueUrls"]) == 2


def test_message_attributes_come_back(sqs: Any, url: str) -> None:
    attribute = {"DataType": "String", "StringValue": "t1"}
    sqs.send_message(
        QueueUrl=url,
        MessageBody="a",
        MessageGroupId="g",
        MessageDeduplicationId="d",
        MessageAttributes={"trace": attribute},
    )

    [message] = sqs.receive_message(QueueUrl=url, MessageAttributeNames=["All"])["Messages"]
    assert message["MessageAttributes"] == {"trace": attribute}


def test_the_same_calls_work_without_http(api: SqsApi, queue: FifoQueue) -> None:
    client = InProcessClient(api)
    answer = client.send_message(
        QueueUrl=api.url_of("runs"), MessageBody="a", MessageGroupId="g", MessageDeduplicationId="d"
    )

    assert [message.message_id for message in queue.receive()] == [answer["MessageId"]]
