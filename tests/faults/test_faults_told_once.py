"""What one reading said, or one window, is not stretched to what it was not about: other rules than were
validated, a status that was wrong once, a change that an earlier attempt has sent.
"""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from temporalio.client import Client

from activities.change.intents import intent_key
from edgeshift.areas.evidence import EvidenceVerdict
from edgeshift.areas.waf.evidence import Evidence
from edgeshift.messages import ZonePhase
from edgeshift.model.digests import canonical_bytes
from edgeshift.model.fleet import Area, Plan, Zone, ZoneOutcome
from edgeshift.operations.again import begin_again
from edgeshift.operations.campaigns import start_campaign
from tests.kit import OPERATOR, SCALE, eventually
from tests.kit.faults import ASIDE, Stage, staged, zone

pytestmark = [pytest.mark.embedded, pytest.mark.long, pytest.mark.timeout(400)]

RULE = {"expression": 'http.request.uri.path eq "/x"', "products": ["waf"]}
MIGRATED = {
    "/result/new_waf_status": "enabled",
    "/result/old_waf_status": "disabled",
    "/result/migration_state": "complete",
}
SKIP = {"action": "skip", "expression": "true", "action_parameters": {"ruleset": "current"}}
VALIDATED = ("entrypoint.put", "validation")
COMMITTED = ("entrypoint.put", "pending")
BUSY = {"requests_per_minute": 600}


async def evidence(stage: Stage, short: str) -> Evidence:
    """What the zone's window saw."""
    state = await stage.waits(short, within=120)
    return Evidence.model_validate(await stage.play.archive.get_json(state.evidence))


async def migrated(stage: Stage, short: str) -> bool:
    """Whether the service has migrated the zone."""
    found = await stage.play.control.get(f"zones/{stage.id(short)}")
    return bool(found["visible_state"] == "complete")


@pytest.mark.parametrize("refused", [True, False])
async def test_rules_that_nobody_validated_are_validated_before_they_are_committed(
    temporal_client: Client, tmp_path: Path, refused: bool
) -> None:
    """However a zone comes to read other rules than its window was about: after a commit that did not come
    about, or after one that drifted. The new window says as much as the first one.
    """
    enterprise = zone("a", plan="enterprise", traffic=BUSY)
    async with staged(temporal_client, tmp_path, enterprise, validation={"window": "12h"}) as stage:
        first = await stage.waits("a", within=120)
        before = await evidence(stage, "a")
        await stage.change("a", add_firewall_rules=[RULE])
        if refused:
            await stage.fault("rate_limit", "waf.config", "a")
        await stage.play.sign_zone(stage.name("a"))
        await stage.play.zone_until(
            stage.name("a"),
            lambda seen: seen.phase is ZonePhase.AWAITING_SIGN_OFF and seen.digest != first.digest,
            120,
        )
        state = await stage.play.state(stage.name("a"))
        assert state.drifted_from == first.digest and state.evidence != first.evidence
        after = await evidence(stage, "a")
        assert after.verdict is before.verdict is EvidenceVerdict.PASS
        assert await stage.changes("a") == [VALIDATED, VALIDATED]
        await stage.play.sign_zone(stage.name("a"))
        assert await stage.outcome("a", 120) is ZoneOutcome.MIGRATED
        assert await stage.changes("a") == [VALIDATED, VALIDATED, COMMITTED]
        await stage.closed()
        await stage.check(ASIDE - {3})


@pytest.mark.parametrize("plan", ["pro", "enterprise"])
async def test_a_status_that_is_wrong_once_ends_no_migration(
    temporal_client: Client, tmp_path: Path, plan: str
) -> None:
    """It says migrated while the commit has not taken effect: it is looked at again, and seen through."""
    slow = {"migration_seconds": 4 * SCALE}
    terms: dict[str, Any] = {"commit": {"migration_limit": "12s"}}
    async with staged(temporal_client, tmp_path, zone("a", plan), simulator=slow, **terms) as stage:
        await stage.waits("a", within=120)
        await stage.fault("latency", "entrypoint.put", "a", seconds=1.0)
        await stage.play.sign_zone(stage.name("a"))
        await stage.phase("a", ZonePhase.COMMITTING, ZonePhase.VERIFYING)
        await stage.fault("wrong_types", "waf.status", "a", replace=MIGRATED)
        result = await stage.play.zone(stage.name("a")).result()
        assert result.outcome is ZoneOutcome.MIGRATED, result.reason
        assert await stage.unfired() == []
        assert await migrated(stage, "a")
        await stage.closed()
        await stage.check()


async def test_what_an_earlier_attempt_committed_is_read_back(
    temporal_client: Client, tmp_path: Path
) -> None:
    """A commit that showed after its zone was given up: the next attempt verifies it, with its record."""
    slow = {"migration_seconds": 5 * SCALE}
    async with staged(
        temporal_client, tmp_path, zone("a"), simulator=slow, commit={"resend_unchanged": 0}
    ) as stage:
        await stage.waits("a")
        await stage.play.sign_zone(stage.name("a"))
        result = await stage.play.zone(stage.name("a")).result()
        assert result.outcome is ZoneOutcome.UNKNOWN
        await stage.closed()
        await eventually(lambda: migrated(stage, "a"), 60, "it has taken effect")
        await begin_again(stage.play.client, stage.play.spec.name, "retry", by=OPERATOR, places=["unknown"])
        await stage.finish()
        again = await stage.play.zone(stage.name("a")).result()
        assert again.outcome is ZoneOutcome.MIGRATED and again.record, again
        assert await stage.changes("a") == [COMMITTED]
        await stage.check()


async def test_what_was_verified_is_nobodys_to_verify_again(temporal_client: Client, tmp_path: Path) -> None:
    """A campaign that is started again finds it migrated, whatever somebody has made of its rules since."""
    async with staged(temporal_client, tmp_path, zone("a"), zone("b")) as stage:
        await stage.finish()
        await stage.change("a", entry_point={"rules": [SKIP]})
        play = stage.play
        play.start = await start_campaign(play.client, play.archive, play.spec, by=OPERATOR, again=True)
        result = await stage.finish()
        assert result.outcomes == {"already_migrated": 2}


async def test_a_validation_waits_for_a_commit_of_somebody_else(
    temporal_client: Client, tmp_path: Path
) -> None:
    """Nothing is sent while that may still come to show, and nothing is told of what was not sent."""
    async with staged(temporal_client, tmp_path, zone("a", "enterprise"), begin=False) as stage:
        found = stage.play.fleet.zones[0]
        sent = Zone(id=found.id, name=found.name, account=found.account, plan=Plan.ENTERPRISE)
        commit = {"step": "commit", "at": datetime.now(UTC).isoformat(), "campaign": "another"}
        key = intent_key(sent, Area.WAF, "permit-of-another")
        await stage.play.archive.create_once(key, canonical_bytes(commit))
        await stage.play.begin()
        await stage.finish()
        assert await stage.outcome("a") is ZoneOutcome.MIGRATED
        assert await stage.changes("a") == [VALIDATED, COMMITTED]
        first = (await stage.play.journal("entrypoint.put", stage.name("a")))[0]
        limit = stage.play.spec.scaled().commit.migration_limit
        assert datetime.fromisoformat(first["wall_time"]) - datetime.fromisoformat(commit["at"]) >= limit


@pytest.mark.parametrize("how", ["as signed", "changed", "nobody knows"])
async def test_a_zone_that_was_terminated_is_migrated_with_the_signed_rules_alone(
    temporal_client: Client, tmp_path: Path, how: str
) -> None:
    """Its campaign reads the rules that are stored, beside the status. A proposal that the archive has lost
    stops nobody else.
    """
    slow = {"migration_seconds": 3 * SCALE}
    async with staged(temporal_client, tmp_path, zone("a"), zone("open"), simulator=slow) as stage:
        state = await stage.waits("a")
        await stage.play.sign_zone(stage.name("a"))
        await stage.phase("a", ZonePhase.VERIFYING)
        await stage.play.zone(stage.name("a")).terminate("by hand")
        objects = stage.play.folder / "state" / "archive" / "objects"
        proposal = objects / state.proposal[:2] / state.proposal
        if how == "nobody knows":
            proposal.rename(stage.play.folder / "proposal")
        await eventually(lambda: migrated(stage, "a"), 60, "it has taken effect")
        if how == "changed":
            await stage.change("a", entry_point={"rules": [SKIP]})
        place = "migrated" if how == "as signed" else "unknown"
        await stage.play.until(lambda seen: seen.places.get(place) == 1, 60)
        if how == "nobody knows":
            (stage.play.folder / "proposal").rename(proposal)
        await stage.finish()


async def test_a_group_that_gave_its_permits_back_is_signed_as_a_group(
    temporal_client: Client, tmp_path: Path
) -> None:
    """An approval that ran out in a pause is asked for again, once for all zones of the fingerprint."""
    policy = {"valid_for": "32h"}
    zones = [zone(name) for name in ("a", "b", "c")]
    async with staged(temporal_client, tmp_path, *zones, sign_off=policy) as stage:
        state = await stage.waits("a")
        await stage.play.until(lambda seen: seen.places.get("awaiting") == 3, 60)
        await stage.play.ask("pause", "a long lunch")
        await stage.play.sign([state.fingerprint])
        scaled = stage.play.spec.scaled()
        sending = scaled.commit.waits_for_turn + scaled.commit.send_window
        late = scaled.sign_off.valid_for + sending + scaled.service.request_limit
        await asyncio.sleep(late.total_seconds() + 1)
        await stage.play.ask("resume")
        await stage.play.until(lambda seen: seen.places.get("awaiting") == 3, 60)
        assert await stage.changes() == []
        await stage.play.sign([state.fingerprint])
        assert {await stage.outcome(name) for name in ("a", "b", "c")} == {ZoneOutcome.MIGRATED}
        await stage.closed()
        await stage.check({3, 4})


async def test_where_each_zone_is_signed_by_itself_both_windows_run(
    temporal_client: Client, tmp_path: Path
) -> None:
    """The next mode begins by the evidence, whoever signs for how many zones."""
    async with staged(
        temporal_client,
        tmp_path,
        zone("a", "enterprise", traffic=BUSY),
        sign_off={"per": "zone"},
        consents={"enforce_validation": True},
        validation={"window": "12h", "modes": ["shadow", "enforce"]},
    ) as stage:
        await stage.waits("a", within=120)
        sent = await stage.play.journal("entrypoint.put", stage.name("a"))
        assert [entry["log_only"] for entry in sent] == [True, False]
        await stage.play.sign_zone(stage.name("a"))
        assert await stage.outcome("a") is ZoneOutcome.MIGRATED
        await stage.closed()
        await stage.check(ASIDE - {3})
