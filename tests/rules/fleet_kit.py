"""What campaigns at a limit leave, made up: calls, answers, figures."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from bench.fleet.records import Answered, Kind
from edgeshift.testbed.invariants.requests import Request

BEGAN = datetime(2026, 11, 1, 8, tzinfo=UTC)
PLANS = {"a": "pro", "b": "pro", "e": "enterprise"}


def after(seconds: float) -> datetime:
    """A moment so many seconds after the beginning."""
    return BEGAN + timedelta(seconds=seconds)


def call(at: float, zone: str | None = "a", name: str = "waf.status", **more: Any) -> Request:
    """One call, so many seconds after the beginning."""
    given: dict[str, Any] = {"method": "GET", "status": 200, "user": "u"} | more
    return Request(seq=0, time=after(at), call=name, zone=zone, **given)


def commit(at: float, zone: str = "a") -> Request:
    """A commit."""
    return call(at, zone, "entrypoint.put", method="PUT", query="waf_migration=pending", effect="scheduled")


def answer(kind: Kind, at: float, seconds: float, trouble: str = "") -> Answered:
    """An answer."""
    return Answered(kind=kind, at=after(at), seconds=seconds, trouble=trouble)


def paced(**more: Any) -> dict[str, Any]:
    """The figures of a campaign that reaches every goal."""
    return {
        "course": {"name": "paced-1", "workers": 1, "scale": 10.0, "faults": 0.0},
        "window": 400,
        "zones": 300,
        "makespan_seconds": 70.0,
        "paused_seconds": 0.5,
        "makespan_ratio": 1.02,
        "quota_used": 0.9,
        "quota_ten_windows": 0.99,
        "own_429": 0,
        "busiest_window": {"calls": 1_200, "allowed": 1_200, "over": 0},
        "calls_per_zone": {"pro": 5.0, "enterprise": 9.0, "evidence": 3.0, "plan": 11.0},
        "answer_p99_seconds": {"sign_off": 0.2, "pause": 0.5, "status": 0.1, "resume": 0.1},
        "answer_seconds": {"status": {"count": 3}},
        "unanswered": {"status": 0, "sign_off": 0, "pause": 0, "resume": 0},
        "peaks": {"at_work": 5},
        "fullest": {"at_work": 5, "awaiting": 9},
        "state_bytes": 3_000,
        "history_events_per_run": 100,
        "history_events_per_zone": {"pro": {"median": 23}, "enterprise": {"median": 36}},
        "worker_rss_mb": 150.0,
        "worker_rss_growth": 1.0,
        "worker_cpu_per_zone": 0.05,
        "plan_cpu_per_zone": 0.05,
        "lost": 0,
        "rules": [{"rule": 1, "title": "t", "broken": 0, "violations": []}],
        "plots": {
            "calls_per_second": [(0.0, 1.0), (5.0, 40.0)],
            "worker_rss_mb": [(0.0, 100.0)],
            "campaign_state_bytes": [(0.0, 900.0), (5.0, 3_000.0)],
            "campaign_history_events": [(0.0, 10.0), (5.0, 100.0)],
        },
        **more,
    }
