"""Reads ``template.yaml``: routes, functions, queues, subscriptions and schedules.

The local stack knows none of these itself, so it cannot drift from what is deployed.
"""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Any

from strata.errors import ConfigurationError
from strata.local import cloudformation
from strata.local.cloudformation import Deployed
from strata.local.deployment import Deployment, FunctionSpec, QueueSpec, Route, ScheduleSpec, Subscription

FUNCTION = "AWS::Serverless::Function"
QUEUE = "AWS::SQS::Queue"
MAPPING = "AWS::Lambda::EventSourceMapping"


def read(path: Path) -> Deployment:
    """Return what the template declares, with every parameter at its default.

    Raises:
        ConfigurationError: something in it cannot be served on one machine.
    """
    return _Reader(cloudformation.load(path)).deployment()


class _Reader:
    def __init__(self, document: Mapping[str, Any]) -> None:
        parameters = {
            name: spec["Default"] for name, spec in document.get("Parameters", {}).items() if "Default" in spec
        }
        self._globals = cloudformation.resolve(document.get("Globals", {}).get("Function", {}), parameters)
        resources: Mapping[str, Any] = cloudformation.resolve(document["Resources"], parameters)
        self._resources = {
            name: (str(resource["Type"]), resource.get("Properties", {})) for name, resource in resources.items()
        }
        self._folders = {name: PurePosixPath(body["CodeUri"]).name for name, body in self._of_type(FUNCTION)}

    def deployment(self) -> Deployment:
        functions = [self._function(name, body) for name, body in self._of_type(FUNCTION)]
        schedules = list(self._schedules())
        return Deployment(
            functions={function.name: function for function in functions},
            routes=tuple(self._routes()),
            queues={name: _queue(name, body) for name, body in self._of_type(QUEUE)},
            subscriptions=tuple(self._subscription(name, body) for name, body in self._of_type(MAPPING)),
            schedules={schedule.name: schedule for schedule in schedules},
        )

    def _of_type(self, kind: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
        return ((name, body) for name, (of, body) in self._resources.items() if of == kind)

    def _function(self, logical_id: str, body: Mapping[str, Any]) -> FunctionSpec:
        merged = {**self._globals, **body}
        variables = {**_variables(self._globals), **_variables(body)}
        return FunctionSpec(
            name=self._folders[logical_id],
            logical_id=logical_id,
            handler=merged["Handler"],
            timeout_seconds=float(merged.get("Timeout", 3)),
            memory_mb=int(merged.get("MemorySize", 128)),
            environment={name: str(value) for name, value in variables.items() if not isinstance(value, Deployed)},
            deployed_environment=frozenset(name for name, value in variables.items() if isinstance(value, Deployed)),
        )

    def _events(self, kind: str) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
        for logical_id, body in self._of_type(FUNCTION):
            for name, event in body.get("Events", {}).items():
                if event["Type"] == kind:
                    yield self._folders[logical_id], name, event["Properties"]

    def _routes(self) -> Iterator[Route]:
        for function, _, body in self._events("HttpApi"):
            yield Route(method=body["Method"].upper(), path=body["Path"], function=function)

    def _schedules(self) -> Iterator[ScheduleSpec]:
        for function, name, body in self._events("ScheduleV2"):
            payload = json.loads(body.get("Input", "{}"))
            yield ScheduleSpec(
                name=str(payload.get("job", name)).lower(),
                expression=body["ScheduleExpression"],
                function=function,
                input=payload,
            )

    def _subscription(self, name: str, body: Mapping[str, Any]) -> Subscription:
        queue, function = _reference(body["EventSourceArn"]), _reference(body["FunctionName"]).split(".")[0]
        if queue not in self._resources or function not in self._folders:
            message = f"{name} joins a queue and a function that the template does not declare"
            raise ConfigurationError(message)
        return Subscription(
            queue=queue,
            function=self._folders[function],
            batch_size=int(body.get("BatchSize", 10)),
            reports_failures="ReportBatchItemFailures" in body.get("FunctionResponseTypes", []),
            concurrency=int(body.get("ScalingConfig", {}).get("MaximumConcurrency", 2)),
        )


def _variables(function: Mapping[str, Any]) -> Mapping[str, Any]:
    variables: Mapping[str, Any] = function.get("Environment", {}).get("Variables", {})
    return variables


def _queue(name: str, body: Mapping[str, Any]) -> QueueSpec:
    redrive = body.get("RedrivePolicy")
    return QueueSpec(
        name=name,
        fifo=bool(body.get("FifoQueue", False)),
        visibility_seconds=float(body.get("VisibilityTimeout", 30)),
        retention_seconds=float(body.get("MessageRetentionPeriod", 345_600)),
        max_receives=int(redrive["maxReceiveCount"]) if redrive else None,
        dead_letters=_reference(redrive["deadLetterTargetArn"]) if redrive else "",
        deduplicates_by_content=bool(body.get("ContentBasedDeduplication", False)),
        deduplicates_per_group=body.get("DeduplicationScope") == "messageGroup",
    )


def _reference(value: object) -> str:
    return value.what if isinstance(value, Deployed) else str(value)
