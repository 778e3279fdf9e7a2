"""Runs the provider suite on the real MemOS server: ``python -m tests.real.run_memos PYTHON_WITH_MEMOS [PYTEST…]``.

Starts a local model endpoint and the server, waits until it answers, runs the suite, ends what it started.
"""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import httpx

from tests.real.launch_memos import DIMENSIONS
from tests.servers.process import HOST, free_port, wait_until

HERE = Path(__file__).parent
SUITE = "tests/contract/test_providers.py"
STARTS_WITHIN_SECONDS = 180.0
ENDS_WITHIN_SECONDS = 20.0


def main(python: str, arguments: Sequence[str]) -> int:
    """Return pytest's exit code."""
    with (
        tempfile.TemporaryDirectory(prefix="memos-", ignore_cleanup_errors=True) as folder,
        _server(folder, python) as url,
    ):
        sys.stdout.write(f"MemOS answers at {url}\n")
        sys.stdout.flush()
        suite = [sys.executable, "-m", "pytest", SUITE, "-k", "memos-real or memos-sync-real", *arguments]
        return subprocess.run(suite, env={**os.environ, "MEMOS_URL": url}, check=False).returncode


@contextmanager
def _server(folder: str, python: str) -> Iterator[str]:
    """The address of a MemOS server with a model endpoint behind it."""
    model_port, port = free_port(), free_port()
    model = [sys.executable, str(HERE / "model_endpoint.py"), str(model_port), str(DIMENSIONS)]
    memos = [python, str(HERE / "launch_memos.py"), folder, str(port), f"http://{HOST}:{model_port}/v1"]
    url = f"http://{HOST}:{port}"
    log = Path(folder) / "memos.log"
    with _running(model, Path(folder) / "model.log"), _running(memos, log) as process:
        wait_until(
            lambda: process.poll() is not None or _answers(url),
            seconds=STARTS_WITHIN_SECONDS,
            otherwise=lambda: log.read_text(errors="replace")[-4_000:],
        )
        if process.poll() is not None:
            raise RuntimeError(log.read_text(errors="replace")[-4_000:])
        yield url


@contextmanager
def _running(command: Sequence[str], log: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A process that is asked to end, so that it can end its own database, and made to if it does not."""
    with log.open("ab") as output, subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT) as process:
        try:
            yield process
        finally:
            process.terminate()
            try:
                process.wait(ENDS_WITHIN_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()


def _answers(url: str) -> bool:
    try:
        return httpx.get(f"{url}/health", timeout=1.0, trust_env=False).is_success
    except httpx.HTTPError:
        return False


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
