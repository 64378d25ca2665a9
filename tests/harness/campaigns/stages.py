"""Stages of esc and log-fields: zones in which each path begins, and campaigns that are over in seconds."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from temporalio.client import Client

from tests.harness.campaigns.authority import ONE
from tests.kit import BUCKET
from tests.kit.faults import QUICK, Stage, staged

COMMIT: dict[str, Any] = {**QUICK["commit"], "poll": "1s"}

ESC: dict[str, Any] = {
    "area": "esc",
    "commit": COMMIT,
    "esc": {
        "observe": "1s",
        "every": "1s",
        "effect_limit": "3s",
        "probe": {
            "sample": 2,
            "rounds": 2,
            "per_second": 1000,
            "sitemap": False,
            "links": False,
            "urls": ["/", "/api/items"],
        },
    },
}
"""One look at a scope, a second after it was turned off."""

LOG_FIELDS: dict[str, Any] = {
    "area": "log-fields",
    "commit": COMMIT,
    "log_fields": {
        "request_headers": ["user-agent", "x-requested-with"],
        "response_headers": ["content-type"],
        "cookies": ["session_id", "Theme"],
        "verify": "1s",
        "every": "1s",
        "effect_limit": "3s",
        "job": True,
    },
}
"""One look at the entries, a second after the fields were written."""

WANTED = {
    "request_fields": ["user-agent", "x-requested-with"],
    "response_fields": ["content-type"],
    "cookie_fields": ["session_id", "Theme"],
}
"""The fields of LOG_FIELDS, in the words of a rule."""

LISTS = ("Cookies", "RequestHeaders", "ResponseHeaders")
"""What the log jobs are to list for them."""

SNI = {"kind": "tls_sni", "path": "/api/items", "to": "origin.example"}
OWN_SECRET = "customer-0123456789"
FAILS_WHEN_OFF = {"failures": [{"path": "/api/items", "when": "esc_off"}]}
"""An origin that no probe with the cookie can foresee to fail: the change is taken back."""

FOREIGN = {"request_headers": ["x-team"], "cookies": ["Basket"], "description": "of another team"}
OPTIONS = "fields=RayID,ClientRequestPath&timestamps=rfc3339&sample_rate=1"
DESTINATION = f"s3://{BUCKET}/{{zone}}?region=eu-west-1&secret-access-key=customers-own"


def esc_zone(name: str, *, own: bool = False, worse: bool = False, **more: Any) -> dict[str, Any]:
    """A zone with Edge Side Code. ``own``: with a customer's secret; ``worse``: fails once it is off."""
    setting = {"behaviours": [SNI], **({"with_secret": OWN_SECRET} if own else {})}
    found = {"name": name, "plan": "enterprise", "esc": setting, **more}
    return found | ({"edge": FAILS_WHEN_OFF} if worse else {})


def log_zone(name: str, *, job: bool = True, foreign: bool = False) -> dict[str, Any]:
    """A zone that logs. ``job``: with a job of the customer's; ``foreign``: with somebody else's rule."""
    jobs = [{"destination": DESTINATION, "logpull_options": OPTIONS, "name": "customers"}] if job else []
    logs = {"jobs": jobs, **({"fields": [FOREIGN]} if foreign else {})}
    return {"name": name, "plan": "enterprise", "logs": logs}


PATIENCE = "30d"
"""How long readings are tried: three minutes, on a machine that is slow."""

TURNS = {"turn_window": "8s", "send_window": "8s"}
"""Where the workers share the user's limit: each call waits for its turn, on a busy machine for a second."""


def over(terms: dict[str, Any], **more: Any) -> dict[str, Any]:
    """Terms of a campaign with parts of them changed."""
    return {**terms, **{key: {**terms.get(key, {}), **value} for key, value in more.items()}}


@asynccontextmanager
async def esc_stage(
    client: Client, folder: Path, *zones: dict[str, Any], **more: Any
) -> AsyncIterator[Stage]:
    """A stage of the area esc."""
    async with staged(client, folder, *zones, **{**ESC, **more}) as stage:
        yield stage


@asynccontextmanager
async def log_stage(
    client: Client, folder: Path, *zones: dict[str, Any], **more: Any
) -> AsyncIterator[Stage]:
    """A stage of the area log-fields."""
    async with staged(client, folder, *zones, **{**LOG_FIELDS, **more}) as stage:
        yield stage


@asynccontextmanager
async def signed_stage(
    client: Client, folder: Path, *zones: dict[str, Any], **more: Any
) -> AsyncIterator[Stage]:
    """A stage whose workers have roots, and whose people sign with keys, unless ``authority`` says
    otherwise.
    """
    async with staged(client, folder, *zones, **{"authority": ONE, **more}) as stage:
        yield stage
