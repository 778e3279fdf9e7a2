"""The template tells the local stack what is deployed."""

from pathlib import Path

import pytest

from strata.errors import ConfigurationError
from strata.local.template import read

ROOT = Path(__file__).parents[2]
SMALL = """
Parameters:
  Level: {Type: String, Default: INFO}
  Required: {Type: String}
Globals:
  Function:
    Handler: app.handler
    Timeout: 29
    MemorySize: 512
    Environment:
      Variables:
        LEVEL: !Ref Level
        QUEUE: !Ref Jobs
        TEXT: !Sub "${Level} of ${AWS::StackName}"
        KNOWN: !Sub "level-${Level}"
        SECRET: !GetAtt Store.Outputs.Secret
        GIVEN: !Ref Required
Resources:
  Jobs:
    Type: AWS::SQS::Queue
    Properties:
      FifoQueue: true
      VisibilityTimeout: 120
      DeduplicationScope: messageGroup
      RedrivePolicy: {deadLetterTargetArn: !GetAtt Dead.Arn, maxReceiveCount: 4}
  Dead:
    Type: AWS::SQS::Queue
    Properties: {FifoQueue: true, MessageRetentionPeriod: 1209600}
  Worker:
    Type: AWS::Serverless::Function
    Properties:
      CodeUri: functions/worker/
      Timeout: 20
      Environment: {Variables: {LEVEL: DEBUG}}
      Events:
        Get: {Type: HttpApi, Properties: {Method: get, Path: "/v1/things/{thing}"}}
        Tidy: {Type: ScheduleV2, Properties: {ScheduleExpression: rate(1 hour), Input: '{"job": "tidy", "deep": true}'}}
  Feed:
    Type: AWS::Lambda::EventSourceMapping
    Properties:
      EventSourceArn: !GetAtt Jobs.Arn
      FunctionName: !Ref Worker.Alias
      BatchSize: 5
      FunctionResponseTypes: [ReportBatchItemFailures]
"""


@pytest.fixture
def small(tmp_path: Path) -> Path:
    path = tmp_path / "template.yaml"
    path.write_text(SMALL, encoding="utf-8")
    return path


def test_a_function_takes_what_it_does_not_say_from_the_globals(small: Path) -> None:
    worker = read(small).functions["worker"]

    assert (worker.logical_id, worker.handler, worker.timeout_seconds, worker.memory_mb) == (
        "Worker",
        "app.handler",
        20.0,
        512,
    )


def test_values_are_filled_in_as_far_as_they_are_known(small: Path) -> None:
    worker = read(small).functions["worker"]

    assert worker.environment == {"LEVEL": "DEBUG", "KNOWN": "level-INFO"}
    assert worker.deployed_environment == {"QUEUE", "TEXT", "SECRET", "GIVEN"}


def test_routes_name_method_path_and_function(small: Path) -> None:
    [route] = read(small).routes

    assert (route.key, route.function) == ("GET /v1/things/{thing}", "worker")


def test_a_queue_has_its_times_and_its_dead_letters(small: Path) -> None:
    queues = read(small).queues

    jobs = queues["Jobs"]
    assert (jobs.fifo, jobs.visibility_seconds, jobs.max_receives, jobs.dead_letters) == (True, 120.0, 4, "Dead")
    assert (jobs.deduplicates_per_group, jobs.deduplicates_by_content) == (True, False)
    assert (queues["Dead"].retention_seconds, queues["Dead"].max_receives) == (1_209_600.0, None)


def test_a_subscription_joins_a_queue_and_a_function(small: Path) -> None:
    [feed] = read(small).subscriptions

    assert (feed.queue, feed.function, feed.batch_size, feed.reports_failures) == ("Jobs", "worker", 5, True)


def test_a_schedule_is_named_for_its_job(small: Path) -> None:
    tidy = read(small).schedules["tidy"]

    assert (tidy.expression, tidy.function, tidy.input) == ("rate(1 hour)", "worker", {"job": "tidy", "deep": True})


def test_a_subscription_to_something_unknown_is_an_error(small: Path) -> None:
    small.write_text(SMALL.replace("!GetAtt Jobs.Arn", "!GetAtt Elsewhere.Arn"), encoding="utf-8")

    with pytest.raises(ConfigurationError, match="does not declare"):
        read(small)


def test_the_deployed_template_can_be_served_here() -> None:
    deployment = read(ROOT / "template.yaml")

    assert set(deployment.functions) == {
        "context_load",
        "message_append",
        "session_end",
        "consolidator",
        "memory_units",
        "maintenance",
    }
    assert {route.function for route in deployment.routes} <= set(deployment.functions)
    assert {subscription.queue for subscription in deployment.subscriptions} <= set(deployment.queues)
    assert set(deployment.schedules) == {"purge", "reconcile", "audit"}
