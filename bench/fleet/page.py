"""The page of docs: which code was measured, the tables, and the pictures beside it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from bench.fleet import goals
from bench.fleet.kept import ROOT
from bench.fleet.labels import base_of, slug
from bench.fleet.picture import line_chart
from bench.fleet.tables import (
    markdown,
    markdown_cpu,
    markdown_faults,
    markdown_goals,
    markdown_many,
    markdown_processes,
    markdown_stuck,
    markdown_users,
)

PAGE = ROOT / "docs" / "performance.md"
IMAGES = "images"
BEGIN, END = "<!-- fleet:begin -->", "<!-- fleet:end -->"

Found = Mapping[str, Any]


def put(page: Path, found: Found, engine: Found | None) -> None:
    """Put the tables into the page, between their marks, and its pictures beside it. ``found``: what is in
    out/bench-fleet.json; ``engine``: in out/bench-waf.json, if it is there. Raises ValueError for a page
    without marks.
    """
    content = page.read_text()
    if BEGIN not in content or END not in content:
        raise ValueError(f"{page} has no {BEGIN} and {END}, between which the tables go")
    before, _, rest = content.partition(BEGIN)
    _, _, after = rest.partition(END)
    pictures = drawn({**({"paced": engine["paced"]} if engine else {}), **found["parts"]})
    for name, svg in pictures.items():
        folder = page.parent / IMAGES
        folder.mkdir(exist_ok=True)
        (folder / name).write_text(svg)
    page.write_text(f"{before}{BEGIN}\n{text(found, engine, list(pictures))}\n{END}{after}")


def text(found: Found, engine: Found | None, pictures: list[str]) -> str:
    """What stands between the marks, in Markdown."""
    measured: Mapping[str, Any] = found["parts"]
    blocks = [
        f"Measured at {found['measured_at']}, commit {found['commit']} (digest of the code"
        f" `{found['code'][:12]}`), on {found['cores']} cores."
    ]
    paced = {"paced": engine["paced"]} if engine is not None else {}
    paced |= {name: one for name, one in measured.items() if _at_the_limit(name)}
    if paced:
        blocks += ["## At the rate limit", markdown(paced)]
    if processes := _of("processes-", measured):
        blocks += ["## Processes of one user", markdown_processes(processes)]
    blocks += _each("stuck", "Stopping what is stuck", markdown_stuck, measured)
    blocks += _each("users", "Users side by side", markdown_users, measured)
    if engine is not None:
        blocks += ["## Without a limit, beside other flows", _engine(engine)]
    if cpu := _of("cpu-", measured):
        blocks += ["## CPU a zone", markdown_cpu(cpu)]
    if faults := _of("faults-", measured):
        blocks += ["## With faults", markdown_faults(faults)]
    blocks += _each("many", "One campaign over many zones", markdown_many, measured)
    if pictures:
        blocks += ["## Over time", *(f"![{_title(name)}]({IMAGES}/{name})" for name in pictures)]
    verdicts = goals.verdicts_of_bench(engine) if engine is not None else []
    missed = [*found["missed"], *goals.missed(verdicts)]
    judged = [*(one.plain() for one in verdicts), *found["goals"]]
    if judged:
        blocks += ["## Goals", markdown_goals(judged)]
    blocks += ["## Goals that were missed", "\n".join(f"- {one}" for one in missed) or "None."]
    return "\n\n".join(blocks)


def _at_the_limit(label: str) -> bool:
    return base_of(label).startswith("paced") or base_of(label) == "crowd"


def _each(name: str, title: str, table: Callable[[Found], str], measured: Mapping[str, Found]) -> list[str]:
    """A table for each measurement of a part."""
    blocks = []
    for label, one in measured.items():
        if base_of(label) == name:
            blocks += [f"## {title}{label.removeprefix(name)}", table(one)]
    return blocks


def _engine(engine: Found) -> str:
    rows = [
        ("bare workflows with as many activities, all empty", engine["bare_per_second"]),
        ("ratio", engine["ratio_to_bare"]),
        ("edgeshift, after a plan", engine["zones_per_second"]),
        ("a naive flow, without gates, that makes five calls a zone", engine["naive_per_second"]),
        ("ratio (goal ≥ 1)", engine["ratio_to_naive"]),
    ]
    lines = (f"| {name} | {value} |" for name, value in rows)
    return "\n".join(["| Professional zones a second | |", "|---|---|", *lines])


def _of(prefix: str, measured: Mapping[str, Any]) -> dict[str, Found]:
    return {name: one for name, one in measured.items() if name.startswith(prefix)}


def drawn(measured: Mapping[str, Found]) -> dict[str, str]:
    """The pictures by their file names: of campaigns calls a second, the workers' memory, the campaign's
    state and its run's history; of one over many zones the same in two of its stages, but for the calls.
    """
    found: dict[str, str] = {}
    for label, one in measured.items():
        for what, points in one.get("plots", {}).items():
            if points and _at_the_limit(label):
                limit = None
                if what == "calls_per_second" and (busiest := one.get("busiest_window")):
                    limit = busiest["allowed"] * one["course"]["scale"] / 300.0
                found |= _picture(label, what, points, limit)
        if base_of(label) == "many":
            for stage in ("waiting", "migrated"):
                for what, points in one[stage]["plots"].items():
                    if points:
                        found |= _picture(f"{label} {stage}", what, points)
    return found


WHAT = {
    "calls_per_second": "calls per second",
    "worker_rss_mb": "workers' memory in MB",
    "campaign_state_bytes": "state of the campaign in bytes",
    "campaign_history_events": "history events of the campaign's run",
}
"""What is drawn."""


def _picture(
    label: str, what: str, points: Sequence[tuple[float, float]], limit: float | None = None
) -> dict[str, str]:
    file = f"fleet-{slug(label)}-{what.replace('_', '-')}.svg"
    return {file: line_chart(f"{label}: {WHAT[what]}", points, limit=limit)}


def _title(file: str) -> str:
    """What a picture shows, by the name of its file."""
    name = file.removeprefix("fleet-").removesuffix(".svg")
    for what, text in WHAT.items():
        if (end := f"-{what.replace('_', '-')}") and name.endswith(end):
            return f"{name.removesuffix(end)}: {text}"
    return name
