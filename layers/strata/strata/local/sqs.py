"""SQS's vocabulary: messages, refusals, and the limits of what a queue takes."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

REGION = "local"
ACCOUNT = "000000000000"
MAX_BYTES = 1_048_576
MAX_BATCH = 10
_TOKEN = re.compile(r"[!-~]{1,128}")
_FORBIDDEN = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


class SqsError(Exception):
    """A refusal, with the code SQS gives it."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    """What a sender learns. A repeated send learns the same as the first."""

    message_id: str
    sequence: str


@dataclass(frozen=True, slots=True, kw_only=True)
class QueuedMessage:
    """A message handed out; instants are seconds since the epoch."""

    message_id: str
    receipt: str
    body: str
    group: str
    deduplication: str
    sequence: str
    sent_at: float
    first_received_at: float
    receives: int
    attributes: Mapping[str, Any]
    source: str
    """Name of the queue it came from, for a dead letter."""


def checked_token(name: str, value: str) -> str:
    """Return a group or deduplication id that SQS takes. Raises SqsError."""
    if not _TOKEN.fullmatch(value):
        raise SqsError(
            "InvalidParameterValue", f"{name} must be 1 to 128 letters, digits or punctuation marks (ASCII)."
        )
    return value


def check_body(body: str, attributes: str) -> None:
    """Raise SqsError unless SQS takes the body; the attributes count towards its size."""
    if not body:
        raise SqsError("MissingParameter", "The request must contain the parameter MessageBody.")
    if _FORBIDDEN.search(body):
        raise SqsError("InvalidMessageContents", "The message contains characters that are not allowed.")
    if len(body.encode()) + len(attributes.encode()) > MAX_BYTES:
        raise SqsError("InvalidParameterValue", f"Message must be shorter than {MAX_BYTES} bytes.")
