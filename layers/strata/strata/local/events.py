"""Lambda events as AWS words them: HTTP API payload 2.0, SQS, Scheduler."""

import base64
import binascii
import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from urllib.parse import parse_qsl

from strata.local.sqs import ACCOUNT, REGION, QueuedMessage

Event = dict[str, Any]
_TEXT = re.compile(r"(text/.*|application/(json|javascript|xml|.+\+json|.+\+xml))", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpRequest:
    """A request as it came in: header names as written, the target undecoded."""

    method: str
    path: str
    query: str = ""
    headers: Sequence[tuple[str, str]] = ()
    body: bytes = b""
    source_ip: str = "127.0.0.1"
    protocol: str = "HTTP/1.1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Matched:
    """The route a request takes, with its decoded path and path parameters."""

    route_key: str
    path: str
    parameters: Mapping[str, str] = field(default_factory=dict)


def http_event(request: HttpRequest, matched: Matched, *, request_id: str, now: datetime) -> Event:
    """Return the event API Gateway's HTTP API makes of a request.

    Its path is decoded (an HTTP API does that), names of headers are lower case, repeated headers and parameters are
    joined by commas, cookies stand apart, and a body that is not text is base64.
    """
    headers = _joined((name.lower(), value) for name, value in request.headers)
    cookies = [cookie for cookie in headers.pop("cookie", "").replace(",", ";").split(";") if cookie.strip()]
    body, is_base64 = _body(request.body, headers.get("content-type", ""))
    event: Event = {
        "version": "2.0",
        "routeKey": matched.route_key,
        "rawPath": matched.path,
        "rawQueryString": request.query,
        "headers": headers,
        "requestContext": _request_context(request, matched, headers, request_id, now),
        "isBase64Encoded": is_base64,
    }
    if cookies:
        event["cookies"] = [cookie.strip() for cookie in cookies]
    if request.query:
        event["queryStringParameters"] = _joined(parse_qsl(request.query, keep_blank_values=True))
    if matched.parameters:
        event["pathParameters"] = dict(matched.parameters)
    if request.body:
        event["body"] = body
    return event


def _request_context(
    request: HttpRequest, matched: Matched, headers: Mapping[str, str], request_id: str, now: datetime
) -> dict[str, Any]:
    host = headers.get("host", "localhost")
    return {
        "accountId": ACCOUNT,
        "apiId": "local",
        "domainName": host,
        "domainPrefix": host.split(".")[0].split(":")[0],
        "http": {
            "method": request.method,
            "path": matched.path,
            "protocol": request.protocol,
            "sourceIp": request.source_ip,
            "userAgent": headers.get("user-agent", ""),
        },
        "requestId": request_id,
        "routeKey": matched.route_key,
        "stage": "$default",
        "time": now.strftime("%d/%b/%Y:%H:%M:%S +0000"),
        "timeEpoch": int(now.timestamp() * 1000),
    }


def sqs_event(messages: Sequence[QueuedMessage], queue_arn: str) -> Event:
    """Return the event a batch of queue messages makes."""
    return {"Records": [sqs_record(message, queue_arn) for message in messages]}


def sqs_record(message: QueuedMessage, queue_arn: str) -> dict[str, Any]:
    """Return one message as a record of a Lambda event."""
    return {
        "messageId": message.message_id,
        "receiptHandle": message.receipt,
        "body": message.body,
        "attributes": sqs_attributes(message),
        "messageAttributes": dict(message.attributes),
        "md5OfBody": digest(message.body),
        "eventSource": "aws:sqs",
        "eventSourceARN": queue_arn,
        "awsRegion": REGION,
    }


def sqs_attributes(message: QueuedMessage) -> dict[str, str]:
    """Return the system attributes of a message."""
    attributes = {
        "ApproximateReceiveCount": str(message.receives),
        "SentTimestamp": str(int(message.sent_at * 1000)),
        "SequenceNumber": message.sequence,
        "MessageGroupId": message.group,
        "SenderId": "local",
        "MessageDeduplicationId": message.deduplication,
        "ApproximateFirstReceiveTimestamp": str(int(message.first_received_at * 1000)),
    }
    if message.source:
        attributes["DeadLetterQueueSourceArn"] = f"arn:aws:sqs:{REGION}:{ACCOUNT}:{message.source}"
    return attributes


def digest(text: str) -> str:
    """Return SQS's checksum of a text."""
    return hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()


def decoded_base64(text: str) -> bytes:
    """Return the bytes. Raises ValueError if the text is not base64."""
    try:
        return base64.b64decode(text, validate=True)
    except binascii.Error as error:
        raise ValueError(str(error)) from None


def _joined(pairs: Any) -> dict[str, str]:  # noqa: ANN401 any iterable of pairs
    joined: dict[str, str] = {}
    for name, value in pairs:
        joined[name] = f"{joined[name]},{value}" if name in joined else value
    return joined


def _body(raw: bytes, content_type: str) -> tuple[str, bool]:
    """Return the body and whether it is base64: only a text type that really is UTF-8 travels as text."""
    if not raw:
        return "", False
    if _TEXT.fullmatch(content_type.partition(";")[0].strip()):
        try:
            return raw.decode(), False
        except UnicodeDecodeError:
            pass
    return base64.b64encode(raw).decode(), True
