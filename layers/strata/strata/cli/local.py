"""``strata local``: the whole product on this machine."""

import signal
import threading
from pathlib import Path

import click

from strata import config
from strata.errors import ConfigurationError
from strata.local.stack import LocalStack


@click.group()
def local() -> None:
    """Run the same functions here: SQLite, an in-process Redis and a FIFO queue instead of AWS."""


@local.command()
@click.option(
    "--port",
    type=click.IntRange(0, 65_535),
    default=8610,
    show_default=True,
    help="Port on 127.0.0.1; 0 = any free one.",
)
@click.option("--data-dir", type=click.Path(file_okay=False, path_type=Path), help="Folder for database, queue, key.")
def up(*, port: int, data_dir: Path | None) -> None:
    """Serve until interrupted."""
    folder = data_dir or Path(config.Settings.from_env().cli.data_dir)
    stack = LocalStack(data_dir=folder, port=port)
    try:
        stack.start()
    except OSError as error:
        message = f"The stack cannot start on port {port} with the folder {folder}: {error.strerror or error}."
        raise ConfigurationError(message, hint="Choose others with --port and --data-dir.") from None
    click.echo(f"Strata at {stack.url}  (data in {folder}, admin key in {folder / 'admin.key'})")
    stopped = threading.Event()
    for name in (signal.SIGINT, signal.SIGTERM):
        signal.signal(name, lambda *_: stopped.set())
    stopped.wait()
    stack.stop()
