"""The signed campaign file at the door: what it does not ask for is not sent, whoever has signed it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from activities.change.door import MutationActivities
from activities.log_fields.changes import LogFieldsWork
from activities.log_fields.reading import read_zone as read_logs
from activities.snapshots import archive_snapshot
from activities.waf.proposing import deletion_body
from activities.waf.zone import read_zone
from edgeshift.areas import log_fields
from edgeshift.areas.evidence import EvidenceVerdict
from edgeshift.areas.log_fields.terms import FieldSet, LogFieldsSpec
from edgeshift.messages import ChangeResult, ChangeStatus, Step
from edgeshift.model.digests import digest
from edgeshift.model.fleet import Area, Plan
from edgeshift.stores.documents import put_document
from tests.forgeries.doors import Guarded, guarded
from tests.service.gate_kit import Body, begun

JOB = {
    "destination": "s3://logs/bank?region=eu-west-1",
    "logpull_options": "fields=RayID&timestamps=rfc3339",
    "name": "customers",
}
OURS = FieldSet(request_headers=("x-ours",))
VISITORS = FieldSet(request_headers=("authorization",), cookies=("session",))


@asynccontextmanager
async def logged(folder: Path, asked: FieldSet = OURS) -> AsyncIterator[Guarded]:
    """A zone with a log job, in a signed campaign of log-fields."""
    settings = {"logs": {"jobs": [JOB], "fields": []}}
    file = {"area": "log-fields", "log_fields": log_fields.fields_document(asked), "commit": {"poll": "1s"}}
    async with guarded(folder, plan=Plan.ENTERPRISE, settings=settings, **file) as door:
        door.gate.start = door.gate.start.model_copy(update={"area": Area.LOG_FIELDS})
        await door.begin()
        yield door


async def logs(door: Guarded, fields: FieldSet, permit: int = 1) -> ChangeResult:
    """These fields are proposed, approved and sent."""
    gate = door.gate
    there, zone = gate.connections, gate.zone
    reading = await read_logs(await there.service(gate.start.spec, zone), zone)
    spec = (await there.spec(gate.start.spec)).section(LogFieldsSpec)
    body = log_fields.proposal_body(reading, zone, fields, spec.job)
    gate.snapshot = await archive_snapshot(there, zone, Area.LOG_FIELDS, reading)
    await door.approve(subjects=(digest(body),))
    work = MutationActivities(there, {Area.LOG_FIELDS: LogFieldsWork(there)})
    message = await gate.message(body, body, permit=permit)
    return await begun().run(work.change, message)


async def rules(door: Guarded) -> str:
    """The zone's rulesets, as text."""
    return str((await door.gate.control.get(f"zones/{door.gate.zone.id}"))["rulesets"])


@pytest.mark.parametrize("fields", [VISITORS, FieldSet(request_headers=("x-ours", "cookie"))], ids=str)
async def test_no_other_fields_are_logged_than_the_file_asks_for(fields: FieldSet, tmp_path: Path) -> None:
    """An approver alone, who writes a proposal, has no zone log what visitors send."""
    async with logged(tmp_path) as door:
        refused = await logs(door, fields)
        assert refused.status is ChangeStatus.DRIFTED and "the campaign's file" in refused.reason
        assert "authorization" not in await rules(door) and await door.sent() == 0
        assert (await logs(door, OURS, permit=2)).status is ChangeStatus.ANSWERED
        assert "x-ours" in await rules(door)


async def test_further_fields_of_a_campaign_that_is_started_again_are_logged(tmp_path: Path) -> None:
    """By the file that it is started again by; and no longer by the one of before."""
    async with logged(tmp_path) as door:
        assert (await logs(door, OURS)).status is ChangeStatus.ANSWERED
        spec, both = await door.gate.connections.spec(door.gate.start.spec), ("x-ours", "x-more")
        section = spec.section(LogFieldsSpec).model_copy(update={"request_headers": both})
        stored = await put_document(door.archive, spec.model_copy(update={"log_fields": section}))
        again = door.with_start(spec=stored)
        await again.begin(issued=datetime.now(UTC).replace(microsecond=0))
        more = FieldSet(request_headers=both)
        assert (await logs(door, more, permit=2)).unsigned
        assert (await logs(again, more, permit=3)).status is ChangeStatus.ANSWERED
        assert "x-more" in await rules(door)


OVERRIDE = {"urls": ["bank.example/a/*"], "groups": {}, "rules": {"100000": "disable"}}
SKIP = {
    "action": "skip",
    "action_parameters": {"ruleset": "current"},
    "expression": 'http.request.uri.path eq "/upload"',
    "description": "uploads",
}


async def deletes(door: Guarded) -> ChangeResult:
    """The zone's URI overrides are approved for deletion, and that is sent."""
    gate = door.gate
    reading = await read_zone(await gate.connections.service(gate.start.spec, gate.zone), gate.zone)
    gate.snapshot = await archive_snapshot(gate.connections, gate.zone, Area.WAF, reading)
    body: Body = deletion_body(reading.overrides)
    await door.approve(step=Step.DELETE_OVERRIDES, subjects=(digest(body),))
    return await gate.change(body, body, step=Step.DELETE_OVERRIDES)


async def overrides(door: Guarded) -> int:
    """How many URI overrides the zone has."""
    gate = door.gate
    client = await gate.connections.service(gate.start.spec, gate.zone)
    return len((await read_zone(client, gate.zone)).overrides)


@pytest.mark.parametrize("asked", [False, True])
async def test_overrides_are_deleted_with_the_consent_of_the_file_alone(asked: bool, tmp_path: Path) -> None:
    """Whoever has signed the deletion."""
    async with guarded(tmp_path, consents={"delete_uri_overrides": asked}) as door:
        await door.gate.control.send("PATCH", f"zones/{door.gate.zone.id}", {"uri_overrides": [OVERRIDE]})
        await door.begin()
        result = await deletes(door)
        assert await overrides(door) == (0 if asked else 1), result
        assert asked or (result.status is ChangeStatus.DRIFTED and "nobody has consented" in result.reason)


@pytest.mark.parametrize("agreed", [False, True])
async def test_overrides_of_a_zone_that_could_not_move_stay(agreed: bool, tmp_path: Path) -> None:
    """It has rules of the new WAF that a commit would replace, without a consent to that."""
    consents = {"delete_uri_overrides": True, "replaced_rules": ["bank.example"] if agreed else []}
    async with guarded(tmp_path, consents=consents) as door:
        there = {"uri_overrides": [OVERRIDE], "entry_point": {"name": "default", "rules": [SKIP]}}
        await door.gate.control.send("PATCH", f"zones/{door.gate.zone.id}", there)
        await door.begin()
        result = await deletes(door)
        assert await overrides(door) == (0 if agreed else 1), result
        assert agreed or "rule 1 of the new WAF as it is: skip (uploads)" in result.reason


BOTH = {"modes": ["shadow", "enforce"]}
TURNED = {"modes": ["enforce", "shadow"]}
CONSENT = {"enforce_validation": True}


@pytest.mark.parametrize(
    ("validation", "mode", "joins"),
    [
        (BOTH, "shadow", False),
        (BOTH, "enforce", True),
        (TURNED, "enforce", False),
        (TURNED, "shadow", True),
        ({"modes": ["enforce"]}, "shadow", False),
        ({"modes": ["enforce"]}, "enforce", True),
        ({"modes": ["shadow"]}, "shadow", True),
        # Somebody else has let the rules act, which shows more.
        ({"modes": ["shadow"]}, "enforce", True),
    ],
    ids=str,
)
async def test_a_zone_joins_its_fingerprint_by_evidence_of_the_files_last_window(
    validation: dict[str, Any], mode: str, joins: bool, tmp_path: Path
) -> None:
    """And not by that of a window before it, which is on record first. A person who is shown that agrees to
    the zone alone.
    """
    file = {"validation": validation, "consents": CONSENT}
    async with guarded(tmp_path, plan=Plan.ENTERPRISE, **file) as door:
        await door.begin()
        await door.approve_alike()
        await door.sent_before("validated", 24 * 9, step=Step.VALIDATE.value, mode=mode)
        found = await door.evidence(EvidenceVerdict.PASS, mode=mode)
        result = await door.commit(evidence=found)
        assert (result.status is ChangeStatus.ANSWERED) is joins, result
        if not joins:
            assert result.uncounted and "was not shown the zone's evidence" in result.reason
            await door.approve("grace", evidence=found)
            assert (await door.commit(permit=2, evidence=found)).status is ChangeStatus.ANSWERED


@pytest.mark.parametrize(
    ("targets", "said"),
    [
        ({"all": True, "exclude": ["bank.example"]}, "excludes it"),
        ({"all": True, "plans": ["enterprise"]}, "zones of plan pro"),
        ({"include": ["shop.example"]}, "does not name it"),
        ({"accounts": ["e" * 32]}, "does not name it"),
        ({"all": True, "exclude": ["shop.example"], "plans": ["pro", "free"]}, ""),
        ({"include": ["shop.example", "bank.example"]}, ""),
        # The list does not tell what its accounts are called.
        ({"accounts": ["Retail"]}, ""),
    ],
    ids=str,
)
async def test_a_list_of_targets_counts_as_far_as_the_file_means_them(
    targets: dict[str, Any], said: str, tmp_path: Path
) -> None:
    """What Temporal gave for the plan's list was signed by its digest: a zone that the file leaves out is not
    changed for that.
    """
    async with guarded(tmp_path) as found:
        spec = await found.gate.connections.spec(found.gate.start.spec)
        wanted = type(spec.targets).model_validate(targets)
        stored = await put_document(found.archive, spec.model_copy(update={"targets": wanted}))
        door = replace(found, gate=found.with_start(spec=stored).gate)
        await door.begin()
        await door.approve()
        result = await door.commit()
        if said:
            assert result.unsigned and said in result.reason and await door.sent() == 0
        else:
            assert result.status is ChangeStatus.ANSWERED, result


async def test_a_zone_of_an_account_that_the_file_names_is_changed(tmp_path: Path) -> None:
    """By the account's identifier."""
    async with guarded(tmp_path) as found:
        spec = await found.gate.connections.spec(found.gate.start.spec)
        wanted = spec.targets.model_copy(update={"all": False, "accounts": (found.gate.zone.account,)})
        stored = await put_document(found.archive, spec.model_copy(update={"targets": wanted}))
        door = found.with_start(spec=stored)
        await door.begin()
        await door.approve()
        assert (await door.commit()).status is ChangeStatus.ANSWERED
