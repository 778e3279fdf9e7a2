"""Charts as SVG, drawn from numbers: nothing is loaded, no script runs, every text is escaped. Pure."""

import math
from collections.abc import Mapping, Sequence
from html import escape

WIDTH, HEIGHT, GAP = 720, 200, 10
LEFT, ABOVE, BELOW = 44, 18, 26
"""Room for the numbers of the axis, above the columns, and for the names of the days."""
NAME_WIDTH, BAR, MOST_BARS = 220, 24, 20
MAX_NAME_CHARS = 28
LINES = 4


def stacked(rows: Sequence[Mapping[str, int | str]], parts: Mapping[str, str], *, label: str) -> str:
    """Return one column for each row, its parts on top of each other; ``parts``: from name to colour."""
    sums = [sum(_number(row, part) for part in parts) for row in rows]
    top = rounded_up(max(sums, default=0))
    step = (WIDTH - LEFT) / max(1, len(rows))
    columns = [
        _column(row, parts, (LEFT + place * step + GAP / 2, step - GAP), top, total, str(row[label]))
        for place, (row, total) in enumerate(zip(rows, sums, strict=True))
    ]
    return _svg(HEIGHT + BELOW, _axis(top) + "".join(columns), above=ABOVE)


def bars(values: Sequence[tuple[str, float]], *, colour: str, marked: Sequence[str] = (), unit: str = "") -> str:
    """Return one horizontal bar for each value, most first; those ``marked`` stand out."""
    ordered = sorted(values, key=lambda value: (-value[1], value[0]))[:MOST_BARS]
    if not ordered:
        return '<p class="none">Nothing this week.</p>'
    longest = max(value for _name, value in ordered) or 1
    drawn = [_bar(place, one, longest, colour, unit, one[0] in marked) for place, one in enumerate(ordered)]
    return _svg(len(ordered) * BAR, "".join(drawn))


def share(part: int, whole: int, *, colour: str) -> str:
    """Return one bar that is filled to the share a part has of the whole."""
    filled = WIDTH * part / whole if whole else 0
    back = f'<rect class="back" x="0" y="0" width="{WIDTH}" height="16" rx="4"/>'
    front = f'<rect x="0" y="0" width="{filled:.1f}" height="16" rx="4" fill="{colour}"/>'
    return _svg(16, back + front)


def rounded_up(value: int) -> int:
    """Return the next number that the lines of an axis divide into steps that are easy to read."""
    step = max(1, math.ceil(value / LINES))
    unit = max(1, int(10 ** (len(str(step)) - 1)) // 2)
    return math.ceil(step / unit) * unit * LINES


def short(name: str) -> str:
    """Return a name that fits beside a bar."""
    return name if len(name) <= MAX_NAME_CHARS else f"{name[: MAX_NAME_CHARS - 1]}…"


def _svg(height: int, inside: str, *, above: int = 0) -> str:
    return f'<svg viewBox="0 {-above} {WIDTH} {height + above}" role="img">{inside}</svg>'


def _axis(top: int) -> str:
    drawn = []
    for line in range(LINES + 1):
        y = HEIGHT - HEIGHT * line / LINES
        drawn.append(f'<line class="grid" x1="{LEFT}" y1="{y:.1f}" x2="{WIDTH}" y2="{y:.1f}"/>')
        drawn.append(f'<text class="tick" x="{LEFT - 6}" y="{y + 4:.1f}">{top * line // LINES}</text>')
    return "".join(drawn)


def _column(
    row: Mapping[str, int | str],
    parts: Mapping[str, str],
    place: tuple[float, float],
    top: int,
    total: int,
    label: str,
) -> str:
    (left, width), y, drawn = place, float(HEIGHT), []
    for part, colour in parts.items():
        height = HEIGHT * _number(row, part) / top
        y -= height
        shape = f'x="{left:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" fill="{colour}"'
        drawn.append(f"<rect {shape}><title>{escape(f'{label} {part}: {row.get(part, 0)}')}</title></rect>")
    middle = left + width / 2
    drawn.append(f'<text class="total" x="{middle:.1f}" y="{y - 4:.1f}">{total or ""}</text>')
    drawn.append(f'<text class="day" x="{middle:.1f}" y="{HEIGHT + 18}">{escape(label[5:])}</text>')
    return "".join(drawn)


def _bar(place: int, one: tuple[str, float], longest: float, colour: str, unit: str, marked: bool) -> str:  # noqa: FBT001 drawn once
    name, value = one
    top, length = place * BAR, (WIDTH - NAME_WIDTH - 70) * value / longest
    kind = ' class="marked"' if marked else f' fill="{colour}"'
    return (
        f'<text x="0" y="{top + 16}">{escape(short(name))}<title>{escape(name)}</title></text>'
        f'<rect{kind} x="{NAME_WIDTH}" y="{top + 4}" width="{length:.1f}" height="16" rx="3"/>'
        f'<text x="{NAME_WIDTH + 6 + length:.1f}" y="{top + 16}">{value:g}{unit}</text>'
    )


def _number(row: Mapping[str, int | str], part: str) -> int:
    return int(row.get(part, 0))
