"""Esc is turned off where a worker has probed the scope, upon the reading that it is sent by, whatever a
message says: the door asks for the worker's own record, and judges the archived probe again.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest
from temporalio.exceptions import ApplicationError

from activities.change.area_work import AreaWork
from activities.change.door import MutationActivities
from activities.esc.changes import EscWork
from activities.esc.reading import zones_of
from activities.esc.scope import EscActivities
from edgeshift.areas import esc
from edgeshift.areas.esc.probe import Controls, Coverage, ProbeReport, summary
from edgeshift.messages import Change, ChangeResult, ChangeStatus, Gathered, Prepare, Prepared, Step
from edgeshift.messages.areas.esc import Probe
from edgeshift.model.digests import digest, fingerprint
from edgeshift.model.fleet import Area, Plan, ScopeKind, Target, Zone
from edgeshift.probes import Baseline
from edgeshift.service_api import ServiceClient
from edgeshift.service_api.models import Zone as ListedZone
from edgeshift.stores.documents import (
    EvidenceGathered,
    FrozenTargets,
    gathered_key,
    put_document,
)
from edgeshift.stores.documents.areas.esc import ProbedProposal
from edgeshift.stores.documents.proposals import put_proposal
from tests.forgeries.doors import Guarded, guarded
from tests.kit.signing import signed
from tests.service.gate_kit import Gate, begun

HOST = "bank.example"
OWN = {"with_secret": "customer-0123456789"}


def report(*, alarms: int = 0, unmarked: tuple[str, ...] = (), covers: int = 1, **more: Any) -> ProbeReport:
    """A probe that found no difference. ``alarms``: of ten A/A pairs; ``unmarked``: hosts past the edge."""
    coverage = Coverage(
        hosts_tried=(HOST, *unmarked),
        hosts_reached=(HOST,),
        hosts_unmarked=unmarked,
        zones_covered=covers,
        zones_probed=covers,
        urls=4,
    )
    said = {"made_at": datetime.now(UTC), "rounds": 2, **more}
    return ProbeReport(coverage=coverage, controls=Controls(pairs=10, alarms=alarms), **said)


@dataclass
class Prober:
    """Finds what it is told to."""

    finds: ProbeReport

    async def __aenter__(self) -> Prober:
        return self

    async def __aexit__(self, *_: object) -> None:
        return None

    async def probe(self, *_: object) -> tuple[ProbeReport, Baseline]:
        """The report, and nothing to compare with."""
        return self.finds, Baseline()


@dataclass
class Probing:
    """A scope that a worker probes, and the door before it. ``zones``: of its account, as the service lists
    them.
    """

    door: Guarded
    patch: pytest.MonkeyPatch
    zones: list[Zone]

    @property
    def gate(self) -> Gate:
        """The gate of the door."""
        return self.door.gate

    @property
    def _work(self) -> EscActivities:
        return EscActivities(self.gate.connections)

    async def reads(self) -> Prepared:
        """A worker reads the scope, and archives that."""
        found = await begun().run(self._work.prepare, Prepare(start=self.gate.start))
        assert found.snapshot
        return found

    async def probes(self, found: ProbeReport, prepared: Prepared | None = None) -> tuple[Prepared, str]:
        """A worker probes it, and finds this; what it proposes, and the digest of its evidence."""
        prepared = prepared or await self.reads()
        self.patch.setattr(EscActivities, "_prober", lambda *_: Prober(found))
        message = Probe(start=self.gate.start, prepared=prepared, sequence=1)
        probed = await begun().run(self._work.probe, message)
        assert isinstance(probed.gathered, Gathered)
        return probed.prepared, probed.gathered.evidence

    async def plants(self, found: ProbeReport, prepared: Prepared | None = None) -> tuple[Prepared, str]:
        """An enemy lays the same into the archive, as if a worker had probed."""
        prepared, zone = prepared or await self.reads(), self.gate.zone
        body = esc.body(zone, summary(found))
        found = found.model_copy(update={"zone": zone.id, "proposal": digest(body)})
        evidence = await put_document(self.door.archive, found)
        kept = await put_document(self.door.archive, Baseline())
        proposal = ProbedProposal(body=body, report=evidence, baseline=kept)
        update = {
            "step": Step.COMMIT,
            "digest": digest(body),
            "fingerprint": fingerprint(body, zone),
            "proposal": await put_proposal(self.door.archive, proposal),
        }
        return prepared.model_copy(update=update), evidence

    async def approve(self, prepared: Prepared, evidence: str = "") -> None:
        """Sign what is proposed, with the evidence that was shown."""
        await self.door.approve(subjects=(prepared.digest,), evidence=evidence)

    async def approve_alike(self, prepared: Prepared) -> None:
        """Sign the fingerprint."""
        await self.door.approve_alike(subjects=(prepared.fingerprint,))

    async def change(
        self, prepared: Prepared, evidence: str, permit: int = 1, step: Step = Step.COMMIT
    ) -> ChangeResult:
        """Have the door turn it off, or on again, by a message that says so."""
        said = await self.gate.message(self.gate.body, self.gate.body, permit=permit, step=step)
        (word,) = said.decisions
        names = {"snapshot", "proposal", "digest", "fingerprint"}
        update: dict[str, Any] = {name: getattr(prepared, name) for name in names}
        words = (
            word.model_copy(update={"digest": subject}) for subject in (prepared.digest, prepared.fingerprint)
        )
        update |= {"evidence": evidence, "decisions": tuple(words)}
        change: Change = said.model_copy(update=update)
        work: AreaWork = EscWork(self.gate.connections)
        activities = MutationActivities(self.gate.connections, {Area.ESC: work})
        return await begun().run(activities.change, change)

    async def sent(self) -> list[str]:
        """What was sent to the service that turns it off or on."""
        journal = await self.gate.control.journal()
        asked = [(entry["call"], (entry.get("esc") or {}).get("asked")) for entry in journal]
        return [call for call, what in asked if what == ["always"] or call == "esc.delete"]


@asynccontextmanager
async def probing(
    folder: Path, patch: pytest.MonkeyPatch, *, account: bool = False, own: bool = True, **more: Any
) -> AsyncIterator[Probing]:
    """A scope. ``own``: it has a secret of its own. ``account``: of two zones."""

    async def told(*_: object) -> bool:
        return True

    patch.setattr("activities.esc.scope.told_unless_gone", told)
    terms: dict[str, Any] = {"area": "esc", "esc": {"scope": "account" if account else "zone"}}
    terms["simulator"] = {"clock": "2023-11-01T00:00:00Z"}
    settings = {"esc": OWN if own else {}}
    async with guarded(folder, plan=Plan.ENTERPRISE, settings=settings, **{**terms, **more}) as door:
        zone = door.gate.zone
        zones = [zone, zone.model_copy(update={"id": "e" * 32, "name": "second.example"})]

        async def listed(*_: object) -> list[Zone]:
            return list(zones)

        for place in ("scope", "changes"):
            patch.setattr(f"activities.esc.{place}.zones_of", listed)
        if account:
            more = {"id": zone.account, "plan": Plan.OTHER, "kind": ScopeKind.ACCOUNT, "covers": 2}
            zone = zone.model_copy(update=more)
            token = {"authorization": f"Bearer {(folder / 'token').read_text()}"}
            async with httpx.AsyncClient(headers=token) as customer:
                path = f"{door.base_url}/accounts/{zone.account}/disable_esc"
                assert (await customer.post(path, json=OWN)).status_code == 200
        target = Target(zone=zone, wave=0)
        start = door.gate.start.model_copy(update={"area": Area.ESC, "target": target})
        gate = replace(door.gate, zone=zone, start=start)
        targets = await put_document(door.archive, FrozenTargets((target,)))
        door = replace(door, gate=gate, targets=targets)
        await door.begin()
        yield Probing(door, patch, zones)


DOUBTFUL: dict[str, Any] = {
    "A/A pairs differ": {"alarms": 4},
    "a host past the edge": {"unmarked": ("elsewhere.example",)},
}


@pytest.mark.parametrize("how", DOUBTFUL)
async def test_a_doubtful_scope_joins_no_fingerprint_at_the_door(
    how: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its body is the same as that of one whose probe was clean: who signed that was not shown the doubts.
    Whoever signs the scope by itself was.
    """
    async with probing(tmp_path, monkeypatch) as scope:
        prepared, evidence = await scope.probes(report(**DOUBTFUL[how]))
        await scope.approve_alike(prepared)
        found = await scope.change(prepared, evidence)
        assert found.unsigned and found.uncounted and "was not shown the zone's evidence" in found.reason
        await scope.approve(prepared)
        assert (await scope.change(prepared, evidence, 2)).uncounted
        assert await scope.sent() == []
        await scope.approve(prepared, evidence)
        found = await scope.change(prepared, evidence, 3)
        assert found.status is ChangeStatus.ANSWERED, found
        assert await scope.sent() == ["esc.set"]


@pytest.mark.parametrize("shown", [(True, False), (False, True)], ids=["off", "a secret alone"])
async def test_a_scope_whose_account_is_off_or_may_be_joins_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shown: tuple[bool, bool]
) -> None:
    """Off may have been compared with off, which the archived report says."""

    async def above(*_: object) -> tuple[bool, bool]:
        return shown

    monkeypatch.setattr("activities.esc.scope.account_shows", above)
    async with probing(tmp_path, monkeypatch) as scope:
        prepared, evidence = await scope.probes(report())
        await scope.approve_alike(prepared)
        assert (await scope.change(prepared, evidence)).uncounted
        assert await scope.sent() == []


async def test_a_clean_scope_joins_its_fingerprint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And its rollback asks for no probe."""
    async with probing(tmp_path, monkeypatch) as scope:
        prepared, evidence = await scope.probes(report())
        await scope.approve_alike(prepared)
        found = await scope.change(prepared, evidence)
        assert found.status is ChangeStatus.ANSWERED, found
        for path in (tmp_path / "state").rglob(f"gathered/*/{evidence}"):
            path.unlink()
        back = await scope.change(prepared, "", -1, Step.ROLL_BACK)
        assert back.status is ChangeStatus.ANSWERED, back
        assert await scope.sent() == ["esc.set", "esc.delete"]


async def test_a_planted_probe_lets_nothing_through(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither in the place of one that had doubts, nor with a record that no worker has signed, nor beside
    the record of the worker's own probe.
    """
    async with probing(tmp_path, monkeypatch) as scope:
        doubtful, evidence = await scope.probes(report(alarms=4))
        planted, clean = await scope.plants(report(), doubtful)
        assert planted.digest == doubtful.digest and planted.proposal != doubtful.proposal
        await scope.approve_alike(planted)
        assert (await scope.change(planted, clean)).status is ChangeStatus.DRIFTED
        assert (await scope.change(planted, evidence, 2)).status is ChangeStatus.DRIFTED
        key, start = gathered_key(scope.gate.zone, clean), scope.gate.start
        said = EvidenceGathered(
            run="r",
            spec=start.spec,
            start=scope.door.start,
            proposal=planted.proposal,
            snapshot=planted.snapshot,
        )
        record = await signed(key, said.contents(), scope.door.stranger, by="worker", of=key)
        await scope.door.archive.create_once(key, record)
        found = await scope.change(planted, clean, 3)
        assert found.unsigned and "does not count" in found.reason, found
        assert await scope.sent() == []


async def test_a_scope_that_an_earlier_version_has_probed_is_probed_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """There is no record of that; by the new one, what people have signed counts, where nothing changed."""
    async with probing(tmp_path, monkeypatch) as scope:
        before, evidence = await scope.plants(report())
        await scope.approve_alike(before)
        found = await scope.change(before, evidence)
        assert found.status is ChangeStatus.DRIFTED and "probed again" in found.reason
        prepared, evidence = await scope.probes(report())
        assert prepared.digest == before.digest
        assert (await scope.change(prepared, evidence, 2)).status is ChangeStatus.ANSWERED


async def test_a_probe_that_is_too_old_is_made_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whenever the zone's workflow says that it was made."""
    async with probing(tmp_path, monkeypatch) as scope:
        for permit, age in enumerate((25, 23), start=1):
            old = report(made_at=datetime.now(UTC) - timedelta(hours=age))
            prepared, evidence = await scope.probes(old)
            await scope.approve_alike(prepared)
            found = await scope.change(prepared, evidence, permit)
            assert found.status is (ChangeStatus.DRIFTED if age > 24 else ChangeStatus.ANSWERED), found


async def test_an_account_is_not_turned_off_for_zones_that_nobody_probed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A zone joined the account since: a fresh reading that has it is none that the probe was made upon, nor
    can a probe of the old list be recorded with it.
    """
    async with probing(tmp_path, monkeypatch, account=True) as scope:
        prepared, evidence = await scope.probes(report(covers=2))
        await scope.approve(prepared, evidence)
        scope.zones.append(scope.zones[0].model_copy(update={"id": "f" * 32, "name": "third.example"}))
        assert (await scope.change(prepared, evidence)).status is ChangeStatus.DRIFTED
        fresh = await scope.reads()
        assert fresh.snapshot != prepared.snapshot
        other = prepared.model_copy(update={"snapshot": fresh.snapshot})
        assert (await scope.change(other, evidence, 2)).status is ChangeStatus.DRIFTED
        assert await scope.sent() == []
        seen: list[int] = []

        async def probe(_: object, zones: list[Zone], *__: object) -> tuple[ProbeReport, Baseline]:
            seen.append(len(zones))
            return report(covers=len(zones)), Baseline()

        monkeypatch.setattr(Prober, "probe", probe)
        old_list = fresh.model_copy(update={"covered": prepared.covered})
        anew, evidence = await scope.probes(report(), old_list)
        assert seen == [3] and anew.digest != prepared.digest
        assert (await scope.change(anew, evidence, 3)).uncounted


async def test_an_account_is_not_turned_off_by_a_list_that_does_not_say_whose_a_zone_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A zone that is listed without its account may be one that nobody has probed: neither is the account
    read by such a list, nor is anything sent.
    """
    more: list[dict[str, Any]] = []
    async with probing(tmp_path, monkeypatch, account=True) as scope:

        async def zones(*_: object, account: str) -> AsyncIterator[ListedZone]:
            owner = {"id": account, "name": "A"}
            for one in [
                *({"id": zone.id, "name": zone.name, "account": owner} for zone in scope.zones),
                *more,
            ]:
                yield ListedZone.model_validate(one)

        monkeypatch.setattr(ServiceClient, "zones", zones)
        for place in ("scope", "changes"):
            monkeypatch.setattr(f"activities.esc.{place}.zones_of", zones_of)
        prepared, evidence = await scope.probes(report(covers=2))
        await scope.approve(prepared, evidence)
        more.append({"id": "f" * 32, "name": "third.example", "account": None})
        found = await scope.change(prepared, evidence)
        assert found.status is not ChangeStatus.ANSWERED and await scope.sent() == []
        with pytest.raises(ApplicationError, match=r"third\.example is listed without its account"):
            await scope.reads()
        more.clear()
        assert (await scope.change(prepared, evidence, 2)).status is ChangeStatus.ANSWERED


async def test_a_probe_for_another_campaign_joins_no_fingerprint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It asked for other URLs, by another file."""
    async with probing(tmp_path, monkeypatch) as scope:
        prepared, evidence = await scope.probes(report())
        for path in (tmp_path / "state").rglob(f"gathered/*/{evidence}"):
            path.unlink()
        said = EvidenceGathered(
            run="r", spec="7" * 64, proposal=prepared.proposal, snapshot=prepared.snapshot
        )
        key = gathered_key(scope.gate.zone, evidence)
        assert await scope.gate.connections.records.create(key, said)
        await scope.approve_alike(prepared)
        assert (await scope.change(prepared, evidence)).uncounted
        assert await scope.sent() == []
