"""The page of docs: which code was measured, the tables, and the pictures beside it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bench.fleet import figures, parts
from bench.fleet.kept import ROOT
from bench.fleet.picture import line_chart
from bench.fleet.tables import (
    markdown,
    markdown_cpu,
    markdown_faults,
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
    paced = [one for name, one in measured.items() if name.startswith("paced") or name == "crowd"]
    if engine is not None:
        paced.insert(0, engine["paced"])
    if paced:
        blocks += ["## At the rate limit", markdown(paced)]
    if processes := _of("processes-", measured):
        blocks += ["## Processes of one user", markdown_processes(processes)]
    if "stuck" in measured:
        blocks += ["## Stopping what is stuck", markdown_stuck(measured["stuck"])]
    if "users" in measured:
        blocks += ["## Users side by side", markdown_users(measured["users"])]
    if engine is not None:
        blocks += ["## Without a limit, beside other flows", _engine(engine)]
    if cpu := _of("cpu-", measured):
        blocks += ["## CPU a zone", markdown_cpu(cpu)]
    if faults := _of("faults-", measured):
        blocks += ["## With faults", markdown_faults(faults)]
    if "many" in measured:
        blocks += ["## One campaign over many zones", markdown_many(measured["many"])]
    if pictures:
        blocks += ["## Over time", *(f"![{_title(name)}]({IMAGES}/{name})" for name in pictures)]
    missed = [*found["missed"], *_missed(engine)]
    blocks += ["## Goals that were missed", "\n".join(f"- {one}" for one in missed) or "None."]
    return "\n\n".join(blocks)


def _missed(engine: Found | None) -> list[str]:
    """The goals that `make bench` misses."""
    if engine is None:
        return []
    naive = figures.missed(engine, {"ratio_to_naive": (">=", 1)})
    return [*parts.missed({"paced": engine["paced"]}), *naive]


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


def drawn(measured: Mapping[str, Any]) -> dict[str, str]:
    """The pictures by their file names: calls a second and the workers' memory."""
    found = {}
    for name, one in measured.items():
        for what, points in one.get("plots", {}).items():
            if points and name.startswith("paced"):
                file = f"fleet-{name}-{what.replace('_', '-')}.svg"
                limit = None
                if what == "calls_per_second" and (busiest := one.get("busiest_window")):
                    limit = busiest["allowed"] * one["course"]["scale"] / 300.0
                found[file] = line_chart(_title(file), points, limit=limit)
    if many := measured.get("many"):
        for stage in ("waiting", "migrated"):
            if points := many[stage]["plot_rss_mb"]:
                file = f"fleet-many-{stage}-worker-rss-mb.svg"
                found[file] = line_chart(_title(file), points)
    return found


def _title(file: str) -> str:
    return (
        file.removeprefix("fleet-").removesuffix(".svg").replace("-", " ").replace("rss mb", "memory in MB")
    )
