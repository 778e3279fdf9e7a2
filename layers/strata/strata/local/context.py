"""The context object a handler gets: who it is, and how much time is left."""

from dataclasses import dataclass

from strata.clock import Clock
from strata.local.deployment import FunctionSpec
from strata.local.sqs import ACCOUNT, REGION


@dataclass(frozen=True, slots=True, kw_only=True)
class LambdaContext:
    """Lambda's context; the remaining time counts down on the clock."""

    function_name: str
    aws_request_id: str
    memory_limit_in_mb: int
    deadline: float
    """On the clock's monotonic scale."""
    clock: Clock
    function_version: str = "$LATEST"
    log_stream_name: str = "local"
    identity: None = None
    client_context: None = None

    @property
    def invoked_function_arn(self) -> str:
        return f"arn:aws:lambda:{REGION}:{ACCOUNT}:function:{self.function_name}"

    @property
    def log_group_name(self) -> str:
        return f"/aws/lambda/{self.function_name}"

    def get_remaining_time_in_millis(self) -> int:
        """Return what is left of the function's timeout, at least 0."""
        return max(0, int((self.deadline - self.clock.monotonic()) * 1000))


def context_for(spec: FunctionSpec, request_id: str, clock: Clock) -> LambdaContext:
    """Return the context of an invocation that starts now."""
    return LambdaContext(
        function_name=spec.name,
        aws_request_id=request_id,
        memory_limit_in_mb=spec.memory_mb,
        deadline=clock.monotonic() + spec.timeout_seconds,
        clock=clock,
    )
