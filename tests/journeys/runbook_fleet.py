"""The fleet of the runbook's test, and a campaign in which most things are wrong that can be with a zone."""

from __future__ import annotations

import json
import subprocess

from tests.journeys.cli_kit import POLICY
from tests.journeys.runbook_kit import Desk

LONG = 'http.request.uri.path eq "/' + "ä" * 2100 + '"'
RULES = ", ".join(
    f"{{expression: 'ip.src eq 192.0.2.{n}', action: bypass, products: [waf]}}" for n in range(201)
)
NOISY = "traffic: {requests_per_minute: 600, false_positives: [{kind: rich_text, path: /save, per_hour: 60}]}"
MAIN = (
    "waits-1",
    "waits-2",
    "drifts-1",
    "drifts-2",
    "asks",
    "odd",
    "logs-only",
    "shell",
    "refused",
    "sent",
    "differs",
)
MANY = tuple(f"out-{number}" for number in range(10))
OTHERS = (
    "ended",
    "late",
    "unkeyed",
    "nobodys",
    "held",
    "stopped",
    "halts",
    "goes-on",
    "soon-1",
    "soon-2",
    "ends",
    "solo",
    "unheard",
    "odd-end",
    "apart",
    "tells",
    "planted",
    "waits-on",
)
FLEET = "\n".join(
    (
        "users: [{email: main@example.com}, {email: side@example.com}, {email: far@example.com}]",
        "credentials:",
        "  - {label: main-token, user: main@example.com, accounts: [Main]}",
        "  - {label: side-token, user: side@example.com, accounts: [Side]}",
        "  - {label: far-token, user: far@example.com, accounts: [Far]}",
        "accounts: [{name: Main}, {name: Side}, {name: Far}]",
        "zones:",
        *(f"  - {{name: {name}.example, plan: pro}}" for name in (*MAIN, *OTHERS)),
        *(f"  - {{name: editor-{n}.example, plan: enterprise, {NOISY}}}" for n in (1, 2)),
        *(
            f"  - {{name: {name}.example, plan: enterprise}}"
            for name in ("bank", "copy", "damaged", "edited", "own-rules")
        ),
        *(f"  - {{name: {name}.example, plan: pro, account: Far}}" for name in ("far", "busy")),
        f"  - {{name: many.example, plan: pro, firewall_rules: [{RULES}]}}",
        *(
            f"  - {{name: long-{n}.example, plan: pro, firewall_rules:"
            f" [{{expression: '{LONG}', action: bypass, products: [waf]}}]}}"
            for n in (1, 2, 3)
        ),
        "  - name: legacy.example",
        "    plan: business",
        '    uri_overrides: [{urls: [legacy.example/admin/*], rules: {"100008": simulate}}]',
        "  - name: starred.example",
        "    plan: pro",
        "    page_rules: [{targets: ['starred.example/a*b'], actions: [{id: waf, value: 'off'}]}]",
        "    migration: {page_rules: left_out}",
        *(f"  - {{name: side-{n}.example, plan: pro, account: Side}}" for n in (1, 2, 3, 4)),
        *(f"  - {{name: {name}.example, plan: pro, account: Side}}" for name in MANY),
    )
)
SHORT = POLICY.replace("expires_after: 1000d", "expires_after: 2d").replace("support: 1000d", "support: 2d")
SHELL = [
    {
        "action": "execute",
        "action_parameters": {"id": "efb7b8c949ac4650a09736fc376e9aee"},
        "expression": "true",
        "description": "",
        "ref": "",
        "id": "",
        "enabled": False,
    }
]
LOGS = [{"action": "log", "expression": "true", "description": "", "ref": "", "id": "", "enabled": True}]


def refusal(message: str, code: int = 0) -> str:
    """The body of a refusal of the service."""
    return json.dumps({"success": False, "errors": [{"code": code, "message": message}]})


def full(*names: str) -> list[str]:
    """Names of zones."""
    return [f"{name}.example" for name in names]


def temporal(here: Desk, *words: str) -> None:
    """Call the Temporal CLI."""
    command = [str(here.temporal), *words, "--address", here.stack.address]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, (here.places("main"), done.stderr)


def begin(found: Desk) -> None:
    """Start the campaign, with the service's troubles with single zones."""
    ask, not_taken = refusal("Please contact support to migrate this zone."), refusal("not taken", 20120)
    put, check = "entrypoint.put", "waf.check"
    fault, troubles = found.fault, found.troubles
    troubles["asks"] = fault("server_error", "asks.example", check, status=400, body=ask)
    troubles["odd"] = fault("wrong_types", "odd.example", check, replace={"/result/compatible": False})
    only_log = {"/result/rules": LOGS}
    troubles["logs-only"] = fault("wrong_types", "logs-only.example", "waf.config", replace=only_log)
    nothing = {"/result/rules": SHELL}
    troubles["shell"] = fault("wrong_types", "shell.example", "waf.config", replace=nothing)
    troubles["refused"] = fault("server_error", "refused.example", put, status=400, body=not_taken)
    troubles["sent"] = fault("server_error", "sent.example", put, status=502)
    troubles["bank"] = fault("server_error", "bank.example", put, status=502)
    others = ("ended", "editor-1", "editor-2", "bank", "long-1", "many", "legacy", "starred")
    found.start("main", full(*MAIN, *others))
    at_work = {"pending", "working", "waiting", "permitted", "ready_validate"}
    found.until("main", lambda places: not at_work & places.keys())
