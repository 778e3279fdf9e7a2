"""A function as Lambda runs it: JSON in, JSON out, a time limit, and a failure that stays inside.

Unlike Lambda, a handler that outlives its time limit is abandoned, not stopped: its thread ends when it ends.
"""

import importlib.util
import json
import uuid
from collections.abc import Callable, Mapping
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as StillRunningError
from pathlib import Path
from typing import Any

from strata.clock import Clock
from strata.errors import ConfigurationError
from strata.local.context import LambdaContext, context_for
from strata.local.deployment import FunctionSpec
from strata.observability import logger

Handler = Callable[[dict[str, Any], LambdaContext], object]
MAX_PAYLOAD_BYTES = 6 * 1024 * 1024
THREADS = 32


class FunctionFailed(Exception):
    """The handler raised, or answered something that is not JSON or is too large."""


class FunctionTimedOut(FunctionFailed):
    """The handler did not answer within the function's timeout."""


class PayloadTooLarge(FunctionFailed):
    """The event is larger than Lambda takes; the handler was not called."""


class LocalFunction:
    """One function; invocations run side by side, each in a thread of its own."""

    def __init__(self, spec: FunctionSpec, handler: Handler, clock: Clock) -> None:
        self.spec = spec
        self._handler = handler
        self._clock = clock
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix=spec.name)

    def invoke(self, event: Mapping[str, Any], request_id: str = "") -> Any:  # noqa: ANN401 any JSON value
        """Return the handler's answer, as it reads after a trip through JSON.

        Raises:
            PayloadTooLarge: event or answer is over 6 MB.
            FunctionTimedOut: no answer within the function's timeout.
            FunctionFailed: the handler raised, or its answer is not JSON.
        """
        payload = json.dumps(event, ensure_ascii=False).encode("utf-8", "surrogatepass")
        if len(payload) > MAX_PAYLOAD_BYTES:
            raise PayloadTooLarge
        context = context_for(self.spec, request_id or str(uuid.uuid4()), self._clock)
        return json.loads(self._answer(self._started(json.loads(payload), context)))

    def close(self) -> None:
        """Take no more invocations; do not wait for a handler that hangs."""
        self._threads.shutdown(wait=False, cancel_futures=True)

    def _started(self, event: dict[str, Any], context: LambdaContext) -> "Future[object]":
        try:
            return self._threads.submit(self._handler, event, context)
        except RuntimeError as error:  # closed, or the machine has no thread left
            raise FunctionFailed from error

    def _answer(self, running: "Future[object]") -> str:
        try:
            failure = running.exception(self.spec.timeout_seconds)
        except CancelledError:
            raise FunctionFailed from None
        except StillRunningError:
            running.cancel()
            logger.error("function.timed_out", extra={"function": self.spec.name})
            raise FunctionTimedOut from None
        if failure is not None:
            logger.error("function.failed", exc_info=failure, extra={"function": self.spec.name})
            raise FunctionFailed from failure
        return self._serialised(running.result())

    def _serialised(self, result: object) -> str:
        try:
            text = json.dumps(result)
        except (TypeError, ValueError) as error:
            logger.error("function.answer_unusable", extra={"function": self.spec.name, "reason": str(error)})
            raise FunctionFailed from error
        if len(text) > MAX_PAYLOAD_BYTES:
            raise FunctionFailed
        return text


def load_handler(folder: Path, spec: FunctionSpec) -> Handler:
    """Return the handler in ``folder/<name>``, loaded as a module of its own.

    Raises:
        ConfigurationError: there is no such file, or no such name in it.
    """
    module_name, _, attribute = spec.handler.partition(".")
    path = folder / spec.name / f"{module_name}.py"
    module_spec = importlib.util.spec_from_file_location(f"strata_function_{spec.name}", path)
    if not path.is_file() or module_spec is None or module_spec.loader is None:
        raise ConfigurationError(f"{path} is not there")
    module = importlib.util.module_from_spec(module_spec)
    module_spec.loader.exec_module(module)
    handler: Handler | None = getattr(module, attribute, None)
    if handler is None:
        raise ConfigurationError(f"{path} has no {attribute}")
    return handler
