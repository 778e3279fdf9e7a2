"""Lambda's Runtime API, to run what was built under ``awslambdaric`` in a clean interpreter.

The interpreter sees what it would see in Lambda: function, layer, standard library, the runtime's own packages last; no
user site, no environment but the function's. Nothing is written beside the code that runs.
"""

import json
import queue
import re
import subprocess
import tempfile
import threading
import time
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from strata.local.events import HttpRequest
from strata.local.http_server import HttpResponse, HttpServer

INIT_SECONDS = 130.0
"""What publishing a version with a snapshot allows."""
MAX_ANSWER_BYTES = 6 * 1024 * 1024
ARN = "arn:aws:lambda:eu-west-1:123456789012:function:built"
_API = re.compile(
    r"/2018-06-01/runtime/(?P<call>invocation/next|restore/next|(?:init|restore)/error|invocation/(?P<id>[^/]+)/(?P<end>response|error))"
)
_START = """
import sys
task_root, layer, runtime, handler = sys.argv[1:]
sys.path[:0] = [path for path in (task_root, layer) if path]
sys.path.append(runtime)
from awslambdaric.__main__ import main
main(["bootstrap", handler])
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What an invocation came to: the handler's answer, or the error document the runtime made of its failure."""

    ok: bool
    answer: Any


class InitError(Exception):
    """The function could not be loaded; the message is the runtime's error document."""


class LambdaRuntime:
    """One function in one execution environment: ``with LambdaRuntime(…) as function: function.invoke(event)``."""

    def __init__(
        self,
        *,
        python: Path,
        runtime: Path,
        task_root: Path,
        layer: Path | None = None,
        handler: str = "app.handler",
        environment: Mapping[str, str] | None = None,
        timeout_seconds: float = 30.0,
        snap_start: bool = False,
    ) -> None:
        self._command = [str(python), "-I", "-S", "-B", "-c", _START, str(task_root)]
        self._command += [str(layer or ""), str(runtime), handler]
        self._task_root = task_root
        self._timeout_seconds = timeout_seconds
        self._environment = {**_environment(task_root, handler, snap_start=snap_start), **(environment or {})}
        self._todo: queue.Queue[tuple[str, bytes] | None] = queue.Queue()
        self._answers: dict[str, queue.Queue[Outcome]] = {}
        self._loaded = threading.Event()
        self._init_error = ""
        self.restored = False
        """Whether the runtime asked to be restored, as after a snapshot."""
        self._log = tempfile.TemporaryFile()  # noqa: SIM115 closed by close()
        self._api = HttpServer(0, self._respond, _refused, max_body_bytes=16 * 1024 * 1024)

    def __enter__(self) -> Self:
        self._api.start()
        self._environment["AWS_LAMBDA_RUNTIME_API"] = self._api.url.removeprefix("http://")
        self._process = subprocess.Popen(
            self._command, cwd=self._task_root, env=self._environment, stdout=self._log, stderr=subprocess.STDOUT
        )
        try:
            self._wait_for_init()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the interpreter."""
        self._process.kill()
        self._process.wait()
        self._todo.put(None)
        self._api.stop()
        self._log.close()

    @property
    def log(self) -> str:
        """What function and runtime have written so far."""
        self._log.seek(0)
        return self._log.read().decode(errors="replace")

    def invoke(self, event: Mapping[str, Any]) -> Outcome:
        """Run the handler once. Raises TimeoutError after the function's timeout."""
        request_id = str(uuid.uuid4())
        self._answers[request_id] = queue.Queue()
        self._todo.put((request_id, json.dumps(event, ensure_ascii=False).encode()))
        try:
            return self._answers[request_id].get(timeout=self._timeout_seconds)
        except queue.Empty:
            raise TimeoutError(f"Task timed out after {self._timeout_seconds} seconds\n{self.log}") from None

    def _wait_for_init(self) -> None:
        ends = time.monotonic() + INIT_SECONDS
        while not self._loaded.wait(0.01):
            if self._process.poll() is not None or time.monotonic() > ends:
                raise InitError(self.log)
        if self._init_error:
            raise InitError(self._init_error)

    def _respond(self, request: HttpRequest) -> HttpResponse:
        match = _API.fullmatch(request.path)
        if match is None:
            return HttpResponse(status=404)
        if match["id"]:
            self._answers[match["id"]].put(_outcome(match["end"], request.body))
        elif match["call"].endswith("error"):
            self._init_error = request.body.decode()
            self._loaded.set()
        elif match["call"] == "restore/next":
            self.restored = True
            return HttpResponse(status=200, body=b"{}")
        else:
            return self._next()
        return HttpResponse(status=202, body=b"{}")

    def _next(self) -> HttpResponse:
        self._loaded.set()
        item = self._todo.get()
        if item is None:
            return HttpResponse(status=410)
        request_id, payload = item
        return HttpResponse(status=200, body=payload, headers=self._headers(request_id))

    def _headers(self, request_id: str) -> Sequence[tuple[str, str]]:
        return [
            ("Content-Type", "application/json"),
            ("Lambda-Runtime-Aws-Request-Id", request_id),
            ("Lambda-Runtime-Invoked-Function-Arn", ARN),
            ("Lambda-Runtime-Deadline-Ms", str(int((time.time() + self._timeout_seconds) * 1000))),
            ("Lambda-Runtime-Trace-Id", "Root=1-00000000-000000000000000000000000;Sampled=0"),
        ]


def _outcome(end: str, body: bytes) -> Outcome:
    if len(body) > MAX_ANSWER_BYTES:
        return Outcome(ok=False, answer={"errorType": "Function.ResponseSizeTooLarge"})
    return Outcome(ok=end == "response", answer=json.loads(body))


def _refused(status: int, _: str) -> HttpResponse:
    return HttpResponse(status=status)


def _environment(task_root: Path, handler: str, *, snap_start: bool) -> dict[str, str]:
    return {
        "PATH": "/usr/bin:/bin",
        "LANG": "en_US.UTF-8",
        "TZ": ":UTC",
        "_HANDLER": handler,
        "LAMBDA_TASK_ROOT": str(task_root),
        "AWS_REGION": "eu-west-1",
        "AWS_DEFAULT_REGION": "eu-west-1",
        "AWS_ACCESS_KEY_ID": "built",
        "AWS_SECRET_ACCESS_KEY": "built",
        "AWS_LAMBDA_FUNCTION_NAME": "built",
        "AWS_LAMBDA_FUNCTION_VERSION": "1",
        "AWS_LAMBDA_FUNCTION_MEMORY_SIZE": "1024",
        "AWS_LAMBDA_LOG_GROUP_NAME": "/aws/lambda/built",
        "AWS_LAMBDA_LOG_STREAM_NAME": "1",
        "AWS_LAMBDA_INITIALIZATION_TYPE": "snap-start" if snap_start else "on-demand",
    }
