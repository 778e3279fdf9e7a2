"""One server process of the tests: started on a free loopback port, and mistreated on demand."""

import os
import random
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Sequence
from pathlib import Path

HOST = "127.0.0.1"
_given: set[int] = set()  # ports handed out by this process: a server that is down keeps its port for the restart


def free_port() -> int:
    """A port nobody listens on.

    It lies below the range that outgoing connections take theirs from: a client that keeps dialling a server which
    is down could otherwise be given the server's own port and end up connected to itself.
    """
    while True:
        port = random.randrange(16_384, 32_768)
        if port not in _given and _can_bind(port):
            _given.add(port)
            return port


def _can_bind(port: int) -> bool:
    with socket.socket() as probe:
        try:
            probe.bind((HOST, port))
        except OSError:
            return False
        return True


def wait_until(ready: Callable[[], bool], *, seconds: float, otherwise: Callable[[], str]) -> None:
    """Ask ``ready`` until it says yes. Raises ``TimeoutError`` with the text of ``otherwise`` after ``seconds``."""
    deadline = time.monotonic() + seconds
    while not ready():
        if time.monotonic() > deadline:
            raise TimeoutError(otherwise())
        time.sleep(0.02)


class ServerProcess:
    """A server under control of a test. Every method returns when its effect is there."""

    def __init__(self, command: Sequence[str], *, log: Path, ready: Callable[[], bool], limit_seconds: float) -> None:
        self._command = _dying_with_us(command)
        self._log = log
        self._ready = ready
        self._limit_seconds = limit_seconds
        self._process: subprocess.Popen[bytes] | None = None
        self._paused = False

    @property
    def alive(self) -> bool:
        """Whether the process runs; a paused one does."""
        return self._process is not None and self._process.poll() is None

    def start(self) -> None:
        """Start it and wait until it answers."""
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(self._command, stdout=log, stderr=subprocess.STDOUT)
        wait_until(self._answers, seconds=self._limit_seconds, otherwise=self._log_text)

    def kill(self) -> None:
        """SIGKILL: no goodbye to clients, nothing flushed."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
        self._paused = False

    def pause(self) -> None:
        """SIGSTOP: connections stay open and nothing answers."""
        if self._process is not None and self.alive and not self._paused:
            self._process.send_signal(signal.SIGSTOP)
            os.waitpid(self._process.pid, os.WUNTRACED)  # until its every thread has stopped
            self._paused = True

    def resume(self) -> None:
        """SIGCONT: answer again, also what was asked meanwhile."""
        if self._process is not None and self.alive:
            self._process.send_signal(signal.SIGCONT)
        self._paused = False

    def restart(self) -> None:
        """Kill it if it runs and start it again, on the same port and data."""
        self.kill()
        self.start()

    def restore(self) -> None:
        """Make it answer again, whatever a test did to it."""
        if not self.alive:
            self.start()
        self.resume()

    def stop(self) -> None:
        """End it for good. Its data is of no further use, so there is nothing to wait for."""
        self.kill()

    def _answers(self) -> bool:
        if not self.alive:
            raise RuntimeError(self._log_text())
        return self._ready()

    def _log_text(self) -> str:
        return f"{self._command}\n{self._log.read_text(errors='replace')[-4_000:]}"


def _dying_with_us(command: Sequence[str]) -> list[str]:
    """The command, such that a test run killed outright leaves no server behind (where util-linux can do that)."""
    setpriv = shutil.which("setpriv")
    return [setpriv, "--pdeathsig", "KILL", *command] if setpriv else list(command)
