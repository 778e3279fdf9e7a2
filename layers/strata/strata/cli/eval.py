"""``strata eval``: a task run against a provider, with its table, its result file and its page."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn
from rich.table import Table as Grid

from strata import config, observability
from strata.cli.connection import as_json
from strata.cli.output import show
from strata.errors import InputError
from strata.evaluation import page, result, source
from strata.evaluation.report import Report, Table
from strata.evaluation.runner import Place, Watch, evaluate
from strata.evaluation.subject import PROVIDERS
from strata.evaluation.task import TASKS, Options

WIDE = 160


class Numbers(click.ParamType[tuple[int, ...]]):
    """Positive whole numbers, separated by commas."""

    name = "numbers"

    def convert(
        self, value: str | tuple[int, ...], param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[int, ...]:
        """Return them in rising order, each once."""
        if isinstance(value, tuple):
            return value
        parts = [part.strip() for part in value.split(",")]
        if not all(part.isascii() and part.isdigit() and 0 < int(part) <= 1_000_000 for part in parts):  # noqa: PLR2004
            self.fail(f"{value!r} is not a list of positive whole numbers", param, ctx)
        return tuple(sorted({int(part) for part in parts}))


@click.command("eval")
@click.argument("task", type=click.Choice(sorted(TASKS)))
@click.option("--data", "data_path", type=click.Path(path_type=Path), help="The data file of the task.")
@click.option("--extra", "extra_path", type=click.Path(path_type=Path), help="Second file: gold evidence, memories.")
@click.option("--provider", type=click.Choice(list(PROVIDERS)), default="native", show_default=True)
@click.option("--limit", type=click.IntRange(min=1), help="Only the first so many items of the data.")
@click.option("--k", "cutoffs", type=Numbers(), default="5,10,20", show_default=True, help="Ranks to measure at.")
@click.option("--budget", "budgets", type=Numbers(), default="150,300,600,1200,2400", show_default=True, help="Tokens.")
@click.option("--seed", type=click.IntRange(min=0), default=1, show_default=True)
@click.option("--out", type=click.Path(file_okay=False, path_type=Path), help="Folder of result, page and journal.")
@click.option("--endpoint", help="A running service; else a private stack in this process.")
@click.option("--key", help="API key of the running service; an admin's, so that agents can be made.")
@as_json
def eval_(  # noqa: PLR0913 (its options)
    *,
    task: str,
    data_path: Path | None,
    extra_path: Path | None,
    provider: str,
    limit: int | None,
    cutoffs: tuple[int, ...],
    budgets: tuple[int, ...],
    seed: int,
    out: Path | None,
    endpoint: str | None,
    key: str | None,
    as_json: bool,
) -> None:
    """Measure a memory provider on TASK. With --out a killed run is taken up where it ended."""
    options = Options(
        provider=provider,
        limit=limit,
        cutoffs=cutoffs,
        budgets=budgets,
        seed=seed,
        data=source.read(data_path) if data_path else None,
        extra=source.read(extra_path) if extra_path else None,
        model=_model(),
    )
    place = Place(endpoint=endpoint or "", key=key_for(endpoint, key), out=out)
    observability.set_level("ERROR")
    observability.mute_metrics()
    with progress(shown=not as_json) as watch:
        outcome = evaluate(task, options, place, watch)
    written = result.write(outcome, out) if out else ()
    if as_json:
        show(result.document(outcome))
    else:
        show_report(outcome.report, written)


def _model() -> str:
    settings = config.Settings.from_env().inference
    return settings.chat_model if settings.chat_url else ""


def key_for(endpoint: str | None, key: str | None) -> str:
    """Return the key of a running service; empty without one. Raises InputError."""
    if not endpoint:
        return ""
    found = key or config.Settings.from_env().cli.key
    if not found:
        raise InputError("A running service wants a key.", hint="Give --key, or STRATA_CLI_KEY.")
    return found


@contextmanager
def progress(*, shown: bool) -> Iterator[Watch]:
    """A bar for each kind of step, on the error stream, so that what is printed can be piped."""
    columns = (TextColumn("{task.description:>12}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    shown_bars = Progress(*columns, console=Console(stderr=True), disable=not shown)
    bars: dict[str, TaskID] = {}

    def watch(kind: str, done: int, total: int) -> None:
        if not bars:
            shown_bars.start()
        if kind not in bars:
            bars[kind] = shown_bars.add_task(kind, total=total)
        shown_bars.update(bars[kind], completed=done)

    try:
        yield watch
    finally:
        if bars:
            shown_bars.stop()


def show_report(report: Report, written: tuple[Path, ...]) -> None:
    """Print tables and notes, and where the files are."""
    console = Console(width=None if Console().is_terminal else WIDE, highlight=False)
    for table in report.tables:
        console.print(_grid(table))
        if table.note:
            console.print(f"[dim]{table.note}[/]", markup=True)
    for note in report.notes:
        console.print(f"· {note}", markup=False)
    for path in written:
        console.print(str(path), markup=False)


def _grid(table: Table) -> Grid:
    grid = Grid(title=table.title, title_justify="left", box=None, header_style="bold", pad_edge=False)
    for place, column in enumerate(table.columns):
        grid.add_column(column, justify="right" if place else "left")
    for row in table.rows:
        grid.add_row(*(page.shown(cell) for cell in row))
    return grid
