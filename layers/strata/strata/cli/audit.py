"""``strata audit``: reports, the trail, and the proof that nothing was changed behind the product's back."""

from dataclasses import asdict
from pathlib import Path

import click

from strata.cli.connection import as_json, connected
from strata.cli.operator import access, product
from strata.cli.output import show, show_or_table
from strata.client import MemoryClient
from strata.maintenance.page import render

EVENT_COLUMNS = ("seq", "at", "kind", "actor", "collection", "memory_id")


@click.group()
def audit() -> None:
    """Weekly reports and the audit trail."""


@audit.command()
@as_json
def verify(*, as_json: bool) -> None:
    """Prove the trail: exit status 1 if a row was changed, removed or reordered."""
    with product() as runtime:
        tenant = access(runtime).tenant
        found = runtime.verification.verify(tenant, anchors=runtime.audits.anchors(tenant))
    rows = [asdict(finding) for finding in found.findings]
    show_or_table(asdict(found), rows, ("kind", "memory_id", "version", "seq"), json_=as_json)
    click.echo(f"{found.events} events, {found.memories} memories, {found.versions} versions", err=True)
    raise SystemExit(0 if found.is_whole else 1)


@audit.command()
@click.argument("week")
@click.option("--html", type=click.Path(dir_okay=False, path_type=Path), help="Also write the page to this file.")
def make(week: str, html: Path | None) -> None:
    """Make the report of a week such as 2026-W10 now."""
    with product() as runtime:
        report = runtime.audits.make(access(runtime).tenant, week)
    if html:
        html.write_text(render(report), encoding="utf-8")
    show(report)


@audit.command("list")
@connected
def list_reports(client: MemoryClient) -> None:
    """List the weeks of which there is a report."""
    show(client.call("GET", "/v1/audits"))


@audit.command("show")
@click.argument("week")
@connected
def show_report(client: MemoryClient, week: str) -> None:
    """Show a weekly report."""
    show(client.call("GET", f"/v1/audits/{week}"))


@audit.command()
@click.option("--kind", help="Only events of this kind, e.g. memory.inserted.")
@click.option("--memory-id", help="Only events about this memory.")
@click.option("--limit", default=50, show_default=True)
@as_json
@connected
def events(client: MemoryClient, kind: str | None, memory_id: str | None, limit: int, *, as_json: bool) -> None:
    """List the audit trail, newest first."""
    found = client.call("GET", "/v1/events", query={"kind": kind, "memory_id": memory_id, "limit": limit})
    show_or_table(found, found["events"], EVENT_COLUMNS, json_=as_json)
