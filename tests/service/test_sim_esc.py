"""Disabling Edge Side Code over HTTP (docs/service.md §2.1, §3.1, §4.1, §8)."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from edgeshift.testbed.simulator.fleet_edge import EscScope, ZoneEsc
from edgeshift.testbed.simulator.fleet_file import FleetAccount
from edgeshift.testbed.simulator.options import SimulatorOptions
from tests.service.edge_kit import edge, edge_fleet

SECRET = "guess-me"


async def test_one_path_sets_a_secret_and_disables(tmp_path: Path) -> None:
    """The body's field tells the two operations apart; GET shows the secret, and then the status."""
    async with edge(tmp_path) as at:
        assert (await at.accepted("GET", "shop")).json() == {"always": False}
        assert (await at.accepted("POST", "shop", {"with_secret": SECRET})).json() == {"with_secret": SECRET}
        assert (await at.accepted("GET", "shop")).json() == {"with_secret": SECRET}
        assert await at.acts("shop")
        assert (await at.accepted("POST", "shop", {"always": True})).json() == {"always": True}
        assert (await at.accepted("GET", "shop")).json() == {"always": True}
        assert not await at.acts("shop")
        assert (await at.accepted("DELETE", "shop")).json() == {"always": False}
        assert await at.acts("shop")
        assert (await at.accepted("GET", "shop")).json() == {"with_secret": SECRET}


async def test_a_secret_disables_for_the_request_that_carries_it(tmp_path: Path) -> None:
    """The cookie disable_esc, among others, with the exact value; every other request is as before."""
    async with edge(tmp_path) as at:
        await at.accepted("POST", "shop", {"with_secret": SECRET})
        assert not await at.acts("shop", cookie=f"disable_esc={SECRET}")
        assert not await at.acts("shop", cookie=f"a=b; disable_esc={SECRET}; c=d")
        for other in (
            f"disable_esc={SECRET}x",
            "disable_esc=",
            f"Disable_ESC={SECRET}",
            f"x=disable_esc={SECRET}",
        ):
            assert await at.acts("shop", cookie=other), other
        assert await at.acts("shop")


async def test_a_secret_is_its_scopes_alone(tmp_path: Path) -> None:
    """A zone's secret is nothing in another zone; an account's covers its zones and no others."""
    async with edge(tmp_path) as at:
        await at.accepted("POST", "shop", {"with_secret": "of-shop"})
        await at.accepted("POST", "First", {"with_secret": "of-first"})
        assert not await at.acts("shop", cookie="disable_esc=of-shop")
        assert await at.acts("side", cookie="disable_esc=of-shop")
        for zone in ("shop", "side"):
            assert not await at.acts(zone, cookie="disable_esc=of-first")
        assert await at.acts("other", cookie="disable_esc=of-first")
        assert (await at.accepted("GET", "side")).json() == {"always": False}


async def test_an_account_covers_its_zones(tmp_path: Path) -> None:
    """`always` at the account is for all its zones, whatever each says; DELETE at a zone does not undo it."""
    async with edge(tmp_path) as at:
        await at.accepted("POST", "First", {"always": True})
        assert [await at.acts(zone) for zone in ("shop", "side", "other")] == [False, False, True]
        await at.accepted("DELETE", "side")
        assert not await at.acts("side")
        await at.accepted("DELETE", "First")
        assert await at.acts("side")


@pytest.mark.parametrize("character", ["s", "ü", "語"])
async def test_a_secret_has_at_most_100_characters(tmp_path: Path, character: str) -> None:
    """100 are taken and work where a cookie can carry them; 101 are refused and change nothing."""
    async with edge(tmp_path) as at:
        longest = character * 100
        await at.accepted("POST", "shop", {"with_secret": longest})
        assert (await at.accepted("GET", "shop")).json() == {"with_secret": longest}
        if character.isascii():
            assert not await at.acts("shop", cookie=f"disable_esc={longest}")
        answer = await at.esc("POST", "shop", {"with_secret": character * 101})
        assert answer.status_code == 400
        assert "100 characters" in answer.text and character * 9 not in answer.text
        assert (await at.accepted("GET", "shop")).json() == {"with_secret": longest}


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"other": 1},
        {"always": False},
        {"always": "true"},
        {"always": 1},
        {"with_secret": ""},
        {"with_secret": 7},
        {"with_secret": None},
        {"always": True, "with_secret": "both"},
        ["always"],
    ],
)
async def test_a_body_that_is_neither_is_refused(tmp_path: Path, body: Any) -> None:
    """By status and words of an option; nothing changes."""
    async with edge(tmp_path, esc={"bad_body": {"status": 422, "message": "no"}}) as at:
        answer = await at.esc("POST", "shop", body)
        assert (answer.status_code, answer.json()["errors"]) == (422, [{"message": "no"}])
        assert (await at.accepted("GET", "shop")).json() == {"always": False}
        assert await at.acts("shop")


async def test_unknown_answers_are_options(tmp_path: Path) -> None:
    """What POST, DELETE and GET answer where the specification does not say."""
    async with edge(tmp_path) as at:

        async def choose(**choices: Any) -> None:
            await at.call.control("PUT", "options", {"esc": choices})

        await choose(nothing_configured="empty")
        assert (await at.esc("GET", "shop")).json() == {}
        await choose(nothing_configured="null")
        assert (await at.esc("GET", "shop")).text == "null"
        await choose(nothing_configured="not_found")
        assert (await at.esc("GET", "shop")).status_code == 404
        await choose(post="no_content", delete="no_content")
        answer = await at.esc("POST", "shop", {"with_secret": SECRET})
        assert (answer.status_code, answer.content) == (204, b"")
        assert (await at.esc("DELETE", "shop")).status_code == 204
        await choose(post="empty", delete="empty")
        assert (await at.esc("POST", "shop", {"always": True})).json() == {}
        for choice, shown in (
            ("always", {"always": True}),
            ("with_secret", {"with_secret": SECRET}),
            ("both", {"always": True, "with_secret": SECRET}),
        ):
            await choose(both_configured=choice)
            assert (await at.esc("GET", "shop")).json() == shown
        await choose(post="envelope", delete="envelope", always_false="enable", delete_clears_secret=True)
        answer = await at.esc("POST", "shop", {"always": False})
        assert answer.json() == {
            "result": {"always": False},
            "success": True,
            "errors": [],
            "messages": [],
        }
        assert await at.acts("shop")
        assert (await at.esc("DELETE", "shop")).json()["result"] == {"always": False}
        await choose(delete_when_on="refuse")
        assert (await at.esc("DELETE", "shop")).status_code == 404
        await choose(envelope=True, nothing_configured="always_false", always_false="ignore")
        assert (await at.esc("GET", "shop")).json()["result"] == {"always": False}
        await choose(both_fields="apply", always_false="ignore")
        assert (await at.esc("POST", "shop", {"always": True, "with_secret": SECRET})).is_success
        assert not await at.acts("shop")
        assert (await at.esc("POST", "shop", {"always": False})).is_success
        assert not await at.acts("shop")


async def test_effect_and_visibility_take_their_seconds(tmp_path: Path) -> None:
    """DELETE takes effect within seconds, shortened by the time scale; GET may show it at another time."""
    async with edge(tmp_path, esc_effect_seconds=6, esc_visibility_seconds=8, time_scale=2) as at:
        await at.accepted("POST", "shop", {"always": True})
        assert (await at.calls())[-1]["effect"] == "scheduled"
        assert await at.acts("shop")
        at.time.pass_by(3)
        assert not await at.acts("shop")
        assert (await at.accepted("GET", "shop")).json() == {"always": False}
        at.time.pass_by(1)
        assert (await at.accepted("GET", "shop")).json() == {"always": True}
        await at.accepted("DELETE", "shop")
        at.time.pass_by(2.9)
        assert not await at.acts("shop")
        at.time.pass_by(0.1)
        assert await at.acts("shop")
        assert (await at.accepted("GET", "shop")).json() == {"always": True}


async def test_everything_is_removed_on_the_date(tmp_path: Path) -> None:
    """At 2024-01-01T00:00:00Z, and not a second before: behaviours, settings and calls."""
    async with edge(tmp_path, at=datetime(2023, 12, 31, 23, 59, 59, tzinfo=UTC)) as at:
        await at.accepted("POST", "First", {"with_secret": SECRET})
        assert await at.acts("shop")
        at.time.pass_by(1)
        assert not await at.acts("shop")
        for method, body in (("GET", None), ("POST", {"always": True}), ("DELETE", None)):
            for scope in ("shop", "First"):
                answer = await at.esc(method, scope, body)
                assert answer.status_code == 410
                assert answer.json()["errors"][0]["message"] == "Edge Side Code was removed on 2024-01-01"
        shown = await at.call.control("GET", f"edge/zones/{at.call.ids['shop']}")
        assert shown["removed"] and not shown["active"]
        assert shown["account_setting"]["in_force"] == {"always": False, "secret": False}


async def test_permissions_and_scopes(tmp_path: Path) -> None:
    """esc:read reads, esc:edit changes; a credential reaches its accounts' scopes alone."""
    async with edge(tmp_path) as at:
        assert (await at.esc("GET", "shop", by="reader")).is_success
        assert (await at.esc("POST", "shop", {"always": True}, by="reader")).status_code == 403
        for scope in ("shop", "First"):
            assert (await at.esc("GET", scope, by="waf-only")).status_code == 403
            assert (await at.esc("DELETE", scope, by="second-only")).status_code == 403
        assert (await at.esc("GET", "Second", by="second-only")).is_success
        assert (await at.call("GET", f"/accounts/{'0' * 32}/disable_esc")).status_code == 400
        assert (await at.call("PUT", at.accounts["First"], {})).status_code == 405


async def test_the_journal_says_what_was_done_and_no_secret(tmp_path: Path) -> None:
    """Scope, operation, the setting before and after, the zones covered; not the secret, nor its digest."""
    async with edge(tmp_path) as at:
        await at.accepted("POST", "First", {"with_secret": SECRET})
        await at.accepted("POST", "shop", {"always": True})
        await at.accepted("DELETE", "shop")
        entries = await at.calls()
        account = at.accounts["First"].split("/")[2]
        assert entries[0]["esc"] == {
            "scope": f"accounts/{account}",
            "operation": "secret",
            "before": {"always": False, "secret": False},
            "after": {"always": False, "secret": True},
            "zones": 3,
            "asked": ["with_secret"],
            "characters": len(SECRET),
        }
        assert [one["esc"]["operation"] for one in entries] == ["secret", "always", "delete"]
        assert entries[1]["esc"]["scope"] == f"zones/{at.call.ids['shop']}" == f"zones/{entries[1]['zone']}"
        assert entries[2]["esc"]["before"] == {"always": True, "secret": False}
        assert all(one["body_sha256"] is None for one in entries)
        assert SECRET not in json.dumps(entries)
        shown = json.dumps(await at.call.control("GET", f"zones/{at.call.ids['shop']}"))
        assert SECRET not in shown


async def test_a_fleet_can_begin_with_settings(tmp_path: Path) -> None:
    """A customer's own secret and an account that is off; no control answer shows the secret."""
    fleet = edge_fleet()
    fleet.zones[0].esc = ZoneEsc(behaviours=fleet.zones[0].esc.behaviours, with_secret="customers-own")
    fleet.accounts[1] = FleetAccount(name="Second", id=fleet.accounts[1].id, esc=EscScope(always=True))
    async with edge(tmp_path, fleet=fleet) as at:
        assert (await at.accepted("GET", "shop")).json() == {"with_secret": "customers-own"}
        assert not await at.acts("shop", cookie="disable_esc=customers-own")
        assert not await at.acts("other")
        for path in (f"zones/{at.call.ids['shop']}", f"edge/zones/{at.call.ids['shop']}", "edge"):
            assert "customers-own" not in json.dumps(await at.call.control("GET", path))


async def test_settings_outlive_the_process(tmp_path: Path) -> None:
    """Started again, the same folder has the secret, the status and the clock."""
    async with edge(tmp_path) as at:
        await at.accepted("POST", "shop", {"with_secret": SECRET})
        await at.accepted("POST", "First", {"always": True})
    async with edge(tmp_path) as at:
        assert (await at.accepted("GET", "shop")).json() == {"with_secret": SECRET}
        assert not await at.acts("side")


async def test_the_clock_can_begin_in_the_past(tmp_path: Path) -> None:
    """The option `clock` holds for a new folder; the Date header tells it, and the folder keeps it."""
    now = datetime(2026, 5, 1, tzinfo=UTC)
    async with edge(tmp_path, at=now, clock="2023-10-01T00:00:00Z") as at:
        assert await at.acts("shop")
        answer = await at.esc("GET", "shop")
        assert parsedate_to_datetime(answer.headers["date"]) == datetime(2023, 10, 1, tzinfo=UTC)
        visited = await at.get("shop", "/")
        assert parsedate_to_datetime(visited.headers["date"]) == datetime(2023, 10, 1, tzinfo=UTC)
        refused = await at.call.http.put(f"{at.call.server.control_url}/options", json={"clock": None})
        assert refused.status_code == 400 and "/_simulator/clock" in refused.text
        at.time.pass_by(3600)
    async with edge(tmp_path, at=at.time.now, clock="2022-01-01T00:00:00Z") as again:
        assert parsedate_to_datetime((await again.esc("GET", "shop")).headers["date"]) == datetime(
            2023, 10, 1, 1, tzinfo=UTC
        )
        await again.call.control("PUT", "clock", {"now": "2024-02-01T00:00:00Z"})
        assert (await again.esc("GET", "shop")).status_code == 410


async def test_a_clock_that_is_put_back_undoes_nothing(tmp_path: Path) -> None:
    """What was accepted later by the clock holds."""
    async with edge(tmp_path, esc_effect_seconds=5) as at:
        await at.accepted("POST", "shop", {"always": True})
        at.time.pass_by(-86_400)
        assert not await at.acts("shop")
        assert (await at.accepted("GET", "shop")).json() == {"always": True}


async def test_faults_meet_esc_calls(tmp_path: Path) -> None:
    """A DELETE whose answer is lost has had its effect, and one that was never carried out has not."""
    async with edge(tmp_path) as at:
        await at.accepted("POST", "shop", {"always": True})
        fault = {"kind": "server_error", "match": {"call": "esc.delete"}, "times": 1}
        await at.call.control("POST", "faults", {**fault, "effect": "before"})
        assert (await at.esc("DELETE", "shop")).status_code == 500
        assert not await at.acts("shop")
        await at.call.control("POST", "faults", {**fault, "effect": "after"})
        assert (await at.esc("DELETE", "shop")).status_code == 502
        assert await at.acts("shop")


def test_unknown_options_are_refused() -> None:
    """A choice that does not exist is named."""
    with pytest.raises(ValidationError, match="post"):
        SimulatorOptions.model_validate({"esc": {"post": "nothing"}})
