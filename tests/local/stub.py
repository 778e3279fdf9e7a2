"""A small product behind the local stack: notes come in over HTTP, a worker writes them down.

``serve`` runs it in a process of its own, to be killed.
"""

import sys
from collections.abc import Sequence
from pathlib import Path
from threading import Event
from typing import Any

from strata.clock import Clock
from strata.config import Settings
from strata.local.stack import LocalStack
from strata.ports import RunQueue

TEMPLATE = """
Resources:
  Runs:
    Type: AWS::SQS::Queue
    Properties:
      FifoQueue: true
      VisibilityTimeout: 30
      DeduplicationScope: messageGroup
      RedrivePolicy: {deadLetterTargetArn: !GetAtt Dead.Arn, maxReceiveCount: 5}
  Dead: {Type: AWS::SQS::Queue, Properties: {FifoQueue: true}}
  Door:
    Type: AWS::Serverless::Function
    Properties:
      CodeUri: functions/door/
      Handler: app.handler
      Timeout: 5
      Environment: {Variables: {STRATA_LOG_LEVEL: INFO, STRATA_DATABASE_TLS: "true", STRATA_CACHE_URL: !GetAtt D.Url}}
      Events:
        Health: {Type: HttpApi, Properties: {Method: GET, Path: /v1/health}}
        Note: {Type: HttpApi, Properties: {Method: POST, Path: "/v1/sessions/{session_id}/notes/{run_id}"}}
  Worker:
    Type: AWS::Serverless::Function
    Properties: {CodeUri: functions/worker/, Handler: app.handler, Timeout: 5}
  Feed:
    Type: AWS::Lambda::EventSourceMapping
    Properties:
      EventSourceArn: !GetAtt Runs.Arn
      FunctionName: !Ref Worker.Alias
      FunctionResponseTypes: [ReportBatchItemFailures]
  Maintenance:
    Type: AWS::Serverless::Function
    Properties:
      CodeUri: functions/maintenance/
      Handler: app.handler
      Timeout: 5
      Events:
        Tidy: {Type: ScheduleV2, Properties: {ScheduleExpression: rate(1 hour), Input: '{"job": "tidy"}'}}
"""
DOOR = """
from strata.model.runs import RunNotice
from tests.local import stub

def handler(event, context):
    if "pathParameters" in event:
        names = event["pathParameters"]
        stub.queue().send(RunNotice(tenant="t", session_id=names["session_id"], run_id=names["run_id"], upto_seq=1))
    return {"statusCode": 202, "body": "{}"}
"""
WORKER = """
import json, os
from pathlib import Path

BOOK = Path(__file__).parents[2] / "book"

def handler(event, context):
    for record in event["Records"]:
        notice = json.loads(record["body"])
        with BOOK.open("a") as book:
            book.write(f"{notice['session_id']} {notice['run_id']}\\n")
            book.flush()
            os.fsync(book.fileno())
"""
MAINTENANCE = """
def handler(event, context):
    return {"did": event["job"]}
"""

_queues: list[RunQueue] = []
interruptions: list[str] = []


def queue() -> RunQueue:
    """The queue the stub's functions send to."""
    return _queues[-1]


class Stub:
    """Hands the local queue to the stub's functions."""

    def __init__(self, _settings: Settings, queue: RunQueue | None, _clock: Clock) -> None:
        assert queue is not None
        _queues.append(queue)

    def recover(self, interrupted: Sequence[str]) -> None:
        """Remember what was in hand when the process was killed."""
        interruptions.extend(interrupted)

    def close(self) -> None:
        """Take the queue back."""
        _queues.clear()


def write(folder: Path) -> Path:
    """Write template and functions; return the template."""
    for name, text in {"door": DOOR, "worker": WORKER, "maintenance": MAINTENANCE}.items():
        path = folder / "functions" / name / "app.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (folder / "template.yaml").write_text(TEMPLATE)
    return folder / "template.yaml"


def stack(folder: Path, **options: Any) -> LocalStack:
    """Return a local stack of the stub, with its data in ``folder``."""
    return LocalStack(data_dir=folder / "data", port=0, template_path=write(folder), wiring=Stub, **options)


def serve(folder: Path) -> None:
    """Run a stack until the process is killed; say where it listens."""
    running = stack(folder)
    running.start()
    sys.stdout.write(f"{running.url}\n")
    sys.stdout.flush()
    Event().wait()
