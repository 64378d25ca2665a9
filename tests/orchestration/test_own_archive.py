"""A worker whose archive is not the campaign's makes no step, says so, and takes nothing for never sent; the
right one goes on as if nothing had been.
"""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path

import pytest
from temporalio.client import Client, WorkflowFailureError, WorkflowHandle
from temporalio.exceptions import ApplicationError

from activities.own_archive import OwnArchive
from edgeshift.operations.calls import missing_object
from edgeshift.operations.campaigns import freeze, store_spec
from edgeshift.operations.errors import Failed
from edgeshift.rate_limit.unpaced import Unpaced
from edgeshift.stores.archive import Archive, ArchiveUnavailable
from edgeshift.stores.identity import KEY, identity_of
from tests.kit import eventually
from tests.kit.faults import Stage, staged, zone
from worker.wiring import workers

pytestmark = [pytest.mark.embedded, pytest.mark.timeout(60)]

SAID = "this worker's archive is not the campaign's"


@asynccontextmanager
async def serving(stage: Stage, archive: str = "") -> AsyncIterator[None]:
    """A worker with the scene's archive, or with another one."""
    settings = stage.play.settings
    if archive:
        settings = settings.model_copy(update={"archive_url": archive})
    async with workers(
        stage.play.client,
        settings,
        pacer=lambda credential, campaign: Unpaced(),
        quota=False,
        grace=timedelta(seconds=1),
    ):
        yield


async def failures(handle: WorkflowHandle[object, object]) -> list[str]:
    """Why activities of a workflow that are tried again have failed."""
    pending = (await handle.describe()).raw_description.pending_activities
    return [one.last_failure.message for one in pending]


async def says_so(stage: Stage) -> bool:
    """Whether anything of the campaign's waits for the right archive."""
    return any(SAID in why for why in await failures(stage.play.campaign))


@pytest.mark.timeout(300)
async def test_a_worker_that_lacks_the_campaign_file_is_told_apart(
    temporal_client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever starts or plans hears in which archive the file was stored, by what the failure says beside its
    words.
    """

    async def polled(client: Client) -> list[str]:
        return ["the worker of this scene"]

    # The scene's task queues have names of its own, and whoever waits would look at the usual ones.
    monkeypatch.setattr("edgeshift.operations.waits.pollers", polled)
    async with staged(temporal_client, tmp_path, zone("one"), serve=False) as stage:
        (tmp_path / "other").mkdir()
        archive, spec = stage.play.archive, stage.play.spec
        digest = await store_spec(archive, spec)
        async with serving(stage, str(tmp_path / "other")):
            with pytest.raises(Failed) as told:
                await freeze(stage.play.client, archive, spec, digest)
    assert told.value.text == (
        f"the worker does not find the campaign file in its archive; it was stored in {archive.name}"
    )
    failed = told.value.__cause__
    assert isinstance(failed, WorkflowFailureError) and missing_object(failed.cause) == digest


@pytest.mark.parametrize("elsewhere", ["an empty folder", "a copy that has another name"])
async def test_a_worker_with_another_archive_makes_no_step(
    elsewhere: str, temporal_client: Client, tmp_path: Path
) -> None:
    """Such as the empty folder where its disk is not mounted; a copy has all that a zone's change reads, and
    nothing of what is sent meanwhile.
    """
    other = tmp_path / "other"
    async with staged(temporal_client, tmp_path, zone("one"), zone("two"), serve=False) as stage:
        async with serving(stage):
            await stage.play.begin()
            for short in ("one", "two"):
                await stage.waits(short)
            assert stage.play.start is not None and stage.play.start.archive
        if elsewhere != "an empty folder":
            assert stage.play.archive.folder is not None
            shutil.copytree(stage.play.archive.folder, other)
            (other / KEY).unlink()
            await identity_of(Archive(other))
        async with serving(stage, str(other)):
            await stage.play.sign_zone(stage.name("one"))
            await stage.play.sign_zone(stage.name("two"))
            await eventually(lambda: says_so(stage), 60, "the worker says that it has another archive")
            await asyncio.sleep(5)
            assert await stage.changes() == []
            assert not await stage.play.is_closed()
        assert not (other / "intent").exists()
        async with serving(stage):
            assert (await stage.finish()).outcomes == {"migrated": 2}
            await stage.check()


async def test_the_archive_of_a_worker_is_looked_at_until_it_is_the_right_one(tmp_path: Path) -> None:
    """One without a name is not the campaign's, nor one whose name is damaged, and may be later."""
    right = await identity_of(Archive(tmp_path / "right"))
    empty = OwnArchive(Archive(tmp_path / "empty"))
    with pytest.raises(ArchiveUnavailable, match=f"{SAID}.*has no identity"):
        await empty.check(right)
    await Archive(tmp_path / "damaged").create_once(KEY, b"me")
    with pytest.raises(ArchiveUnavailable, match="is no identity"):
        await OwnArchive(Archive(tmp_path / "damaged")).check(right)
    await Archive(tmp_path / "empty").create_once(KEY, right.encode())
    await empty.check(right)
    with pytest.raises(ArchiveUnavailable, match=f"{SAID}.*is archive {right[:12]}"):
        await empty.check("0" * 32)


def test_what_it_fails_by_is_tried_again() -> None:
    """For as long as there is patience, as while the archive cannot be read."""
    from activities.boundary import named

    failure = named(ArchiveUnavailable(SAID))
    assert isinstance(failure, ApplicationError)
    assert failure.type == "ArchiveUnavailable" and not failure.non_retryable
