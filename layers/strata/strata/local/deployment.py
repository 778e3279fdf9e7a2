"""What a template declares, as far as one machine can serve it. Durations are seconds."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class FunctionSpec:
    """A Lambda function. ``name`` is the folder of its code, ``logical_id`` its name in the template."""

    name: str
    logical_id: str
    handler: str = "app.handler"
    timeout_seconds: float = 3.0
    memory_mb: int = 128
    environment: Mapping[str, str] = field(default_factory=dict)
    """Variables whose values stand in the template."""
    deployed_environment: frozenset[str] = frozenset()
    """Variables whose values are only known once something is deployed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """A route of the HTTP API, e.g. ``GET /v1/runs/{run_id}``, and the function that serves it."""

    method: str
    path: str
    function: str

    @property
    def key(self) -> str:
        """The route as API Gateway names it."""
        return f"{self.method} {self.path}"


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueSpec:
    """An SQS queue, by its logical id."""

    name: str
    fifo: bool = True
    visibility_seconds: float = 30.0
    retention_seconds: float = 345_600.0
    max_receives: int | None = None
    dead_letters: str = ""
    """Logical id of the queue that takes what was received ``max_receives`` times; empty = none."""
    deduplicates_by_content: bool = False
    deduplicates_per_group: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Subscription:
    """A queue whose messages invoke a function."""

    queue: str
    function: str
    batch_size: int = 10
    reports_failures: bool = False
    concurrency: int = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class ScheduleSpec:
    """A schedule that invokes a function with ``input``."""

    name: str
    expression: str
    function: str
    input: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Deployment:
    """Everything together; functions, queues and schedules by name."""

    functions: Mapping[str, FunctionSpec]
    routes: tuple[Route, ...]
    queues: Mapping[str, QueueSpec]
    subscriptions: tuple[Subscription, ...]
    schedules: Mapping[str, ScheduleSpec]
