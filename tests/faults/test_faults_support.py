"""The service's own refusals that only support can lift: one ticket a cause, nothing sent over a limit."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import pytest
from temporalio.client import Client

from edgeshift.messages import Step, ZonePhase
from edgeshift.model.fleet import ZoneOutcome
from tests.harness.running.share import shared
from tests.kit import TOO_MANY_RULES
from tests.kit.faults import staged, zone

pytestmark = [pytest.mark.embedded, pytest.mark.long]

TOO_LONG = [{"expression": f'http.request.uri.path eq "/{"x" * 4097}"', "products": ["waf"]}]

WORDINGS: dict[str, dict[str, Any]] = {
    "plain": {
        "status": 400,
        "message": "cannot migrate more than 200 firewall rules, please contact support",
    },
    "coded": {"status": 400, "code": 20229, "message": "Too many firewall rules to migrate (maximum is 200)"},
    "forbidden": {
        "status": 403,
        "message": "Please contact support: the limit of 200 firewall rules is exceeded",
    },
}


@pytest.mark.parametrize(
    "at,wording", shared("refusals", list(itertools.product(("check", "config", "put"), WORDINGS)), least=3)
)
async def test_zones_over_a_limit_get_one_ticket_a_cause_and_no_put(
    wording: str, at: str, temporal_client: Client, tmp_path: Path
) -> None:
    """Whichever call would refuse them, and in whatever words: they are counted before anything is sent."""
    support = {"at": at, "too_many_rules": WORDINGS[wording], "too_long_expression": WORDINGS[wording]}
    async with staged(
        temporal_client,
        tmp_path,
        zone("many", firewall_rules=TOO_MANY_RULES),
        zone("long", firewall_rules=TOO_LONG),
        zone("both", "enterprise", firewall_rules=TOO_MANY_RULES[:200] + TOO_LONG),
        zone("fine"),
        simulator={"support": support},
    ) as stage:
        for name in ("many", "long", "both"):
            await stage.phase(name, ZonePhase.NEEDS_SUPPORT)
            await stage.change(name, firewall_rules=[])
            await stage.play.resolve_support(stage.name(name))
        assert (await stage.finish()).outcomes == {"migrated": 4}
        tickets = list((stage.play.folder / "state" / "tickets").rglob("*.md"))
        assert len(tickets) == 4
        await stage.check({7})


async def test_nobody_deletes_the_overrides_of_a_zone_over_a_limit(
    temporal_client: Client, tmp_path: Path
) -> None:
    """Both stand in its way: its ticket comes first, and the deletion is only proposed once it is within."""
    overrides = [{"urls": ["{zone}/admin/*"], "rules": {"100000": "disable"}}]
    both = zone("both", firewall_rules=TOO_MANY_RULES, uri_overrides=overrides)
    consents = {"delete_uri_overrides": True}
    async with staged(temporal_client, tmp_path, both, consents=consents) as stage:
        found = await stage.phase("both", ZonePhase.NEEDS_SUPPORT)
        assert len(found.tickets) == 1 and any("URI-based" in reason for reason in found.reasons)
        await stage.change("both", firewall_rules=[])
        await stage.play.resolve_support(stage.name("both"))
        assert (await stage.waits("both")).step is Step.DELETE_OVERRIDES
        assert (await stage.finish()).outcomes == {"migrated": 1}
        assert await stage.changes() == [
            ("waf.overrides.delete", ""),
            ("entrypoint.put", "pending"),
        ]
        await stage.check({3, 7})


async def test_an_enterprise_zone_tells_at_once_that_its_overrides_wait_for_a_sign_off(
    temporal_client: Client, tmp_path: Path
) -> None:
    """Also where it holds no permit any more that it could give back: here, after a deletion that was not
    made because the overrides had changed. No sweep has to look for it.
    """
    overrides = [{"urls": ["{zone}/admin/*"], "rules": {"100000": "disable"}}]
    both = zone("both", "enterprise", uri_overrides=overrides)
    consents = {"delete_uri_overrides": True}
    async with staged(temporal_client, tmp_path, both, consents=consents, sweep="2000h") as stage:
        state = await stage.waits("both")
        assert state.step is Step.DELETE_OVERRIDES
        more = [{"urls": [f"{stage.name('both')}/{path}/*"], "rules": {"100000": "disable"}} for path in "ab"]
        await stage.change("both", uri_overrides=more)
        await stage.play.until(lambda seen: bool(seen.waiting), 10)
        await stage.play.sign([state.fingerprint])
        await stage.play.zone_until(stage.name("both"), lambda found: found.digest != state.digest)
        anew = await stage.waits("both")
        assert anew.drifted_from == state.digest
        await stage.play.until(
            lambda seen: [one.fingerprint for one in seen.waiting] == [anew.fingerprint], within=15
        )
        await stage.play.sign([anew.fingerprint])
        assert (await stage.finish()).outcomes == {"migrated": 1}
        await stage.check({4, 7})


async def test_a_zone_that_is_no_enterprise_zone_any_more_is_sent_nothing(
    temporal_client: Client, tmp_path: Path
) -> None:
    """The list was frozen before; the service would refuse its validation. Another campaign lists it anew."""
    async with staged(temporal_client, tmp_path, zone("was", "enterprise"), begin=False) as stage:
        await stage.fault("latency", "waf.check", "was", seconds=4)
        await stage.play.begin()
        await stage.change("was", plan="pro")
        await stage.play.until(lambda seen: seen.places.get("blocked") == 1)
        assert await stage.outcome("was") is ZoneOutcome.BLOCKED
        assert "its plan is pro now" in (await stage.play.zone(stage.name("was")).result()).reason
        assert await stage.changes() == []
        await stage.closed()


REFUSAL = '{"success":false,"result":null,"messages":[],"errors":[{"message":"%s"}]}'


@pytest.mark.parametrize("status", [400, 200])
async def test_an_unforeseen_refusal_by_the_service_is_recognised(
    temporal_client: Client, tmp_path: Path, status: int
) -> None:
    """The service refuses a PUT that reading found fine: a ticket, and a person's word before more."""
    text = REFUSAL % WORDINGS["plain"]["message"]
    async with staged(temporal_client, tmp_path, zone("a")) as stage:
        await stage.fault("server_error", "entrypoint.put", "a", effect="before", status=status, body=text)
        state = await stage.waits("a")
        await stage.play.sign_zone(stage.name("a"), digest=state.digest)
        found = await stage.phase("a", ZonePhase.NEEDS_SUPPORT)
        assert len(found.tickets) == 1
        await stage.play.resolve_support(stage.name("a"))
        await stage.finish()
        assert await stage.outcome("a") is ZoneOutcome.MIGRATED
        assert await stage.changes() == [("entrypoint.put", "pending")] * 2
        await stage.check()


async def test_a_validation_that_only_the_envelope_refuses_is_recognised_too(
    temporal_client: Client, tmp_path: Path
) -> None:
    """Once its status has stayed: a ticket, and a person's word before another one is sent."""
    text = REFUSAL % WORDINGS["plain"]["message"]
    async with staged(temporal_client, tmp_path, zone("a", "enterprise"), begin=False) as stage:
        await stage.fault("server_error", "entrypoint.put", "a", effect="before", status=200, body=text)
        await stage.play.begin()
        found = await stage.phase("a", ZonePhase.NEEDS_SUPPORT)
        assert len(found.tickets) == 1
        assert await stage.changes() == [("entrypoint.put", "validation")]
        await stage.play.resolve_support(stage.name("a"))
        await stage.finish()
        assert await stage.outcome("a") is ZoneOutcome.MIGRATED
        await stage.check({4, 7})


async def test_a_commit_that_shows_needs_no_support_whatever_was_answered(
    temporal_client: Client, tmp_path: Path
) -> None:
    """What says `success: false` and was made all the same: the status decides, and nothing is sent again."""
    text = REFUSAL % WORDINGS["plain"]["message"]
    async with staged(temporal_client, tmp_path, zone("a")) as stage:
        await stage.fault("server_error", "entrypoint.put", "a", effect="after", status=200, body=text)
        await stage.finish()
        assert await stage.outcome("a") is ZoneOutcome.MIGRATED
        assert await stage.changes() == [("entrypoint.put", "pending")]
        assert not list((stage.play.folder / "state" / "tickets").rglob("*.md"))
        await stage.check()
