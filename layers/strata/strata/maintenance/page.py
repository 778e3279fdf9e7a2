"""The weekly report as one page that needs nothing else: its charts are drawn into it, and no script runs."""

import json
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from string import Template
from typing import Any

from strata.maintenance.charts import bars, share, stacked

PER_DAY = {
    "inserted": "#2f7d5b",
    "updated": "#3f7fc1",
    "expired": "#8a8f98",
    "superseded": "#8d6bc0",
    "rolled_back": "#d08a2e",
    "deleted": "#b4493f",
}
"""What is shown of each day, with its colour."""
WRITES, DUPLICATES, UNREAD, CONFLICTS = "#3f7fc1", "#d08a2e", "#8a8f98", "#b4493f"
AGAINST = {"peers": "its peers", "own_past": "its own past"}
_PAGE = Path(__file__).parent / "data" / "report.html"


def render(report: Mapping[str, Any]) -> str:
    """Return the whole page; every text of the report is escaped."""
    agents, unread, near = report["agents"], report["never_read"], report["near_duplicates"]
    flagged = [agent["agent_id"] for agent in agents if agent["flags"]]
    rates = [(agent["agent_id"], round(100 * agent["near_duplicate_rate"], 1)) for agent in agents]
    return Template(_PAGE.read_text(encoding="utf-8")).substitute(
        title=escape(f"{report['tenant']} · {report['week']}"),
        span=escape(f"{report['from'][:10]} – {report['days'][-1]['day']}, UTC. Made {report['made_at'][:16]}Z."),
        facts=_facts(report),
        warning=_warning(agents),
        per_day=stacked(report["days"], PER_DAY, label="day"),
        legend=_legend(),
        writes=bars([(agent["agent_id"], agent["writes"]) for agent in agents], colour=WRITES, marked=flagged),
        agents=_agents(agents),
        duplicates=bars([rate for rate in rates if rate[1]], colour=DUPLICATES, unit=" %"),
        near=_share_of(near["near_duplicates"], near["looked_at"], "of the memories written this week"),
        unread=share(unread["never_read"], unread["live"], colour=UNREAD),
        never_read=_share_of(unread["never_read"], unread["live"], "of the memories in sight"),
        conflicts=bars([(one["memory_id"], one["conflicts"]) for one in report["conflicts"]], colour=CONFLICTS),
        trail=escape(f"{report['trail']['seq']} {report['trail']['hash']}"),
    )


def as_json(report: Mapping[str, Any]) -> bytes:
    """Return the report as a JSON document in UTF-8."""
    return json.dumps(report, ensure_ascii=False, indent=2).encode()


def _facts(report: Mapping[str, Any]) -> str:
    totals = report["totals"]
    names = ["inserted", "updated", "expired", "rolled_back", *sorted(totals)]
    shown = {name: totals.get(name, 0) for name in names}
    return "".join(
        f"<div><b>{count}</b><span>{escape(name.replace('_', ' '))}</span></div>" for name, count in shown.items()
    )


def _warning(agents: Sequence[Mapping[str, Any]]) -> str:
    lines = []
    for agent in (agent for agent in agents if agent["flags"]):
        against = " and ".join(AGAINST.get(flag, flag) for flag in agent["flags"])
        rate = f"{agent['near_duplicate_rate']:.0%}"
        wrote = f"<b>{escape(agent['agent_id'])}</b> wrote {agent['writes']} memories, far more than {escape(against)}"
        lines.append(f"<li>{wrote}: {rate} of them were nearly there already. Are its duplicates recognised?</li>")
    return f'<ul class="warning">{"".join(lines)}</ul>' if lines else ""


def _legend() -> str:
    named = ((part.replace("_", " "), colour) for part, colour in PER_DAY.items())
    return "".join(f'<span><i style="background:{colour}"></i>{escape(name)}</span>' for name, colour in named)


def _share_of(part: int, whole: int, what: str) -> str:
    rate = f" ({part / whole:.0%})" if whole else ""
    return escape(f"{part} of {whole}{rate} {what}")


def _agents(agents: Sequence[Mapping[str, Any]]) -> str:
    rows = []
    for agent in agents:
        past = " · ".join(str(count) for count in agent["past_writes"])
        flagged = ", ".join(AGAINST.get(flag, flag) for flag in agent["flags"])
        cells = (
            agent["agent_id"],
            agent["writes"],
            past,
            agent["reads"],
            f"{agent['near_duplicate_rate']:.0%}",
            flagged,
        )
        row = "".join(f"<td>{escape(str(cell))}</td>" for cell in cells)
        rows.append(f'<tr class="{"flagged" if flagged else "calm"}">{row}</tr>')
    return "".join(rows)
