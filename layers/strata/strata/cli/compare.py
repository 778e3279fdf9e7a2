"""``strata compare``: a task with several long-term providers, one table, one page."""

import json
from pathlib import Path

import click

from strata import observability
from strata.cli.connection import as_json
from strata.cli.eval import Numbers, key_for, progress, show_report
from strata.cli.output import show
from strata.errors import InputError
from strata.evaluation import comparison, page, result, source
from strata.evaluation.report import Report
from strata.evaluation.runner import Place
from strata.evaluation.subject import PROVIDERS
from strata.evaluation.task import TASKS, Options


@click.command()
@click.argument("task", type=click.Choice(sorted(TASKS)))
@click.option("--providers", default="native,memos,mem0,none", show_default=True, help="Names, separated by commas.")
@click.option("--data", "data_path", type=click.Path(path_type=Path), help="The data file of the task.")
@click.option("--extra", "extra_path", type=click.Path(path_type=Path), help="Second file: gold evidence, memories.")
@click.option("--limit", type=click.IntRange(min=1), help="Only the first so many items of the data.")
@click.option("--k", "cutoffs", type=Numbers(), default="5,10,20", show_default=True, help="Ranks to measure at.")
@click.option("--budget", "budgets", type=Numbers(), default="150,300,600,1200,2400", show_default=True, help="Tokens.")
@click.option("--seed", type=click.IntRange(min=0), default=1, show_default=True)
@click.option("--out", type=click.Path(file_okay=False, path_type=Path), help="Folder of result, page and journals.")
@click.option("--endpoint", help="A running service; else a private stack in this process.")
@click.option("--key", help="API key of the running service; an admin's.")
@as_json
def compare(  # noqa: PLR0913 (its options)
    *,
    task: str,
    providers: str,
    data_path: Path | None,
    extra_path: Path | None,
    limit: int | None,
    cutoffs: tuple[int, ...],
    budgets: tuple[int, ...],
    seed: int,
    out: Path | None,
    endpoint: str | None,
    key: str | None,
    as_json: bool,
) -> None:
    """Measure providers on TASK, one after the other. What has no address or does not answer is left out and named.

    MemOS and Mem0 are found by STRATA_PROVIDERS_MEMOS_URL and STRATA_PROVIDERS_MEM0_URL.
    """
    options = Options(
        limit=limit,
        cutoffs=cutoffs,
        budgets=budgets,
        seed=seed,
        data=source.read(data_path) if data_path else None,
        extra=source.read(extra_path) if extra_path else None,
    )
    place = Place(endpoint=endpoint or "", key=key_for(endpoint, key), out=out)
    observability.set_level("ERROR")
    observability.mute_metrics()
    with progress(shown=not as_json) as watch:
        found = comparison.compared(task, options, _named(providers), place, watch)
    whole = comparison.report(found)
    document = comparison.document(found, whole)
    written = _written(document, whole, out) if out else ()
    if as_json:
        show(document)
    else:
        show_report(whole, written)


def _named(providers: str) -> list[str]:
    names = [name.strip() for name in providers.split(",") if name.strip()]
    unknown = [name for name in names if name not in PROVIDERS]
    if unknown or not names:
        hint = f"Some of {', '.join(PROVIDERS)}."
        raise InputError(f"There is no provider {unknown[0]!r}." if unknown else "No provider was named.", hint=hint)
    return names


def _written(document: dict[str, object], whole: Report, out: Path) -> tuple[Path, ...]:
    out.mkdir(parents=True, exist_ok=True)
    files = (out / result.RESULT_FILE, out / result.PAGE_FILE)
    files[0].write_text(json.dumps(document, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")
    files[1].write_text(page.rendered(document, whole), encoding="utf-8")
    return files
