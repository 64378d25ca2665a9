"""What a campaign has in another archive, or what nobody could be asked, is not told as what there is not."""

from __future__ import annotations

import asyncio
import json
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path

import pytest
from temporalio.client import Client, WorkflowHandle

from edgeshift.campaign.start import campaign_start
from edgeshift.campaign_file.spec import CampaignSpec
from edgeshift.cli import status
from edgeshift.model.digests import canonical_bytes, digest, essence
from edgeshift.model.fleet import Wave, campaign_id
from edgeshift.operations import calls, showing
from edgeshift.operations.campaigns import store_spec
from edgeshift.operations.proof import ELSEWHERE, UNSIGNED
from edgeshift.stores.archive import Archive
from edgeshift.stores.identity import identity_of
from edgeshift.testbed.temporal_server.embedded import EmbeddedTemporal
from tests.journeys.cli_kit import Ran, in_process
from tests.kit import OPERATOR, eventually, fleet_of, scene
from tests.kit.faults import staged, zone

pytestmark = [pytest.mark.embedded, pytest.mark.long, pytest.mark.timeout(300)]

REFUSED = "keeps its documents in another archive ("
BODY = {"rules": [{"action": "block", "expression": "true"}]}


async def called(*verb: str) -> Ran:
    """A verb, beside the loop on which workers run."""
    return await asyncio.to_thread(in_process, *verb)


@pytest.fixture
def here(embedded: EmbeddedTemporal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A person's folder, with this Temporal and the campaign's archive in the environment."""
    monkeypatch.setenv("EDGESHIFT_TEMPORAL_ADDRESS", embedded.address)
    monkeypatch.setenv("EDGESHIFT_ARCHIVE_URL", str(tmp_path / "archive"))
    monkeypatch.setenv("EDGESHIFT_USER", OPERATOR)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(calls, "ANSWER_WITHIN", timedelta(seconds=1))
    return tmp_path


@asynccontextmanager
async def unserved(client: Client, archive: Archive) -> AsyncIterator[WorkflowHandle[object, object]]:
    """A campaign for which no worker is there."""
    service = {"base_url": "http://127.0.0.1:9", "credentials": [{"token": "env:NO_TOKEN"}]}
    name = f"elsewhere-{uuid.uuid4().hex[:8]}"
    spec = CampaignSpec.model_validate({"name": name, "targets": {"all": True}, "service": service})
    none = "0" * 64
    start = campaign_start(
        spec,
        await store_spec(archive, spec),
        targets=none,
        count=1,
        waves=(Wave(number=0, name="all", first=0, end=1),),
        enterprise=none,
        started_by=OPERATOR,
        archive=await identity_of(archive),
    )
    handle = await client.start_workflow(
        "Campaign", args=start.arguments(), id=campaign_id(name), task_queue=f"nobody-{name}"
    )
    try:
        yield handle
    finally:
        if (await handle.describe()).close_time is None:
            await handle.terminate()


async def test_a_digest_is_refused_with_another_archive_than_any_campaigns(
    here: Path, temporal_client: Client
) -> None:
    """Whole or not, whether the campaign runs or has ended, and although no worker is there; and whether the
    other archive is no folder or has a name of its own.
    """
    archive = Archive(here / "archive")
    known = await archive.put_object(canonical_bytes(essence(BODY)))
    assert known == digest(BODY)
    await identity_of(Archive(here / "made"))
    async with unserved(temporal_client, archive) as campaign:
        name = campaign.id.removeprefix("campaign/")
        for ended in (False, True):
            if ended:
                await campaign.terminate()
            for other in ("gone", "made"):
                for what in (known, known[:12]):
                    for only in ((), ("--campaign", name)):
                        ran = await called("show", what, *only, "--archive", str(here / other))
                        assert ran.code == 6 and REFUSED in ran.err, (ended, other, what, only, ran)
            # With its own archive, the whole digest is answered to.
            ran = await called("show", known, "--campaign", name)
            assert ran.code == 0 and "in the archive; no zone waits with it now" in ran.out, ran
    assert not (here / "gone").exists()


async def test_nothing_is_said_to_wait_nowhere_where_nobody_answered(
    here: Path, temporal_client: Client
) -> None:
    """A running campaign without a worker is Temporal's trouble (3), and no digest that nobody has."""
    async with unserved(temporal_client, Archive(here / "archive")) as campaign:
        name = campaign.id.removeprefix("campaign/")
        for what in ("abcdef01", "abcdef01" * 8):
            ran = await called("show", what, "--campaign", name)
            assert ran.code == 3 and f"no worker answers for campaign {name}" in ran.err, ran
            assert "no zone waits" not in ran.err


async def test_what_is_kept_elsewhere_is_told_as_that(
    here: Path, temporal_client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A list does not call the names of such a campaign claims; waiting for it is refused at once."""
    await identity_of(Archive(here / "made"))
    async with unserved(temporal_client, Archive(here / "archive")) as campaign:
        name = campaign.id.removeprefix("campaign/")
        for archive, note in ("archive", UNSIGNED), ("made", ELSEWHERE), ("gone", ELSEWHERE):
            monkeypatch.setenv("EDGESHIFT_ARCHIVE_URL", str(here / archive))
            found = json.loads((await called("status", "--json")).out)
            assert [one["note"] for one in found["campaigns"] if one["name"] == name] == [note]
        began = asyncio.get_running_loop().time()
        ran = await called("status", name, "--until", "finished", "--timeout", "4m")
        assert ran.code == 6 and REFUSED in ran.err
        assert asyncio.get_running_loop().time() - began < 60


async def test_a_list_says_how_many_it_leaves_out(
    here: Path, temporal_client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On stderr, and in the JSON."""
    monkeypatch.setattr(status, "MOST_CAMPAIGNS", 1)
    archive = Archive(here / "archive")
    async with unserved(temporal_client, archive), unserved(temporal_client, archive):
        ran = await called("status", "--json")
        found = json.loads(ran.out)
        assert len(found["campaigns"]) == 1 and found["left_out"] >= 1
        many = "campaign" if found["left_out"] == 1 else "campaigns"
        assert f"and {found['left_out']} more {many}, begun earlier: `edgeshift status CAMPAIGN`" in ran.err


async def test_of_very_many_zones_it_says_how_many_were_not_asked(
    here: Path, temporal_client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Their own digests are asked for one by one. And alarms of all tell which archive's are claims."""
    monkeypatch.setattr(calls, "ANSWER_WITHIN", timedelta(seconds=5))
    monkeypatch.setattr(showing, "MOST_ASKED", 1)
    fleet = fleet_of({"name": "a.example", "plan": "pro"}, {"name": "b.example", "plan": "pro"})
    async with scene(temporal_client, here, fleet) as play:

        async def both() -> bool:
            return (await play.summary()).places.get("awaiting") == 2

        await eventually(both, 120, "both zones wait")
        monkeypatch.setenv("EDGESHIFT_ARCHIVE_URL", play.settings.archive)
        ran = await called("show", "abcdef01", "--campaign", play.spec.name)
        assert ran.code == 5 and "of the first 1 of each campaign whose own digest" in ran.err, ran
        assert "asked for: 1 more were not asked" in ran.err
        assert "the archive answers to a whole digest (64 digits)" in ran.err
        for archive, note in (play.settings.archive, UNSIGNED), (str(here / "gone"), ELSEWHERE):
            found = json.loads((await called("alarms", "--json", "--archive", archive)).out)
            (said,) = (line for line in found["note"].splitlines() if play.spec.name in line)
            assert said.endswith(f": {note}"), (archive, found)


@pytest.mark.parametrize("verb", [("pause",), ("abort", "--yes")])
async def test_a_campaign_is_stopped_where_the_archive_is_not_mounted(
    verb: tuple[str, ...], here: Path, temporal_client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its folder is not there: it says so and goes on, and makes none. What lets it go on is refused."""
    monkeypatch.setattr(calls, "ANSWER_WITHIN", timedelta(seconds=20))
    async with staged(temporal_client, here, zone("a")) as stage:
        await stage.waits("a")
        name = stage.play.spec.name
        elsewhere = ("--archive", str(here / "gone"))
        ran = await called(*verb, name, *elsewhere)
        assert ran.code == 0, ran
        assert "cannot be read: " in ran.err and "gone is no folder, and nothing can be signed" in ran.err
        if verb[0] == "pause":
            assert (await stage.play.summary()).state == "paused"
            ran = await called("resume", name, *elsewhere)
            assert ran.code == 6 and REFUSED in ran.err
    assert not (here / "gone").exists()
