"""Counts of calls: what a worker records of them, and what a forecast takes from the records."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from activities.calls_made import Counts
from edgeshift.campaign_file.forecast import Measured
from edgeshift.messages import Announce, ReportKind, ZoneReport, ZoneStart
from edgeshift.model.fleet import Area, Plan, ZoneOutcome
from edgeshift.operations.forecasts import measured_calls
from edgeshift.stores.archive import Archive, ArchiveUnavailable

RUNS = {"spring": "run-1", "autumn": "run-2"}


class Fails(Archive):
    """An archive that cannot be written for a while."""

    down = False

    async def create_once(self, key: str, data: bytes, *, lasting: bool = True) -> bool:
        """Create a record, unless it is down."""
        if self.down:
            raise ArchiveUnavailable("it is down")
        return await super().create_once(key, data, lasting=lasting)


@pytest.fixture
def archive(tmp_path: Path) -> Fails:
    """An archive in a folder."""
    return Fails(str(tmp_path / "archive"))


def made(counts: Counts, campaign: str, calls: list[int], plan: Plan = Plan.PRO, first: int = 0) -> list[str]:
    """Count so many calls of as many zones; the names of their workflows."""
    names = []
    for number, many in enumerate(calls, first):
        start: Any = SimpleNamespace(
            area=Area.WAF,
            campaign=f"campaign/{campaign}",
            campaign_run=RUNS[campaign],
            target=SimpleNamespace(zone=SimpleNamespace(plan=plan)),
        )
        names.append(f"zone/{number:032x}/waf")
        counts.made(cast(ZoneStart, start), names[-1], many)
    return names


def ended(counts: Counts, campaign: str, names: list[str], outcome: ZoneOutcome) -> None:
    """These zones have told how they ended."""
    for name in names:
        report = ZoneReport(
            campaign_run=RUNS[campaign], index=0, attempt=1, sequence=1, kind=ReportKind.FINISHED
        )
        word = Announce(campaign=f"campaign/{campaign}", report=report)
        counts.ended(Area.WAF, word, name, outcome)


async def test_counts_of_several_workers_are_one_figure(archive: Archive) -> None:
    """One has called, another has seen the end, and one of them twice as often."""
    one, other = Counts(archive), Counts(archive)
    names = made(one, "spring", [5, 5, 5, 6, 9])
    await one.record(all_of_it=True)
    made(one, "spring", [1])
    made(other, "spring", [4])
    ended(other, "spring", names, ZoneOutcome.MIGRATED)
    for counts in (one, other, other):
        await counts.record(all_of_it=True)
    assert await measured_calls(archive, Area.WAF) == {False: Measured("spring", 5, 7.0)}
    assert await measured_calls(archive, Area.ESC) == {}


async def test_zones_that_did_not_get_there_are_no_measure(archive: Archive) -> None:
    """Of seven zones one failed, and one is not over: five have ended well, and these alone count."""
    counts = Counts(archive)
    names = made(counts, "spring", [5, 5, 5, 5, 5, 100, 1])
    ended(counts, "spring", names[:5], ZoneOutcome.MIGRATED)
    ended(counts, "spring", names[5:6], ZoneOutcome.FAILED)
    await counts.record(all_of_it=True)
    assert (await measured_calls(archive, Area.WAF))[False] == Measured("spring", 5, 5.0)


async def test_each_kind_of_zone_has_the_latest_campaign_that_knows_it(archive: Archive) -> None:
    """Autumn had Enterprise zones enough, and too few others: those are known of spring."""
    counts = Counts(archive)
    for campaign, pro, enterprise in (("spring", [6] * 5, [20] * 5), ("autumn", [9] * 4, [13] * 6)):
        names = made(counts, campaign, pro)
        names += made(counts, campaign, enterprise, Plan.ENTERPRISE, first=100)
        ended(counts, campaign, names, ZoneOutcome.MIGRATED)
        await counts.record(all_of_it=True)
    found = await measured_calls(archive, Area.WAF)
    assert found == {False: Measured("spring", 5, 6.0), True: Measured("autumn", 6, 13.0)}


async def test_what_could_not_be_recorded_stays_counted(archive: Fails) -> None:
    """The archive is away for a while; nothing is lost, and nothing counts twice."""
    counts = Counts(archive)
    names = made(counts, "spring", [5] * 5)
    archive.down = True
    with pytest.raises(ArchiveUnavailable):
        await counts.record(all_of_it=True)
    archive.down = False
    made(counts, "spring", [1] * 5)
    ended(counts, "spring", names, ZoneOutcome.MIGRATED)
    await counts.record(all_of_it=True)
    await counts.record(all_of_it=True)
    assert (await measured_calls(archive, Area.WAF))[False] == Measured("spring", 5, 6.0)


@pytest.mark.parametrize("run", ["a b", "..", "x" * 300])
async def test_a_run_that_is_no_part_of_a_name_keeps_nothing_from_being_recorded(
    run: str, archive: Archive, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever can have something done for a zone names it as they like."""
    monkeypatch.setitem(RUNS, "odd", run)
    counts = Counts(archive)
    ended(counts, "odd", made(counts, "odd", [5] * 5), ZoneOutcome.MIGRATED)
    names = made(counts, "spring", [5] * 5)
    ended(counts, "spring", names, ZoneOutcome.MIGRATED)
    await counts.record(all_of_it=True)
    assert (await measured_calls(archive, Area.WAF))[False] == Measured("spring", 5, 5.0)


async def test_strange_records_do_no_harm(archive: Archive) -> None:
    """Whoever writes in the archive cannot keep a plan from being shown, by a name or by what is in it."""
    await archive.create_once("calls/waf/spring/run-1/20260101T000000000000-1", b'{"zones": 3}')
    await archive.create_once("calls/waf/x", b"{}")
    await archive.create_once("calls/waf/spring/run-1/what", b"{}")
    assert await measured_calls(archive, Area.WAF) == {}
