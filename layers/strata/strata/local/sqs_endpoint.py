"""SQS's HTTP interface (AWS JSON 1.0) before the queues of this process, and the same calls without HTTP.

boto3 reaches it through ``AWS_ENDPOINT_URL_SQS``; ``InProcessClient`` answers as a boto3 client would.
"""

import json
import time
from collections.abc import Callable, Mapping
from typing import Any, NoReturn

from strata.local.events import HttpRequest, digest, sqs_attributes
from strata.local.http_server import HttpResponse
from strata.local.queue import FifoQueue
from strata.local.sqs import ACCOUNT, QueuedMessage, SqsError

Payload = Mapping[str, Any]
TARGET = "x-amz-target"
MAX_BODY_BYTES = 2 * 1024 * 1024
_LONGEST_WAIT_SECONDS = 20.0


class SqsApi:
    """The operations of SQS on a set of queues."""

    def __init__(self, queues: Mapping[str, FifoQueue], base_url: str = "http://queue.local") -> None:
        self._queues = queues
        self.base_url = base_url
        self._operations: dict[str, Callable[[FifoQueue, Payload], dict[str, Any]]] = {
            "SendMessage": _send,
            "SendMessageBatch": lambda queue, given: _each(given, lambda entry: _send(queue, entry)),
            "ReceiveMessage": _receive,
            "DeleteMessage": _delete,
            "DeleteMessageBatch": lambda queue, given: _each(given, lambda entry: _delete(queue, entry)),
            "ChangeMessageVisibility": _change_visibility,
            "ChangeMessageVisibilityBatch": lambda queue, given: _each(
                given, lambda entry: _change_visibility(queue, entry)
            ),
            "GetQueueAttributes": _attributes,
            "PurgeQueue": _purge,
        }

    def url_of(self, name: str) -> str:
        """Return the URL of a queue."""
        return f"{self.base_url}/{ACCOUNT}/{name}"

    def call(self, operation: str, given: Payload) -> dict[str, Any]:
        """Return the answer of one operation. Raises SqsError."""
        if operation == "GetQueueUrl":
            return {"QueueUrl": self.url_of(self._named(given["QueueName"]).name)}
        if operation == "ListQueues":
            return {"QueueUrls": [self.url_of(name) for name in sorted(self._queues)]}
        if operation == "StartMessageMoveTask":
            return self._move(given)
        if operation not in self._operations:
            raise SqsError("InvalidAction", f"The action {operation} is not valid for this endpoint.")
        return self._operations[operation](self._named(str(given.get("QueueUrl", "")).rsplit("/", 1)[-1]), given)

    def respond(self, request: HttpRequest) -> HttpResponse:
        """Answer one HTTP request."""
        headers = {name.lower(): value for name, value in request.headers}
        operation = headers.get(TARGET, "").rpartition(".")[2]
        try:
            return _response(200, self.call(operation, json.loads(request.body or b"{}")))
        except SqsError as error:
            document = {"__type": f"com.amazonaws.sqs#{error.code}", "message": error.message}
            return _response(400, document, ("x-amzn-query-error", f"{error.code};Sender"))
        except (KeyError, ValueError) as error:
            return _response(400, {"__type": "com.amazonaws.sqs#MissingParameter", "message": str(error)})

    def _move(self, given: Payload) -> dict[str, Any]:
        source = self._named(given["SourceArn"].rsplit(":", 1)[-1])
        destination = str(given.get("DestinationArn", "")).rsplit(":", 1)[-1]
        source.redrive(self._named(destination).name if destination else "")
        return {"TaskHandle": source.name}

    def _named(self, name: str) -> FifoQueue:
        if name not in self._queues:
            raise SqsError("QueueDoesNotExist", "The specified queue does not exist.")
        return self._queues[name]


class InProcessClient:
    """The part of boto3's SQS client that sends, without a network. Raises SqsError."""

    def __init__(self, api: SqsApi) -> None:
        self._api = api

    def send_message(self, **given: object) -> dict[str, Any]:
        """Send one message, with boto3's arguments."""
        return self._api.call("SendMessage", given)


def refusal(status: int, detail: str) -> HttpResponse:
    """Return the answer to what is not a proper HTTP request."""
    return _response(status, {"__type": "com.amazonaws.sqs#InvalidRequest", "message": detail})


def _send(queue: FifoQueue, given: Payload) -> dict[str, Any]:
    if given.get("DelaySeconds"):
        _refuse("InvalidParameterValue", "DelaySeconds is not valid for messages of this queue type.")
    if not given.get("MessageGroupId"):
        _refuse("MissingParameter", "The request must contain the parameter MessageGroupId.")
    body = str(given.get("MessageBody", ""))
    sent = queue.send(
        body,
        group=str(given["MessageGroupId"]),
        deduplication=str(given.get("MessageDeduplicationId", "")),
        attributes=given.get("MessageAttributes"),
    )
    return {"MessageId": sent.message_id, "MD5OfMessageBody": digest(body), "SequenceNumber": sent.sequence}


def _receive(queue: FifoQueue, given: Payload) -> dict[str, Any]:
    limit, seconds = int(given.get("MaxNumberOfMessages", 1)), given.get("VisibilityTimeout")
    ends = time.monotonic() + min(float(given.get("WaitTimeSeconds", 0)), _LONGEST_WAIT_SECONDS)
    while True:
        seen = queue.version
        messages = queue.receive(limit, seconds)
        left = ends - time.monotonic()
        if messages or left <= 0:
            return {"Messages": [_shown(message, given) for message in messages]} if messages else {}
        queue.wait(seen, min(left, 1.0))


def _shown(message: QueuedMessage, given: Payload) -> dict[str, Any]:
    wanted = {*given.get("AttributeNames", []), *given.get("MessageSystemAttributeNames", [])}
    attributes = {name: value for name, value in sqs_attributes(message).items() if name in wanted or "All" in wanted}
    shown: dict[str, Any] = {
        "MessageId": message.message_id,
        "ReceiptHandle": message.receipt,
        "Body": message.body,
        "MD5OfBody": digest(message.body),
    }
    if attributes:
        shown["Attributes"] = attributes
    if message.attributes and given.get("MessageAttributeNames"):
        shown["MessageAttributes"] = dict(message.attributes)
    return shown


def _delete(queue: FifoQueue, given: Payload) -> dict[str, Any]:
    queue.delete(str(given["ReceiptHandle"]))
    return {}


def _change_visibility(queue: FifoQueue, given: Payload) -> dict[str, Any]:
    queue.change_visibility(str(given["ReceiptHandle"]), float(given["VisibilityTimeout"]))
    return {}


def _purge(queue: FifoQueue, _: Payload) -> dict[str, Any]:
    queue.purge()
    return {}


def _attributes(queue: FifoQueue, _: Payload) -> dict[str, Any]:
    visible, in_flight = queue.counts()
    return {
        "Attributes": {
            "QueueArn": queue.arn,
            "FifoQueue": "true",
            "VisibilityTimeout": str(int(queue.spec.visibility_seconds)),
            "MessageRetentionPeriod": str(int(queue.spec.retention_seconds)),
            "ApproximateNumberOfMessages": str(visible),
            "ApproximateNumberOfMessagesNotVisible": str(in_flight),
        }
    }


def _each(given: Payload, operation: Callable[[Payload], dict[str, Any]]) -> dict[str, Any]:
    """Apply an operation to every entry of a batch; one refused entry does not stop the others."""
    entries = given.get("Entries", [])
    if not 1 <= len(entries) <= 10:  # noqa: PLR2004 SQS's own limit
        _refuse("AWS.SimpleQueueService.TooManyEntriesInBatchRequest", "A batch has 1 to 10 entries.")
    successful: list[dict[str, Any]] = []
    failed: list[dict[str, Any]] = []
    for entry in entries:
        try:
            successful.append({"Id": entry["Id"], **operation(entry)})
        except SqsError as error:
            failed.append({"Id": entry["Id"], "Code": error.code, "Message": error.message, "SenderFault": True})
    return {"Successful": successful, "Failed": failed}


def _refuse(code: str, message: str) -> NoReturn:
    raise SqsError(code, message)


def _response(status: int, document: Mapping[str, Any], *headers: tuple[str, str]) -> HttpResponse:
    return HttpResponse(
        status=status,
        body=json.dumps(document).encode(),
        headers=[("Content-Type", "application/x-amz-json-1.0"), *headers],
    )
