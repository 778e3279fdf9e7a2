"""The whole product on one machine: what the template declares, with the deployed handlers behind it.

Killing it at any moment loses nothing that was acknowledged: messages are in the database, notices in the queue's file,
and what was in flight is released at the next start.
"""

import fcntl
import http.client
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, TypeVar

import strata
from strata.clock import Clock, SystemClock
from strata.errors import ConfigurationError, TransientError
from strata.local import template
from strata.local.function import FunctionFailed, LocalFunction, load_handler
from strata.local.gateway import MAX_BODY_BYTES, Gateway, refusal
from strata.local.http_server import HttpServer
from strata.local.journal import Journal
from strata.local.notices import LocalRunQueue
from strata.local.poller import Poller
from strata.local.queue import FifoQueue
from strata.local.schedule import Scheduler
from strata.local.wiring import Wire, WiredProduct, admin_key, settings_for

PORT = 8610
QUEUE_FILE = "queue.db"
LOCK_FILE = "lock"
POLLERS = 2
ROOT = Path(strata.__file__).parents[3]
Part = TypeVar("Part")


class LocalStack:
    """One running product; one per folder and, because handlers share their process, one per process."""

    def __init__(
        self, *, data_dir: Path, port: int = PORT, template_path: Path | None = None, wiring: Wire = WiredProduct
    ) -> None:
        """Read the template; nothing is started, and nothing written but the folder.

        Functions are looked for beside the template. Port 0 is any free one.

        Raises:
            ConfigurationError: there is no template, or it cannot be served here.
        """
        self._template = template_path or _own_template()
        self._data_dir = data_dir
        self._port = port
        self._wire = wiring
        self._clock: Clock = SystemClock()
        self._running = ExitStack()
        self._server: HttpServer | None = None
        self.deployment = template.read(self._template)
        self.queues: Mapping[str, FifoQueue] = {}
        self.functions: Mapping[str, LocalFunction] = {}
        self._scheduler: Scheduler | None = None

    @property
    def url(self) -> str:
        """Where it listens. Raises ConfigurationError before ``start``."""
        return _started(self._server).url

    @property
    def admin_key(self) -> str:
        """The first admin key of this folder."""
        return admin_key(self._data_dir)

    def start(self) -> None:
        """Bring the schema up to date, then serve, poll and run schedules in the background.

        Raises:
            ConfigurationError: another stack uses the folder, a handler is missing, or the schema cannot be migrated.
            OSError: the port is taken.
        """
        try:
            self._start()
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        """End what ``start`` began, in reverse order."""
        self._running.close()

    def wait_ready(self, seconds: float = 30.0) -> None:
        """Return once the health route answers.

        Raises:
            TransientError: it did not within ``seconds``.
        """
        ends = self._clock.monotonic() + seconds
        while not self._answers():
            if self._clock.monotonic() > ends:
                raise TransientError("The local stack does not answer.")
            self._clock.sleep(0.05)

    def wait_idle(self, seconds: float = 60.0) -> bool:
        """Wait until no message is queued or in flight; tell whether that came true within ``seconds``."""
        ends = self._clock.monotonic() + seconds
        while any(sum(queue.counts()) for queue in self._subscribed()):
            if self._clock.monotonic() > ends:
                return False
            self._clock.sleep(0.02)
        return True

    def run_now(self, schedule: str) -> Any:  # noqa: ANN401 what the job answers
        """Run a schedule's job and return its answer. Raises NotFoundError, FunctionFailed."""
        return _started(self._scheduler).run_now(schedule)

    def _start(self) -> None:
        self._data_dir.mkdir(parents=True, exist_ok=True)
        self._running.enter_context(_only_one(self._data_dir / LOCK_FILE))
        self._open_queues()
        self._load_functions()
        self._migrate()
        self._product.recover([body for queue in self.queues.values() for body in queue.recover()])
        self._serve()
        self._poll()
        self._scheduler = Scheduler(self.deployment.schedules, self.functions, self._clock)
        self._scheduler.start()
        self._running.callback(self._scheduler.stop)

    def _open_queues(self) -> None:
        journal = Journal(self._data_dir / QUEUE_FILE)
        self._running.callback(journal.close)
        fifo = {name: spec for name, spec in self.deployment.queues.items() if spec.fifo}
        self.queues = {name: FifoQueue(spec, journal, self._clock) for name, spec in fifo.items()}

    def _load_functions(self) -> None:
        settings = settings_for(self.deployment, self._data_dir)
        [feed] = self._subscribed()
        queue = None if settings.queue.url else LocalRunQueue(feed)
        self._product = self._wire(settings, queue, self._clock)
        self._running.callback(self._product.close)
        folder = self._template.parent / "functions"
        self.functions = {
            name: LocalFunction(spec, load_handler(folder, spec), self._clock)
            for name, spec in self.deployment.functions.items()
        }
        for function in self.functions.values():
            self._running.callback(function.close)

    def _migrate(self) -> None:
        try:
            self.functions["maintenance"].invoke({"job": "migrate"})
        except FunctionFailed as error:
            raise ConfigurationError("The database schema could not be brought up to date.") from error

    def _serve(self) -> None:
        gateway = Gateway(self.deployment, self.functions, self._clock)
        self._server = HttpServer(self._port, gateway.respond, refusal, max_body_bytes=MAX_BODY_BYTES)
        self._running.callback(self._server.stop)
        self._server.start()

    def _poll(self) -> None:
        for subscription in self.deployment.subscriptions:
            poller = Poller(
                self.queues[subscription.queue],
                self.functions[subscription.function],
                batch_size=subscription.batch_size,
                reports_failures=subscription.reports_failures,
            )
            poller.start(min(subscription.concurrency, POLLERS))
            self._running.callback(poller.stop)

    def _subscribed(self) -> list[FifoQueue]:
        return [self.queues[subscription.queue] for subscription in self.deployment.subscriptions]

    def _answers(self) -> bool:
        connection = http.client.HTTPConnection("127.0.0.1", _started(self._server).port, timeout=1)
        try:
            connection.request("GET", "/v1/health")
            return connection.getresponse().status < 500  # noqa: PLR2004 a server error is no answer yet
        except OSError:
            return False
        finally:
            connection.close()


def _own_template() -> Path:
    for folder in (ROOT, Path.cwd()):
        if (folder / "template.yaml").is_file():
            return folder / "template.yaml"
    raise ConfigurationError("There is no template.yaml here.", hint="Run it in the project's folder.")


def _started(part: Part | None) -> Part:
    if part is None:
        raise ConfigurationError("The local stack has not been started.")
    return part


@contextmanager
def _only_one(path: Path) -> Iterator[None]:
    """Hold the folder's lock; the system releases it however the process ends."""
    with path.open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise ConfigurationError(f"Another local stack uses {path.parent}.") from None
        yield
