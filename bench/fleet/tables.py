"""The figures of measured campaigns as tables: for a terminal, and in Markdown for docs/performance.md."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from rich.console import Console

from bench.figures import show
from bench.fleet.goals import SECONDS, with_broken
from bench.fleet.labels import varied

Found = Mapping[str, Any]
Row = tuple[str, Callable[[Found], object], str]

ROWS: tuple[Row, ...] = (
    ("zones; workers", lambda one: f"{one['zones']:,}; {one['course']['workers']}", ""),
    ("window", lambda one: one["window"], ""),
    (
        "makespan, seconds; of which paused",
        lambda one: f"{one['makespan_seconds']}; {one['paused_seconds']}",
        "",
    ),
    ("makespan ratio", lambda one: one["makespan_ratio"], "≤ 1.05"),
    ("… with the pauses", lambda one: one.get("makespan_ratio_with_pauses"), ""),
    ("quota used over ten whole windows", lambda one: one.get("quota_ten_windows"), "≥ 0.98"),
    ("… while there is work", lambda one: one["quota_used"], ""),
    ("… by the plan", lambda one: one.get("quota_used_plan"), ""),
    ("own 429s", lambda one: one["own_429"], "0"),
    ("calls in the busiest window; allowed", lambda one: _busiest(one), "≤ 1 more"),
    ("calls of a Professional zone", lambda one: one["calls_per_zone"]["pro"], "≤ 5.1"),
    ("calls of an Enterprise zone", lambda one: one["calls_per_zone"]["enterprise"], "≤ 9.2"),
    ("… of its evidence, beside them", lambda one: one["calls_per_zone"]["evidence"], ""),
    ("calls of the plan, a zone", lambda one: one["calls_per_zone"]["plan"], "≤ 11"),
    ("sign-off answered, p99, seconds", lambda one: one["answer_p99_seconds"]["sign_off"], "≤ 1"),
    ("pause answered, p99, seconds", lambda one: one["answer_p99_seconds"]["pause"], "≤ 1"),
    ("status answered, p99, seconds", lambda one: one["answer_p99_seconds"]["status"], "≤ 1"),
    ("questions; without an answer", lambda one: _questions(one), "0"),
    ("most zones at work; waiting", lambda one: _peaks(one), ""),
    ("zones at work in the fullest moment; waiting then", lambda one: _fullest(one), ""),
    ("largest state, bytes", lambda one: one["state_bytes"], "< 256,000"),
    ("most events of a run", lambda one: one["history_events_per_run"], ""),
    ("history events of a zone", lambda one: _events(one), "≤ 23; ≤ 36"),
    ("workers' memory, MB; growth at the end", lambda one: _memory(one), "× ≤ 1.15"),
    ("workers' CPU a zone, seconds", lambda one: one["worker_cpu_per_zone"], "≤ 0.06"),
    ("… of the plan", lambda one: one["plan_cpu_per_zone"], ""),
    ("lost zones", lambda one: one["lost"], "0"),
    ("rules broken, of 11", lambda one: with_broken(one)["rules_broken"], "0"),
)
"""What is told of a campaign: name, value, goal of one at the limit."""


def _busiest(one: Found) -> str:
    busiest = one.get("busiest_window")
    return f"{busiest['calls']:,}; {busiest['allowed']:,}" if busiest else ""


def _questions(one: Found) -> str:
    asked = sum(found["count"] for found in one["answer_seconds"].values())
    return f"{asked:,.0f}; {sum(one['unanswered'].values()):,}"


def _peaks(one: Found) -> str:
    peaks = one["peaks"]
    return f"{peaks['at_work']:,}; {peaks.get('awaiting', 0):,}"


def _fullest(one: Found) -> str:
    return f"{one['fullest']['at_work']:,}; {one['fullest']['awaiting']:,}"


def _events(one: Found) -> str:
    spreads = one["history_events_per_zone"]
    return "; ".join(
        f"{spreads[plan]['median']:g} ({plan})" for plan in ("pro", "enterprise") if plan in spreads
    )


def _memory(one: Found) -> str:
    return f"{one['worker_rss_mb']}; × {one['worker_rss_growth']}"


def show_course(console: Console, one: Found) -> None:
    """A campaign's figures, and the rules that were broken, in a terminal."""
    rows = [(name, f"{_text(value(one))}{f'  (goal {goal})' if goal else ''}") for name, value, goal in ROWS]
    show(console, f"{one['zones']:,} zones, {one['course']['name']}", rows)
    for rule in one["rules"]:
        for text in rule["violations"]:
            console.print(f"rule {rule['rule']} ({rule['title']}): {text}", markup=False)

    if "users" in one:
        show(console, f"{one['users']} users side by side, the last one out for a while", _users(one))


def show_goals(console: Console, goals: Sequence[Found]) -> None:
    """The goals of a part (``Verdict.plain``), met or not met, in a terminal."""
    rows = [(f"{one['figure']}  (goal {one['goal']})", _met(one)) for one in goals]
    show(console, "Goals", rows)


def _met(one: Found) -> str:
    said = "met" if one["met"] else "not met"
    why = f" ({one['by_design']})" if one["by_design"] else ""
    return f"{said}: {_text(one['value'])}{why}" if one["value"] is not None else f"{said}: not measured"


def markdown_goals(goals: Sequence[Found]) -> str:
    """Every goal, met or not met."""
    lines = ["| Part | Figure | Goal | Measured | |", "|---|---|---|---|---|"]
    for one in goals:
        figure, goal = f"`{one['figure']}`", one["goal"].replace("<=", "≤").replace(">=", "≥")
        value = _text(one["value"])
        why = f": {one['by_design']}" if one["by_design"] else ""
        said = "met" if one["met"] else f"**not met**{why}"
        lines.append(f"| {one['part']} | {figure} | {goal} | {value} | {said} |")
    return "\n".join(lines)


def _users(one: Found) -> list[tuple[str, object]]:
    by_user = [f"{used:.1%}" if used is not None else "none" for used in one["quota_used_by_user"].values()]
    return [
        ("quota used, of each user's own limit", "; ".join(by_user)),
        ("seconds of the last one's outage", one.get("outage_seconds")),
        ("what the others used then, in what they used before (goal ≥ 0.98)", one.get("others_kept")),
        ("calls of the last one in vain", one.get("calls_in_vain")),
        ("its first answer after the outage, seconds", one.get("back_in_seconds")),
    ]


def _processes(one: Found) -> list[tuple[str, object]]:
    return [
        ("quota used (goal ≥ 0.98)", one["quota_used"]),
        ("calls in the fullest window; allowed", f"{one['fullest_window']:,}; {one['of']:,}"),
        ("own 429s (goal 0)", one["own_429"]),
        ("calls of the process with the fewest; with the most", "; ".join(map(_text, one["done"]))),
    ]


def show_processes(console: Console, one: Found) -> None:
    """How much of the limit processes use together, in a terminal."""
    rows = [(name, _text(value)) for name, value in _processes(one)]
    show(console, f"{one['processes']} processes of one user, calling as fast as they are let", rows)


def _stuck(one: Found) -> list[tuple[str, object]]:
    most = one["answer_most_seconds"]
    asked = {what: len(some) for what, some in one["answers_seconds"].items()}
    return [
        ("zones stuck; zones that wait for a turn", f"{one['stuck']:,}; {one['waiting_for_a_turn']:,}"),
        *(
            (f"{what} answered, the slowest of {asked[what]}, seconds (goal ≤ 1)", most[what])
            for what in ("pause", "abort", "status")
        ),
        ("commits sent after the pause; after the abort (goal 0)", _after(one)),
        ("zones committed twice (goal 0)", one["double_commits"]),
        ("workers' memory, MB", one["worker_rss_mb"]),
        (f"rules broken, of {len(one['rules'])} (goal 0)", with_broken(one)["rules_broken"]),
    ]


def _after(one: Found) -> str:
    return f"{one['sent_after_pause']}; {one['sent_after_abort']}"


def show_stuck(console: Console, one: Found) -> None:
    """How soon a campaign is stopped whose zones are all stuck, in a terminal."""
    rows = [(name, _text(value)) for name, value in _stuck(one)]
    show(console, f"{one['stuck']:,} zones stuck, the quota spent", rows)


def markdown_stuck(one: Found) -> str:
    """The same in Markdown."""
    rows = "\n".join(f"| {name} | {_text(value)} |" for name, value in _stuck(one))
    return f"| Measure | Value |\n|---|---|\n{rows}"


def markdown_processes(columns: Mapping[str, Found]) -> str:
    """One process beside many of the same user."""
    names = [str(one["processes"]) for one in columns.values()]
    lines = [f"| Processes | {' | '.join(names)} |", f"|---|{'---|' * len(names)}"]
    for row in zip(*(_processes(one) for one in columns.values()), strict=True):
        lines.append(f"| {row[0][0]} | {' | '.join(_text(value) for _, value in row)} |")
    return "\n".join(lines)


def markdown_users(one: Found) -> str:
    """Several users in one campaign."""
    rows = "\n".join(f"| {name} | {_text(value)} |" for name, value in _users(one))
    return f"| Measure | Value |\n|---|---|\n{rows}"


def markdown(columns: Mapping[str, Found]) -> str:
    """Campaigns side by side, by their labels."""
    lines = [f"| Measure | {' | '.join(columns)} | Goal |", f"|---|{'---|' * len(columns)}---|"]
    for name, value, goal in ROWS:
        lines.append(f"| {name} | {' | '.join(_text(value(one)) for one in columns.values())} | {goal} |")
    return "\n".join(lines)


def markdown_cpu(columns: Mapping[str, Found]) -> str:
    """The worker's CPU a zone over the size of the fleet, without a limit."""
    lines = ["| Zones | Zones a second | Workers' CPU a zone, seconds |", "|---|---|---|"]
    for one in columns.values():
        lines.append(f"| {one['zones']:,} | {one['zones_per_second']} | {one['worker_cpu_per_zone']} |")
    return "\n".join(lines)


def markdown_faults(columns: Mapping[str, Found]) -> str:
    """How much longer a campaign takes for the share of calls that goes wrong."""
    lines = [
        "| Calls that go wrong | Makespan, seconds | Longer by | Lost | Rules broken |",
        "|---|---|---|---|---|",
    ]
    for name, one in columns.items():
        clean = columns.get(varied("faults-0", name), {}).get("makespan_seconds")
        longer = f"{one['makespan_seconds'] / clean - 1:.1%}" if clean else ""
        broken = with_broken(one)["rules_broken"]
        share = f"{one['course']['faults']:.0%}"
        lines.append(f"| {share} | {one['makespan_seconds']} | {longer} | {one['lost']} | {broken} |")
    return "\n".join(lines)


def markdown_many(one: Found) -> str:
    """The campaign over 100,000 zones, stage by stage."""
    sweep, signed, migrated = one["sweep"], one["signed"], one["migrated"]
    within = sweep["found_within_seconds"]
    share = f"{sweep['found_share']:.0%}" + (f" within {within} s" if within is not None else "")
    rows = [
        ("zones; waves", f"{one['zones']:,}; {one['listed']['waves']}"),
        ("listed, read and started, seconds", _stage(one["listed"])),
        ("all waiting, seconds", _stage(one["waiting"])),
        ("workers' memory then, MB", one["waiting"]["rss_mb"]),
        ("fingerprints signed; approvers", f"{signed['fingerprints']:,}; {signed['approvers']}"),
        (
            f"slowest sign-off of 1,000 fingerprints, seconds (goal ≤ {SECONDS})",
            signed["sign_off_most_seconds"],
        ),
        ("slowest signature on them put into the archive, seconds", signed["statement_most_seconds"]),
        ("sign-offs refused", signed["refused"]),
        ("largest state, bytes (goal < 256,000)", one["state_bytes"]),
        (
            "task that hands the state on, seconds: median (goal < 0.05); slowest",
            f"{_text(one['packing_seconds'])}; {_text(one['packing_most_seconds'])}",
        ),
        ("workflows terminated; found by the sweep", f"{sweep['terminated']}; {share}"),
        ("migrated; zones a second", f"{migrated['migrated']:,}; {migrated['zones_per_second']}"),
        (f"status answered meanwhile, p99, seconds (goal ≤ {SECONDS})", migrated["status_p99_seconds"]),
        ("workers' CPU a zone, seconds", migrated["cpu_per_zone"]),
        ("workers' memory, most, MB", one["worker_rss_mb"]),
        ("most events of a run", one["history_events_per_run"]),
        ("zones committed twice", one["double_commits"]),
    ]
    return "\n".join(
        ["| Measure | Value |", "|---|---|", *(f"| {name} | {_text(value)} |" for name, value in rows)]
    )


def _stage(one: Found) -> str:
    return f"{_text(one['seconds'])}{' (its last part; it was ended and went on)' if one['went_on'] else ''}"


def _text(value: object) -> str:
    if value is None:
        return "none"
    if isinstance(value, float):
        return f"{value:,.3f}".rstrip("0").rstrip(".")
    return f"{value:,}" if isinstance(value, int) else str(value)
