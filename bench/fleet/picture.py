"""A series as a small SVG picture: one line over seconds."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from math import ceil, floor, log10

WIDTH, HEIGHT, LEFT, BOTTOM, TOP, RIGHT = 640, 220, 60, 36, 30, 14


def line_chart(title: str, points: Sequence[tuple[float, float]], *, limit: float | None = None) -> str:
    """The points as a line, from 0 up; ``limit``: a dashed line. Raises ValueError without points."""
    if not points:
        raise ValueError(f"nothing to draw: {title}")
    most_x = max(x for x, _ in points) or 1.0
    top = _round_up(max([*(y for _, y in points), limit or 0.0]))

    def at(x: float, y: float) -> str:
        across = LEFT + (WIDTH - LEFT - RIGHT) * x / most_x
        down = HEIGHT - BOTTOM - (HEIGHT - BOTTOM - TOP) * y / top
        return f"{across:.1f},{down:.1f}"

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img"'
        f' aria-label="{escape(title)}" font-family="sans-serif" font-size="12">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>',
        f'<text x="{LEFT}" y="18" font-size="13">{escape(title)}</text>',
    ]
    for share in (0.0, 0.5, 1.0):
        _, down = at(0, top * share).split(",")
        parts.append(
            f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{down}" y2="{down}" stroke="#ddd"/>'
            f'<text x="{LEFT - 8}" y="{down}" dy="4" text-anchor="end">{top * share:,.4g}</text>'
        )
        across, _ = at(most_x * share, 0).split(",")
        parts.append(
            f'<text x="{across}" y="{HEIGHT - 14}" text-anchor="middle">{most_x * share:,.0f} s</text>'
        )
    if limit is not None:
        begin, end = at(0, limit).split(","), at(most_x, limit).split(",")
        parts.append(
            f'<line x1="{begin[0]}" x2="{end[0]}" y1="{begin[1]}" y2="{end[1]}" stroke="#b00"'
            ' stroke-dasharray="5 4"/>'
        )
    line = " ".join(at(x, y) for x, y in points)
    parts.append(f'<polyline points="{line}" fill="none" stroke="#135" stroke-width="1.5"/>')
    return "\n".join([*parts, "</svg>", ""])


def _round_up(value: float) -> float:
    """The next number that is easy to read: 1, 2, 2.5 or 5 times a power of ten."""
    if value <= 0:
        return 1.0
    power = 10.0 ** floor(log10(value))
    return next(
        (step * power for step in (1, 2, 2.5, 5, 10) if value <= step * power), ceil(value / power) * power
    )
