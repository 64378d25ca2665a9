"""Usual clients of the real API, from their packages, run unchanged against the simulator (docs/simulator.md,
"Clients of the real API")."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from edgeshift.testbed.simulator.server import ROUTE_MODULES
from tests.clients.scene import SHOP, Driven, driven
from tests.clients.set_up import PYTHON_VERSIONS, go_client, python_client
from tests.service.simulated import STRICT

GO = "go"
# Which calls a client has no method for, of those that any has; by the first part of its version.
_SINGLE_RULES = {f"rulesets.rules.{verb}" for verb in ("create", "patch", "delete")}
_VERSIONS = {
    *(f"rulesets.versions.{verb}" for verb in ("list", "get", "delete")),
    *(f"entrypoint.versions.{verb}" for verb in ("list", "get")),
}
_LACKS = {
    "2": {
        *_SINGLE_RULES,
        *_VERSIONS,
        "accounts.get",
        "entrypoint.get",
        "entrypoint.put",
        "filters.delete_many",
        "firewall.rules.delete_many",
        "logpush.validate.destination",
    },
    "4": {"filters.validate", "settings.patch_many"},
    "5": {"filters.validate", "settings.patch_many"},
    GO: {
        *_SINGLE_RULES,
        *_VERSIONS,
        "firewall.rules.patch",
        "firewall.rules.patch_many",
        "graphql",
        "logpush.validate.destination",
        "logpush.validate.origin",
    },
}


def course(client: str, data: Path, **options: Any) -> Driven:
    """What came of a client's course; `client` is a version of cloudflare-python, or GO."""
    if client == GO:
        return driven([go_client()], data, **options)
    program = "tests.clients.drive_v2" if client.startswith("2.") else "tests.clients.drive_v4"
    env = {"PYTHONPATH": str(python_client(client))}
    return driven([sys.executable, "-m", program], data, env=env, **options)


def calls_of_clients() -> set[str]:
    """The calls that the simulator serves, but for Edge Side Code and the migration, which no client has."""
    names = {route.call for module in ROUTE_MODULES for route in module.ROUTES}
    return {one for one in names if not one.startswith(("esc.", "waf.check", "waf.config", "waf.status"))}


def bare(shown: Any) -> Any:
    """What a step gave, without the envelope in which plain calls of a client leave it."""
    return shown["result"] if isinstance(shown, dict) and "success" in shown else shown


@pytest.mark.parametrize("client", [*PYTHON_VERSIONS, GO])
def test_a_client_runs_unchanged(tmp_path: Path, client: str) -> None:
    """Every call that a client has for what the simulator serves is taken, and it reads back what it
    wrote."""
    did = course(client, tmp_path)
    assert did.errors == {}
    assert did.refusals == []
    assert calls_of_clients() - {one["call"] for one in did.journal} == _LACKS[client.partition(".")[0]]

    assert SHOP in did["zones"] and len(did["zones"]) == 8
    assert {one["id"] for one in bare(did["settings"])} > {"waf", "always_use_https"}
    assert (did["setting"]["value"], did["setting waf"]["value"]) == ("on", "on")

    assert did["ruleset made"]["rules"] == []
    (rule,) = did["ruleset filled"]["rules"]
    assert (rule["ref"], rule["action"]) == ("mine", "log_custom_field")
    assert len(did["ruleset"]["rules"]) == 1

    job = did["job"]
    assert (job["name"], job["dataset"], job["enabled"]) == ("mine", "http_requests", True)
    if client == GO:
        assert job["logpull_options"] == "fields=RayID,Cookies&timestamps=rfc3339"
        assert json.loads(job["filter"])["where"]["value"] == SHOP
    else:
        options = {"field_names": ["RayID", "Cookies"], "timestamp_format": "rfc3339", "sample_rate": 1}
        assert job["output_options"] == options
    there, new = did["destination there"], did["destination new"]
    assert (there, new) == ((True, False) if client == GO else ({"exists": True}, {"exists": False}))
    assert {"RayID", "Cookies", "RequestHeaders"} < set(did["dataset fields"])
    assert did["jobs left"] == 0

    # A rule that names a filter by its id has its expression; without the rule, the filter stays.
    assert (did["rule"]["action"], did["rule"]["filter"]["expression"]) == ("block", "ssl")
    (rule,) = did["rules"]
    assert (rule["action"], rule["products"], rule["description"]) == ("bypass", ["waf"], "many")
    assert rule["filter"] == did["rule"]["filter"]
    assert did["filters"] == [True]

    assert (did["group"]["mode"], did["waf rule"]["mode"]) == ("off", "simulate")
    made = did["override made"] or bare(did["overrides"])[0]
    changed = bare(did["override"])
    assert (made["urls"], made["rules"], made["groups"]) == (["shop.example/*"], {"100008": "block"}, {})
    assert (changed["rules"], changed["groups"], changed["rewrite_action"]) == ({}, {}, {})
    assert did["page rule"]["actions"] == [{"id": "waf", "value": "off"}]
    assert "c2VjcmV0" not in json.dumps(did.journal)


def test_read_to_the_letter_a_client_is_refused(tmp_path: Path) -> None:
    """With the strict options, what a client sends too much of is refused, and each place is named."""
    did = course(GO, tmp_path, bodies=STRICT)
    refused = {call: why for call, status, why in did.refusals if status == 400}
    assert set(refused) >= {"logpush.jobs.create", "rulesets.create", "waf.overrides.create"}
    assert (refused["logpush.jobs.create"] or "").startswith("filter cannot be given")
