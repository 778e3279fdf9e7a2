"""``strata types``: memory types and their tables."""

import click

from strata.cli.connection import as_json
from strata.cli.operator import product
from strata.cli.output import show_or_table, show_record

COLUMNS = ("name", "table", "ttl_seconds", "built_in")


@click.group()
def types() -> None:
    """Memory types; a new one is an operator's decision, never a write's."""


@types.command()
@click.argument("name")
@click.option("--ttl-seconds", default=0, show_default=True, help="Default life of its memories; 0 = for ever.")
@as_json
def add(name: str, ttl_seconds: int, *, as_json: bool) -> None:
    """Create a type with a table of its own."""
    with product() as runtime:
        made = runtime.types.add(name, ttl_seconds, now=runtime.clock.now())
    show_record({column: getattr(made, column) for column in COLUMNS}, json_=as_json)


@types.command("list")
@as_json
def list_types(*, as_json: bool) -> None:
    """List the types."""
    with product() as runtime:
        rows = [{column: getattr(kind, column) for column in COLUMNS} for kind in runtime.types.all().values()]
    show_or_table(rows, rows, COLUMNS, json_=as_json)
