"""The weekly report as one page that needs nothing else: its charts are drawn into it, and no script runs."""

import json
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from string import Template
from typing import Any

WIDTH, HEIGHT, GAP = 640, 180, 6
MAX_NAME_CHARS = 26
SHOWN_PER_DAY = ("inserted", "updated", "superseded", "deleted", "purged", "rolled_back")
COLOURS = ("#2f6f4f", "#4a7fb5", "#b58a2f", "#a94442", "#777777", "#7a4fa3")
_PAGE = Path(__file__).parent / "data" / "report.html"


def render(report: Mapping[str, Any]) -> str:
    """Return the whole page; every text of the report is escaped."""
    return Template(_PAGE.read_text(encoding="utf-8")).substitute(
        title=escape(f"{report['tenant']} · {report['week']}"),
        totals=_facts(report),
        per_day=stacked_bars(report["days"], SHOWN_PER_DAY, label="day"),
        legend=_legend(SHOWN_PER_DAY),
        writes=bars([(agent["agent_id"], agent["writes"]) for agent in report["agents"]]),
        agents=_agents(report["agents"]),
        conflicts=bars([(one["memory_id"], one["conflicts"]) for one in report["conflicts"]]),
        trail=escape(f"{report['trail']['seq']} {report['trail']['hash']}"),
    )


def stacked_bars(rows: Sequence[Mapping[str, Any]], parts: Sequence[str], *, label: str) -> str:
    """Return a chart with one column for each row, its parts on top of each other."""
    tallest = max([sum(row.get(part, 0) for part in parts) for row in rows], default=0) or 1
    step = WIDTH / max(1, len(rows))
    drawn = (_column(row, parts, place * step, step - GAP, tallest, str(row[label])) for place, row in enumerate(rows))
    return f'<svg viewBox="0 0 {WIDTH} {HEIGHT + 20}" role="img">{"".join(drawn)}</svg>'


def bars(values: Sequence[tuple[str, int]]) -> str:
    """Return a chart with one horizontal bar for each value, most first."""
    ordered = sorted(values, key=lambda value: (-value[1], value[0]))[:20]
    if not ordered:
        return "<p>–</p>"
    longest = max(value for _name, value in ordered) or 1
    drawn = []
    for place, (name, value) in enumerate(ordered):
        top, length = place * 22, round((WIDTH - 260) * value / longest, 1)
        drawn.append(
            f'<text x="0" y="{top + 14}">{escape(_short(name))}</text>'
            f'<rect x="200" y="{top + 3}" width="{length}" height="14" fill="{COLOURS[1]}"/>'
            f'<text x="{206 + length}" y="{top + 14}">{value}</text>'
        )
    return f'<svg viewBox="0 0 {WIDTH} {len(ordered) * 22}" role="img">{"".join(drawn)}</svg>'


def _column(row: Mapping[str, Any], parts: Sequence[str], left: float, width: float, tallest: int, label: str) -> str:
    drawn, top = [], float(HEIGHT)
    for part, colour in zip(parts, COLOURS, strict=True):
        height = HEIGHT * row.get(part, 0) / tallest
        top -= height
        shape = f'x="{left:.1f}" y="{top:.1f}" width="{width:.1f}" height="{height:.1f}" fill="{colour}"'
        drawn.append(f"<rect {shape}><title>{escape(part)}: {row.get(part, 0)}</title></rect>")
    return "".join(drawn) + f'<text x="{left:.1f}" y="{HEIGHT + 15}">{escape(label[5:])}</text>'


def _legend(parts: Sequence[str]) -> str:
    return " ".join(f'<span style="color:{c}">■ {escape(part)}</span>' for part, c in zip(parts, COLOURS, strict=True))


def _facts(report: Mapping[str, Any]) -> str:
    unread, near = report["never_read"], report["near_duplicates"]
    facts = {**report["totals"]}
    facts["never read"] = f"{unread['never_read']} of {unread['live']} ({unread['rate']:.0%})"
    facts["near duplicates"] = f"{near['near_duplicates']} of {near['looked_at']} ({near['rate']:.0%})"
    return "".join(f"<dt>{escape(str(name))}</dt><dd>{escape(str(value))}</dd>" for name, value in facts.items())


def _agents(agents: Sequence[Mapping[str, Any]]) -> str:
    rows = []
    for agent in agents:
        past = " · ".join(str(count) for count in agent["past_writes"])
        cells = (agent["agent_id"], agent["writes"], past, agent["reads"], f"{agent['near_duplicate_rate']:.0%}")
        flagged = ", ".join(agent["flags"])
        marked = ' class="flagged"' if flagged else ""
        row = "".join(f"<td>{escape(str(cell))}</td>" for cell in (*cells, flagged))
        rows.append(f"<tr{marked}>{row}</tr>")
    return "".join(rows)


def _short(name: str) -> str:
    return name if len(name) <= MAX_NAME_CHARS else f"{name[: MAX_NAME_CHARS - 1]}…"


def as_json(report: Mapping[str, Any]) -> bytes:
    """Return the report as a JSON document in UTF-8."""
    return json.dumps(report, ensure_ascii=False, indent=2).encode()
