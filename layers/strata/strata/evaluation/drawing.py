"""Charts as inline SVG; colours come from the page, so that they follow light and dark."""

import math
from collections.abc import Callable, Sequence
from html import escape

from strata.evaluation.report import Curves, Distribution
from strata.evaluation.statistics import percentile

WIDTH, HEIGHT = 720, 300
LEFT, RIGHT, TOP, BOTTOM = 52, 190, 12, 42
COLOURS = 8
SHARES = tuple(step / 50 for step in range(51))
TICKS = 5

Points = Sequence[tuple[float, float]]
Place = Callable[[float], float]


def drawn(plot: Curves | Distribution) -> str:
    """Return a chart with its caption."""
    curves = plot if isinstance(plot, Curves) else _cumulative(plot)
    return f"<figcaption>{escape(curves.title)}</figcaption>{_chart(curves)}"


def _cumulative(plot: Distribution) -> Curves:
    lines = {
        name: [(percentile(values, share), share) for share in SHARES] for name, values in plot.values.items() if values
    }
    return Curves(title=plot.title, x=plot.x, y="share of calls", lines=lines, x_is_logarithmic=True)


def _chart(curves: Curves) -> str:
    points = [point for line in curves.lines.values() for point in line]
    if not points:
        return "<p>–</p>"
    across = _scale([x for x, _ in points], curves.x_is_logarithmic, LEFT, WIDTH - RIGHT)
    top = 1.0 if curves.y_is_fraction else max(y for _, y in points) or 1.0
    up = _scale([0.0, top], False, HEIGHT - BOTTOM, TOP)  # noqa: FBT003 a plain axis
    body = _grid(curves, across, up, top) + "".join(
        _line(place, name, line, across, up) for place, (name, line) in enumerate(curves.lines.items())
    )
    label = escape(f"{curves.title}: {curves.y} over {curves.x}")
    return f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{label}">{body}</svg>'


def _scale(values: Sequence[float], logarithmic: bool, start: float, end: float) -> Place:  # noqa: FBT001 private
    floor = min((value for value in values if value > 0), default=1.0)

    def bent(value: float) -> float:
        return math.log(max(value, floor)) if logarithmic else value

    low, high = bent(min(values)), bent(max(values))
    span = (high - low) or 1.0
    return lambda value: start + (end - start) * (bent(value) - low) / span


def _grid(curves: Curves, across: Place, up: Place, top: float) -> str:
    parts = []
    for step in range(TICKS + 1):
        value = top * step / TICKS
        y, shown = up(value), f"{value:.0%}" if curves.y_is_fraction else f"{value:.3g}"
        parts.append(f'<line class="grid" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>')
        parts.append(f'<text class="faint" x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{shown}</text>')
    parts += [
        f'<text class="faint" x="{across(x):.1f}" y="{HEIGHT - BOTTOM + 16}" text-anchor="middle">{x:.4g}</text>'
        for x in _ticks(curves)
    ]
    middle = (LEFT + WIDTH - RIGHT) / 2
    parts.append(
        f'<text class="faint" x="{middle}" y="{HEIGHT - 6}" text-anchor="middle">'
        f"{escape(curves.x)} · {escape(curves.y)} upwards</text>"
    )
    return "".join(parts)


def _ticks(curves: Curves) -> list[float]:
    """Return the x values worth a number: those of the points if they are few, else some between the ends."""
    values = sorted({x for line in curves.lines.values() for x, _ in line})
    if len(values) <= TICKS + 2:
        return values
    low, high = values[0], values[-1]
    if not curves.x_is_logarithmic:
        return [low + (high - low) * step / TICKS for step in range(TICKS + 1)]
    low = max(low, min(value for value in values if value > 0), high / 1e6) if high > 0 else 1.0
    return [low * (max(high, low) / low) ** (step / TICKS) for step in range(TICKS + 1)]


def _line(place: int, name: str, points: Points, across: Place, up: Place) -> str:
    colour = f"var(--c{place % COLOURS})"
    path = " ".join(f"{across(x):.1f},{up(y):.1f}" for x, y in points)
    dashes = ' stroke-dasharray="5 4"' if place >= COLOURS else ""
    y = TOP + 10 + 18 * place
    left = WIDTH - RIGHT + 12
    dots = "".join(
        f'<circle cx="{across(x):.1f}" cy="{up(y_):.1f}" r="3" fill="{colour}">'
        f"<title>{escape(name)}: {x:.4g} → {y_:.4g}</title></circle>"
        for x, y_ in (points if len(points) <= 2 * COLOURS else ())
    )
    return (
        f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"{dashes}/>{dots}'
        f'<line x1="{left}" x2="{left + 20}" y1="{y}" y2="{y}" stroke="{colour}" stroke-width="3"/>'
        f'<text x="{left + 26}" y="{y + 4}">{escape(name)}</text>'
    )
