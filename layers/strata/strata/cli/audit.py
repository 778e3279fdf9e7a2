"""``strata audit``: reports, the trail, and the proof that nothing was changed behind the product's back."""

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from strata.cli.connection import as_json, connected
from strata.cli.operator import access, product
from strata.cli.output import show_or_table, show_record, table
from strata.client import MemoryClient
from strata.client.transport import quoted
from strata.maintenance.page import render

AGENT_COLUMNS = ("agent_id", "writes", "past_writes", "reads", "near_duplicate_rate", "flags")
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
    show_or_table(asdict(found), rows, ("kind", "memory_id", "version", "seq", "collection", "agent_id"), json_=as_json)
    click.echo(f"{found.events} events, {found.memories} memories, {found.versions} versions", err=True)
    raise SystemExit(0 if found.is_whole else 1)


@audit.command()
@click.argument("week")
@click.option("--html", type=click.Path(dir_okay=False, path_type=Path), help="Also write the page to this file.")
@as_json
def make(week: str, html: Path | None, *, as_json: bool) -> None:
    """Make the report of a week such as 2026-W10 now."""
    with product() as runtime:
        report = runtime.audits.make(access(runtime).tenant, week)
    if html:
        html.write_text(render(report), encoding="utf-8")
    _show(report, json_=as_json)


@audit.command("list")
@as_json
@connected
def list_reports(client: MemoryClient, *, as_json: bool) -> None:
    """List the weeks of which there is a report."""
    found = client.call("GET", "/v1/audits")
    show_or_table(found, [{"week": week} for week in found["weeks"]], ("week",), json_=as_json)


@audit.command("show")
@click.argument("week")
@as_json
@connected
def show_report(client: MemoryClient, week: str, *, as_json: bool) -> None:
    """Show a weekly report."""
    report = client.call("GET", f"/v1/audits/{quoted(week)}")["report"]
    _show(report, json_=as_json)


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


def _show(report: Mapping[str, Any], *, json_: bool) -> None:
    """Print a report whole as JSON; for people what happened, and who wrote how much."""
    if json_:
        show_record(report, json_=True)
        return
    keys = ("week", "totals", "never_read", "near_duplicates")
    show_record({key: report[key] for key in keys}, json_=False)
    table(report["agents"], AGENT_COLUMNS, title="Agents")
    table(report["conflicts"], ("memory_id", "collection", "conflicts"), title="Conflicts")
