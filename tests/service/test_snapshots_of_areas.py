"""Which snapshot ``edgeshift snapshot`` shows where a zone was read again after its change: each reading is
archived as one, so that the latest has the change in it.
"""

from __future__ import annotations

import asyncio
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from edgeshift.areas import esc, log_fields
from edgeshift.cli.main import called
from edgeshift.model.fleet import Area, Plan, Zone
from edgeshift.stores.archive import Archive
from edgeshift.stores.documents import (
    Intent,
    NothingMore,
    Snapshot,
    SnapshotTaken,
    create_record,
    intent_key,
    put_document,
    snapshot_key,
)
from edgeshift.stores.documents.intents import GIVEN_UP, OPENED, ClosedAs

ZONE = Zone(id="a" * 32, name="shop.example", account="b" * 32, plan=Plan.ENTERPRISE)
NOW = datetime(2023, 11, 1, 9, 30, tzinfo=UTC)


def hours(count: float) -> timedelta:
    """So many of them."""
    return timedelta(hours=count)


async def take(archive: Archive, area: Area, at: timedelta, reading: BaseModel) -> str:
    """A snapshot of the zone, taken so long after the first."""
    digest = await put_document(archive, Snapshot(zone=ZONE, reading=reading))
    key = snapshot_key(ZONE, area, digest)
    await create_record(archive, key, SnapshotTaken(taken_at=NOW + at))
    return digest


def fields(*names: str) -> log_fields.Reading:
    """A zone that logs these request headers."""
    rule = {"action_parameters": {"request_fields": [{"name": name} for name in names]}}
    return log_fields.Reading(plan=Plan.ENTERPRISE, ruleset={"id": "r", "rules": [rule]})


async def sends(
    archive: Archive,
    at: timedelta,
    permit: str,
    step: str = "commit",
    *,
    area: Area = Area.LOG_FIELDS,
    closed: ClosedAs | None = None,
) -> None:
    """It is recorded that something was about to be sent, and what came of it."""
    key = intent_key(ZONE, area, permit)
    await create_record(archive, key, Intent(step=step, at=NOW + at, campaign="campaign/c", permit=permit))
    if closed:
        beside = key.replace("intent/", "nothing/", 1)
        await create_record(archive, beside, NothingMore.of(closed))


async def shown(folder: Path, area: Area, out: pytest.CaptureFixture[str]) -> dict[str, Any]:
    """The reading that the verb prints."""
    options = ("--area", area.value, "--archive", str(folder / "archive"), "--json")
    assert await asyncio.to_thread(called, ["snapshot", ZONE.id, *options]) == 0
    found: dict[str, Any] = json.loads(out.readouterr().out)["reading"]
    return found


@pytest.fixture
def archive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Archive:
    monkeypatch.chdir(tmp_path)
    return Archive(tmp_path / "archive")


async def test_of_esc_the_latest_is_shown_in_which_it_is_on_and_no_secret_of_ours_there(
    archive: Archive, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A scope that was turned off is read again by a plan, or when its campaign is started again."""
    readings = [
        esc.Reading(covered="before"),
        esc.Reading(secret=esc.Secret.TEST),
        esc.Reading(always=True, secret=esc.Secret.TEST),
    ]
    for count, reading in enumerate(readings):
        await take(archive, Area.ESC, hours(count), reading)
    found = await shown(tmp_path, Area.ESC, capsys)
    assert (found["always"], found["secret"], found["covered"]) == (False, "none", "before")


async def test_of_a_scope_that_was_off_already_what_was_read_is_shown(
    archive: Archive, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nothing was changed: the first reading is all that there is from before."""
    await take(archive, Area.ESC, hours(0), esc.Reading(always=True, secret=esc.Secret.OWN))
    assert (await shown(tmp_path, Area.ESC, capsys))["always"] is True


async def test_where_the_setting_does_not_say_whether_it_is_off_time_tells(
    archive: Archive, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It may show a secret alone, before the change and after it."""
    for count, covered in ((0, "before"), (2, "after")):
        reading = esc.Reading(secret=esc.Secret.OWN, told=False, covered=covered)
        await take(archive, Area.ESC, hours(count), reading)
    await sends(archive, hours(1), "p-1", area=Area.ESC)
    assert (await shown(tmp_path, Area.ESC, capsys))["covered"] == "before"


async def test_of_log_fields_the_latest_from_before_the_first_change_is_shown(
    archive: Archive, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """No reading tells whose a field is: what was about to be sent is on record, with its time. What was
    given up, or refused, has changed nothing.
    """
    await take(archive, Area.LOG_FIELDS, hours(0), fields())
    await sends(archive, hours(1), "p-1", GIVEN_UP)
    await sends(archive, hours(2), "p-2", OPENED)
    await sends(archive, hours(3), "p-3", closed=ClosedAs.NOTHING_CAME)
    await take(archive, Area.LOG_FIELDS, hours(4), fields("theirs"))
    assert (await shown(tmp_path, Area.LOG_FIELDS, capsys)) == fields("theirs").model_dump(mode="json")
    await sends(archive, hours(5), "p-4", closed=ClosedAs.SHOWS)
    await take(archive, Area.LOG_FIELDS, hours(6), fields("theirs", "ours"))
    await sends(archive, hours(7), "p-5")
    assert (await shown(tmp_path, Area.LOG_FIELDS, capsys)) == fields("theirs").model_dump(mode="json")


async def test_where_all_is_from_after_the_change_the_first_is_shown(
    archive: Archive, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Such as by a worker whose clock is ahead."""
    await take(archive, Area.LOG_FIELDS, hours(1), fields("theirs"))
    await take(archive, Area.LOG_FIELDS, hours(2), fields("theirs", "ours"))
    await sends(archive, hours(0), "p-1")
    assert (await shown(tmp_path, Area.LOG_FIELDS, capsys)) == fields("theirs").model_dump(mode="json")
