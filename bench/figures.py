"""How figures are put together and told: least, middle and most of many, and tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from statistics import mean, median

from rich.console import Console
from rich.table import Table

Spread = dict[str, float]


def spread(values: Iterable[float], digits: int = 2) -> Spread:
    """How many there are, their least, median and most; only the count where there are none."""
    found = list(values)
    if not found:
        return {"count": 0}
    return {
        "count": len(found),
        "min": round(min(found), digits),
        "median": round(median(found), digits),
        "max": round(max(found), digits),
    }


def told(found: Mapping[str, float], unit: str = "") -> str:
    """A spread in a cell: ``3.1 / 3.4 / 4.0 s``."""
    if not found.get("count"):
        return "none"
    return " / ".join(f"{found[key]:g}" for key in ("min", "median", "max")) + (f" {unit}" if unit else "")


def by_name(calls: Sequence[Counter[str]]) -> dict[str, float]:
    """The mean number of each call over zones."""
    names = sorted(set().union(*calls))
    return {name: round(mean(one[name] for one in calls), 2) for name in names}


def show(console: Console, title: str, rows: Iterable[tuple[str, object]]) -> None:
    """A table of measures and their values."""
    table = Table("measure", "value", title=title)
    for name, value in rows:
        table.add_row(name, str(value))
    console.print(table)
