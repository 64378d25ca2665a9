"""Whoever stops a campaign signs that first: it holds where Temporal, or the campaign, cannot be told."""

from __future__ import annotations

import os
import shutil
import uuid
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from temporalio.client import Client

from edgeshift.authority.last_word import is_meant, last_word
from edgeshift.authority.loading import load_roots
from edgeshift.authority.records import SignedRecords
from edgeshift.authority.signing import SigningFailed
from edgeshift.authority.starts import start_of
from edgeshift.campaign.start import campaign_start
from edgeshift.campaign_file.spec import CampaignSpec
from edgeshift.messages import CampaignStart
from edgeshift.model.fleet import Wave, campaign_id
from edgeshift.operations import calls
from edgeshift.operations.campaigns import store_spec
from edgeshift.operations.errors import Failed, NotBegun, NotFound
from edgeshift.operations.pen import Pen
from edgeshift.operations.steering import (
    NotLast,
    NotSignedHere,
    NotTold,
    abort,
    pause,
    resume,
    stop_untold,
)
from edgeshift.stores.archive import Archive
from tests.journeys.cli_kit import Ran, in_process
from tests.kit import OPERATOR
from tests.kit.faults import staged, zone
from tests.kit.hostile import PLANTED
from tests.kit.signing import Keys, Roster, key_of

NOWHERE = "127.0.0.1:9"


class Begun:
    """A campaign whose signed start is in an archive."""

    def __init__(self, folder: Path) -> None:
        name = f"untold-{uuid.uuid4().hex[:8]}"
        credentials = [{"token": "env:NO_TOKEN"}]
        service = {"base_url": "http://127.0.0.1:9", "credentials": credentials}
        self.spec = CampaignSpec.model_validate({"name": name, "targets": {"all": True}, "service": service})
        self.archive, self.keys = Archive(folder / "archive"), Keys(folder / "authority", Roster())

    async def begin(self) -> CampaignStart:
        """Sign the start."""
        wave = Wave(number=0, name="all", first=0, end=1)
        self.digest, none = await store_spec(self.archive, self.spec), "0" * 64
        start = campaign_start(
            self.spec, self.digest, targets=none, count=1, waves=(wave,), enterprise=none, started_by=OPERATOR
        )
        await self.pen.start(start, self.spec)
        return start

    @property
    def pen(self) -> Pen:
        """Of the operator."""
        return self.keys.pen(self.archive, OPERATOR)

    async def last(self) -> tuple[str, str] | None:
        """The last word that workers heed, and why it was said."""
        now, records = datetime.now(UTC) + timedelta(seconds=1), SignedRecords(self.archive)
        roots = load_roots(self.keys.roots)
        found = start_of(self.spec, self.digest, await records.starts(self.spec.name), roots, now)
        assert not isinstance(found, str), found
        word = last_word(await records.words(self.spec.name), found, roots, now)
        return (word.word, word.reason) if word else None


@pytest.fixture
def begun(tmp_path: Path) -> Begun:
    """One that has not begun yet."""
    return Begun(tmp_path)


@pytest.fixture
def person(begun: Begun, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An operator with a key, the roots and the archive, and a Temporal that is not there."""
    for name in [name for name in os.environ if name.startswith("EDGESHIFT_")]:
        monkeypatch.delenv(name)
    key = tmp_path / "authority" / "key"
    key.touch(mode=0o600)
    key.write_text(key_of(OPERATOR)._private.text)
    for name, value in {
        "USER": OPERATOR,
        "TEMPORAL_ADDRESS": NOWHERE,
        "ARCHIVE_URL": str(tmp_path / "archive"),
        "AUTHORITY_KEY": str(key),
        "AUTHORITY_ROOTS": str(begun.keys.roots),
    }.items():
        monkeypatch.setenv(f"EDGESHIFT_{name}", value)
    monkeypatch.chdir(tmp_path)


def _untold(ran: Ran, verb: str, name: str) -> None:
    assert ran.code == 3 and ran.err.count("error: ") == 1, ran
    assert f"campaign {name} could not be told to {verb}: " in ran.err and NOWHERE in ran.err
    assert (
        "It is signed and archived: workers of that archive heed it from now on, and send nothing" in ran.err
    )
    assert f"hint: `edgeshift {verb} {name}` once more, when Temporal and a worker answer again" in ran.err
    assert ran.err.rstrip().endswith("comes to know of it at its next sweep")


async def test_a_stop_is_signed_where_the_host_of_temporal_cannot_be_one(
    begun: Begun, person: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As where no server answers: pause and abort."""
    import asyncio

    monkeypatch.setenv("EDGESHIFT_TEMPORAL_ADDRESS", "256.1.1.1:9")
    monkeypatch.setenv("EDGESHIFT_TEMPORAL_TLS", "true")
    await begun.begin()
    for verb, line in ("pause", ("--reason", "odd")), ("abort", ("--reason", "odd", "--yes")):
        ran = await asyncio.to_thread(in_process, verb, begun.spec.name, *line)
        assert ran.code == 3 and "It is signed and archived" in ran.err, ran
        assert "the settings for Temporal at 256.1.1.1:9 cannot be used" in ran.err
        assert await begun.last() == (verb, "odd")


async def test_a_stop_is_signed_where_temporal_is_lost(
    begun: Begun, person: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the command line, with the start that the archive has. What lets a campaign go on is not, nor is an
    abort that nobody has confirmed, nor a stop of a campaign that the archive does not know, or without a
    key: then it says so, with another code.
    """
    import asyncio

    name = begun.spec.name
    await begun.begin()

    async def called(*verb: str) -> Ran:
        return await asyncio.to_thread(in_process, *verb)

    ran = await called("resume", name)
    assert ran.code == 3 and "signed" not in ran.err, ran
    for line in ("pause", "other"), ("abort", "other", "--yes"):
        ran = await called(*line)
        assert ran.code == 1 and NOWHERE in ran.err, ran
        assert "nothing is signed, either: this archive has no start of other that was signed" in ran.err
    with monkeypatch.context() as lost:
        lost.delenv("EDGESHIFT_AUTHORITY_KEY")
        for line in ("pause", name), ("abort", name, "--yes"):
            ran = await called(*line)
            assert ran.code == 1 and "nothing is signed: there is no key" in ran.err, ran
    assert (await called("abort", name)).code == 6 and await begun.last() is None
    _untold(await called("pause", name, "--reason", "now"), "pause", name)
    assert await begun.last() == ("pause", "now")
    _untold(await called("abort", name, "--yes", "--reason", "enough"), "abort", name)
    assert await begun.last() == ("abort", "enough")


async def test_a_stop_that_no_worker_would_heed_is_not_told_as_one(
    begun: Begun, person: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Temporal is lost, and whoever stops the campaign is no operator by the roots: they hear so, and nothing
    is signed. Where no roots are known here it is signed, and they hear on what that depends.
    """
    import asyncio

    name, roster = begun.spec.name, begun.keys.roster
    await begun.begin()
    begun.keys.write(replace(roster, people={**roster.people, OPERATOR: ("starter",)}))
    records = SignedRecords(begun.archive)
    for line in ("pause", name), ("abort", name, "--yes"), ("resume", name), ("pause", "--all", "--yes"):
        ran = await asyncio.to_thread(in_process, *line)
        assert (
            ran.code == 6 and f"{OPERATOR} is no operator in the roots {begun.keys.roots}; nothing" in ran.err
        )
        assert "signed and archived" not in ran.err
    assert await records.words(name) == ()
    monkeypatch.delenv("EDGESHIFT_AUTHORITY_ROOTS")
    ran = await asyncio.to_thread(in_process, "pause", name)
    assert (
        ran.code == 3
        and f"heed it only if signatures count by their roots, and these have {OPERATOR}" in ran.err
    )
    assert "from now on" not in ran.err and "at its next sweep, where they do" in ran.err
    assert len(await records.words(name)) == 1
    assert await begun.last() is None


@pytest.mark.embedded
async def test_a_stop_is_signed_where_the_campaign_does_not_answer(
    begun: Begun, temporal_client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No worker is there for it; or its start in Temporal is a stranger's, which nobody signed."""
    monkeypatch.setattr(calls, "ANSWER_WITHIN", timedelta(seconds=1))
    start, name = await begun.begin(), begun.spec.name
    with pytest.raises(NotFound):
        await pause(temporal_client, name, by=OPERATOR, pen=begun.pen)
    assert await begun.last() is None
    for spec in (begun.digest, "f" * 64):
        arguments = start.model_copy(update={"spec": spec}).arguments()
        queue = f"nobody-{uuid.uuid4().hex}"
        handle = await temporal_client.start_workflow(
            "Campaign", args=arguments, id=campaign_id(name), task_queue=queue
        )
        try:
            with pytest.raises(NotTold, match="no worker answers for campaign"):
                await pause(temporal_client, name, by=OPERATOR, reason=spec[:4], pen=begun.pen)
        finally:
            await handle.terminate()
        assert await begun.last() == ("pause", spec[:4])


async def test_whoever_pauses_unseen_hears_that_it_may_not_be_the_last_word(
    begun: Begun, temporal_client: Client
) -> None:
    """What lies among the words and nobody can read may be a resume with a higher number."""
    await begun.begin()
    assert begun.archive.folder is not None
    PLANTED["a statement that links to itself"](begun.archive.folder / "signed" / begun.spec.name, "word")
    with pytest.raises(NotTold, match=r"but a resume may count before it: .*could not read"):
        await stop_untold(begun.pen, begun.spec.name, "pause", "", "it is away")


@pytest.mark.embedded
async def test_whoever_pauses_hears_that_it_may_not_be_the_last_word(
    temporal_client: Client, tmp_path: Path
) -> None:
    """The campaign is told all the same, and stops."""
    async with staged(temporal_client, tmp_path, zone("a"), authority=Roster()) as stage:
        play = stage.play
        await stage.waits("a")
        assert play.archive.folder is not None
        PLANTED["a statement that links to itself"](play.archive.folder / "signed" / play.spec.name, "word")
        pen = Pen(key_of(OPERATOR), play.archive, OPERATOR)
        with pytest.raises(NotLast, match=r"is paused; .*and that is signed; but a resume may count"):
            await pause(play.client, play.spec.name, by=OPERATOR, pen=pen)
        assert (await play.summary()).state == "paused"


@pytest.mark.embedded
async def test_a_campaign_is_told_to_stop_where_one_signature_of_several_is_missing(
    temporal_client: Client, tmp_path: Path
) -> None:
    """That of another service's start. Nobody is asked once more for what is signed."""
    asked: list[bytes] = []
    key = key_of(OPERATOR)

    class Once:
        """A key that is touched once."""

        key = key_of(OPERATOR).key

        async def sign(self, message: bytes) -> str:
            asked.append(message)
            if len(asked) > 1:
                raise SigningFailed("nobody touched it")
            return await key.sign(message)

    async with staged(temporal_client, tmp_path, zone("a"), authority=Roster()) as stage:
        play = stage.play
        await stage.waits("a")
        records = SignedRecords(play.archive)
        (start,) = await records.starts(play.spec.name)
        # Of two of the same second by the same file, either may be taken for the latest.
        before = start.statement.issued - timedelta(hours=1)
        about = {"service": "https://staging.example.com/v4", "issued": before}
        other = start.statement.model_copy(update=about)
        await records.put(other, await key.sign(other.bytes))
        missing = (
            "is paused; .*and that is signed; but it is not signed for 1 other start .*: nobody touched it"
        )
        with pytest.raises(NotLast, match=missing):
            await pause(play.client, play.spec.name, by=OPERATOR, pen=Pen(Once(), play.archive, OPERATOR))
        assert (await play.summary()).state == "paused"
        (word,) = await records.words(play.spec.name)
        assert is_meant(word, start) and len(asked) == 2


@pytest.mark.embedded
async def test_a_campaign_is_told_to_stop_where_the_archive_is_lost(
    temporal_client: Client, tmp_path: Path
) -> None:
    """It stops, and whoever asked hears that nothing is signed."""
    async with staged(temporal_client, tmp_path, zone("a"), authority=Roster()) as stage:
        play = stage.play
        await stage.waits("a")
        gone = Archive(tmp_path / "gone")
        pen = Pen(key_of(OPERATOR), gone, OPERATOR)
        shutil.rmtree(tmp_path / "gone")
        with pytest.raises(Failed, match=r"is paused; .*; but that is not signed: "):
            await pause(play.client, play.spec.name, by=OPERATOR, pen=pen)
        assert (await play.summary()).state == "paused"


@pytest.mark.embedded
async def test_a_campaign_of_no_signed_start_is_told_to_stop_alone(
    temporal_client: Client, tmp_path: Path
) -> None:
    """Whoever has a key ends it, too: nothing can be signed of it, and workers that ask for signatures change
    nothing of it. What would let it go on is refused, and the hint ends it.
    """
    async with staged(temporal_client, tmp_path, zone("a")) as stage:
        play, keys = stage.play, Keys(tmp_path / "authority", Roster())
        await stage.waits("a")
        pen = keys.pen(play.archive, OPERATOR)
        name = play.spec.name
        answer = await pause(play.client, name, by=OPERATOR, pen=pen)
        assert answer.text.endswith(". That is not signed, nor is its start")
        assert (await play.summary()).state == "paused"
        with pytest.raises(NotBegun) as refused:
            await resume(play.client, name, by=OPERATOR, pen=pen)
        assert f"`edgeshift abort {name}` ends it" in refused.value.hint
        answer = await abort(play.client, name, by=OPERATOR, pen=pen)
        assert "nor is its start" in answer.text
        assert await SignedRecords(play.archive).words(name) == ()


@pytest.mark.embedded
async def test_a_campaign_of_a_starter_unknown_here_is_told_and_not_called_unsigned(
    temporal_client: Client, tmp_path: Path
) -> None:
    """Workers know them, by newer roots than those here: whoever stops it hears that nothing is signed."""
    async with staged(temporal_client, tmp_path, zone("a"), authority=Roster()) as stage:
        play, keys = stage.play, Keys(tmp_path / "older", Roster(people={"sam": ("operator",)}))
        await stage.waits("a")
        with pytest.raises(NotSignedHere, match=r"is paused; .*but that is not signed: its start"):
            await pause(play.client, play.spec.name, by="sam", pen=keys.pen(play.archive, "sam"))
        assert (await play.summary()).state == "paused"
        assert await SignedRecords(play.archive).words(play.spec.name) == ()
