"""Whoever signs for a zone by its name signs for that zone, over what a worker has read of it: what Temporal
answers, and what lies in the archive, may be anybody's.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from edgeshift import operations
from edgeshift.areas import waf
from edgeshift.areas.evidence import EvidenceVerdict
from edgeshift.areas.waf.evidence import Evidence
from edgeshift.authority.editing import RootsEditor
from edgeshift.authority.keyring import WORKER, Keyring
from edgeshift.authority.loading import load_roots
from edgeshift.authority.roots import Role, Roots
from edgeshift.authority.signing import FileSigner
from edgeshift.authority.sshsig import PrivateKey
from edgeshift.authority.statements import StartStatement, WaveSaid
from edgeshift.cli import begin_again, show, sign_off, sign_off_each, support
from edgeshift.cli.decision import DecisionAsked
from edgeshift.cli.signed_elsewhere import Elsewhere
from edgeshift.messages import Step, ZonePhase, ZoneState
from edgeshift.model.digests import digest, fingerprint
from edgeshift.model.fleet import Area, Plan, Target, Zone
from edgeshift.model.sign_off import Choice
from edgeshift.operations.apart import looked_at
from edgeshift.operations.by_workers import unrecorded
from edgeshift.operations.errors import NotRecorded, NotThatZone
from edgeshift.operations.pen import Pen
from edgeshift.operations.zones import FoundZone
from edgeshift.stores.archive import Archive
from edgeshift.stores.documents import (
    FrozenTargets,
    Snapshot,
    gathered_key,
    put_document,
    put_proposal,
    snapshot_key,
)
from edgeshift.stores.documents.areas.waf import WafProposal
from tests.kit.signing import about, recorded, signed

GOOD = Zone(id="1" * 32, name="good.example.com", account="a" * 32, plan=Plan.ENTERPRISE)
BANK = Zone(id="2" * 32, name="bank.example.com", account="a" * 32, plan=Plan.ENTERPRISE)
BODY = {
    "name": "default",
    "rules": [
        {
            "action": "execute",
            "expression": "true",
            "enabled": True,
            "action_parameters": {"id": waf.MANAGED_RULESET},
        }
    ],
}
SPEC = "b" * 64


class Scene:
    """A signed start over two zones, whose archive a stranger can write to, and a Temporal that answers
    anything. ``state``: what answers as good.example.com; ``targets``: the list that Temporal names.
    """

    def __init__(self, folder: Path) -> None:
        self.keyring = Keyring(folder / "authority")
        self.keyring.make()
        self.archive = Archive(folder / "archive")
        self.worker = self.keyring.signer(WORKER, (Role.WORKER,))
        self.found = FoundZone.of(0, Target(zone=GOOD, wave=0), Area.WAF, "autumn")
        self.state: ZoneState
        self.targets = ""
        self.told: list[str] = []

    async def begin(self) -> None:
        """What is genuine."""
        zones = FrozenTargets((self.found.target, Target(zone=BANK, wave=0)))
        self.targets = await put_document(self.archive, zones)
        statement = StartStatement(
            **about("https://api.example.com/v4", "autumn", Area.WAF, "olga"),
            spec=SPEC,
            targets=self.targets,
            count=2,
            waves=(WaveSaid(name="all", first=0, end=2),),
        )
        await recorded(self.archive, statement, self.keyring.signer("olga"))
        self.state = await self.waits(GOOD)

    async def waits(self, zone: Zone, **more: Any) -> ZoneState:
        """A zone that waits for its sign-off, with a snapshot and evidence that a worker has recorded."""
        reading = waf.Reading(check={"compatible": True}, config=BODY)
        snapshot = await put_document(self.archive, Snapshot[waf.Reading](zone=zone, reading=reading))
        taken = {"taken_at": datetime.now(UTC).isoformat()}
        await self.record(snapshot_key(zone, Area.WAF, snapshot), taken, self.worker)
        evidence = await self.evidence(zone)
        await self.record(gathered_key(zone, evidence), {"run": "r", "spec": SPEC}, self.worker)
        return ZoneState(
            zone=zone,
            campaign="campaign/autumn",
            wave=0,
            attempt=1,
            phase=ZonePhase.AWAITING_SIGN_OFF,
            since=datetime.now(UTC),
            step=Step.COMMIT,
            **{
                "digest": digest(BODY),
                "fingerprint": fingerprint(BODY, zone),
                "proposal": await put_proposal(self.archive, WafProposal(body=BODY)),
                "snapshot": snapshot,
                "evidence": evidence,
                **more,
            },
        )

    async def evidence(self, zone: Zone, **more: Any) -> str:
        """Evidence in the archive, that is whole and passed."""
        seen = {"events": 12_000, "requests": 12_000, "agreed": 12_000, "compared": 12_000, "whole": True}
        said = {"zone": zone.id, "proposal": digest(BODY), "mode": "shadow", "why": ""}
        verdict = EvidenceVerdict.PASS
        found = Evidence(verdict=verdict, false_positives=0, gaps=0, **{**seen, **said, **more})
        return await put_document(self.archive, found)

    async def record(self, key: str, contents: dict[str, Any], signer: FileSigner) -> None:
        """A record of a worker's, or of somebody who says to be one."""
        await self.archive.create_once(key, await signed(key, contents, signer))

    @property
    def roots(self) -> Roots:
        """As they are known where people sign."""
        return load_roots(self.keyring.roots)

    @property
    def pen(self) -> Pen:
        """Of who signs."""
        return Pen(self.keyring.signer("ada"), self.archive, "ada", self.roots)

    @property
    def client(self) -> Any:
        """What answers for Temporal."""

        async def query(*_: Any, **__: Any) -> Any:
            return self.state.model_dump(mode="json")

        async def told(*_: Any, **__: Any) -> None:
            self.told.append("told")

        handle = SimpleNamespace(id="z", query=query, signal=told, execute_update=told)
        return SimpleNamespace(get_workflow_handle=lambda *_, **__: handle)

    @property
    def shell(self) -> Any:
        """The command line of who signs."""

        @contextmanager
        def within(*_: Any, **__: Any) -> Iterator[Any]:
            yield

        class Connected:
            async def __aenter__(_self) -> Any:
                return self.client

            async def __aexit__(_self, *_: object) -> None:
                pass

        async def nothing(*_: Any, **__: Any) -> str:
            return ""

        said = SimpleNamespace(
            waiting=within, paged=within, tell=lambda *_, **__: None, say_note=lambda *_: None,
            note_of=nothing, note_for=nothing, readable_roots=self.roots, here="",
            confirm=lambda *_, **__: None, pen=lambda *_: self.pen, archive=lambda: self.archive,
            temporal=lambda **_: Connected(), as_json=False, quiet=True,
        )  # fmt: skip
        return said

    @property
    def summary(self) -> Any:
        """What Temporal tells of the campaign."""
        return SimpleNamespace(
            name="autumn", spec=SPEC, targets=self.targets, area=Area.WAF, time_scale=1, started_by="olga"
        )

    async def signed(self) -> list[str]:
        """What people have signed of the campaign beside its start."""
        names = [key async for key in self.archive.list("signed")]
        return [name for name in names if "/decision/" in name or "/again/" in name]


@pytest.fixture
async def scene(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Scene:
    """One that has begun."""
    found = Scene(tmp_path)
    await found.begin()
    monkeypatch.setattr("edgeshift.cli.sign_off.show_proposal", lambda *_, **__: None)
    monkeypatch.setattr("edgeshift.cli.sign_off_each._show", lambda *_, **__: None)
    return found


def asked(choice: Choice) -> DecisionAsked:
    """Of whoever signs here."""
    return DecisionAsked(choice=choice, by="ada", reason="", where=Elsewhere(), yes=True)


async def signs_one(scene: Scene, choice: Choice) -> None:
    """``sign-off … --zone good.example.com``."""
    known = scene.client, asked(choice), scene.summary, scene.archive
    await sign_off._sign_zone(scene.shell, *known, scene.found, None)


async def signs_several(scene: Scene, choice: Choice) -> None:
    """The same with several zones."""
    known = scene.client, asked(choice), scene.summary, scene.archive
    await sign_off_each.sign_named(scene.shell, *known, [scene.found])


SIGN = pytest.mark.parametrize("sign", [signs_one, signs_several])
CHOICES = pytest.mark.parametrize("choice", list(Choice))


@pytest.fixture
def untold(monkeypatch: pytest.MonkeyPatch) -> None:
    """The zone and the campaign's file are told of nothing here."""

    async def nothing(*_: Any, **__: Any) -> Any:
        return SimpleNamespace(text="")

    monkeypatch.setattr(operations, "sign_zone", nothing, raising=False)


@SIGN
@CHOICES
@pytest.mark.usefixtures("untold")
async def test_what_is_genuine_is_signed(scene: Scene, sign: Any, choice: Choice) -> None:
    """For the zone that was named, over its own evidence."""
    await sign(scene, choice)
    assert len(await scene.signed()) == 1


@SIGN
@CHOICES
@pytest.mark.parametrize(
    "other", [{"id": BANK.id}, {"name": BANK.name}, {"account": "c" * 32}, {"plan": Plan.FREE}]
)
async def test_nothing_is_signed_for_a_zone_that_answers_in_anothers_name(
    scene: Scene, sign: Any, choice: Choice, other: dict[str, Any]
) -> None:
    """Whoever reaches Temporal has another zone's proposal answer under the id of a zone's workflow."""
    scene.state = (await scene.waits(BANK)).model_copy(update={"zone": GOOD.model_copy(update=other)})
    with pytest.raises(NotThatZone, match="says that it is another") as refused:
        await sign(scene, choice)
    assert "nothing was signed" in refused.value.text and refused.value.hint
    assert await scene.signed() == []


@SIGN
@CHOICES
async def test_nothing_is_signed_for_a_zone_of_a_planted_list(
    scene: Scene, sign: Any, choice: Choice
) -> None:
    """In which the name has another zone's identifier: names are looked up in the list that people signed."""
    lie = BANK.model_copy(update={"name": GOOD.name})
    scene.targets = await put_document(scene.archive, FrozenTargets((Target(zone=lie, wave=0),)))
    scene.found = FoundZone.of(0, Target(zone=lie, wave=0), Area.WAF, "autumn")
    scene.state = await scene.waits(lie)
    with pytest.raises(NotThatZone, match="another list of targets"):
        await sign(scene, choice)
    assert await scene.signed() == []


@pytest.mark.parametrize("verb", ["retry", "reopen", "support-resolved"])
async def test_no_zone_of_a_planted_list_begins_again(
    scene: Scene, verb: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nor is it signed that support has resolved it."""
    lie = Target(zone=BANK.model_copy(update={"name": GOOD.name}), wave=0)
    planted = await put_document(scene.archive, FrozenTargets((lie,)))

    async def told(*_: Any) -> Any:
        return SimpleNamespace(name="autumn", spec=SPEC, targets=planted, area=Area.WAF)

    monkeypatch.setattr(operations, "campaign_here", told, raising=False)
    scene.state = (await scene.waits(lie.zone)).model_copy(update={"phase": ZonePhase.NEEDS_SUPPORT})
    with pytest.raises(NotThatZone, match="another list of targets"):
        if verb == "support-resolved":
            await support._support_resolved(scene.shell, "autumn", GOOD.name, "ada", "")
        else:
            await begin_again._again(scene.shell, "autumn", verb, [GOOD.name], [], "ada", "", yes=True)
    assert await scene.signed() == [] and not scene.told


async def test_support_has_resolved_no_zone_that_answers_in_anothers_name(scene: Scene) -> None:
    """It would read another zone again."""
    lie = GOOD.model_copy(update={"id": BANK.id})
    scene.state = scene.state.model_copy(update={"zone": lie, "phase": ZonePhase.NEEDS_SUPPORT})
    with pytest.raises(NotThatZone):
        await operations.zone_with_support(scene.client, scene.found)


async def planted(scene: Scene, what: str, by: str) -> ZoneState:
    """What waits, with a snapshot or evidence that somebody else than a worker has recorded."""
    if what == "snapshot":
        reading = waf.Reading(check={"compatible": True})
        found = await put_document(scene.archive, Snapshot[waf.Reading](zone=GOOD, reading=reading))
        key, said = snapshot_key(GOOD, Area.WAF, found), {"taken_at": datetime.now(UTC).isoformat()}
    else:
        found = await scene.evidence(GOOD, clients=9)
        key, said = gathered_key(GOOD, found), {"run": "r", "spec": SPEC}
        if what == "earlier":
            found = await scene.evidence(GOOD, earlier=found, mode="enforce")
            await scene.record(gathered_key(GOOD, found), said, scene.worker)
    if by != "nobody":
        signer = FileSigner(PrivateKey.made()) if by == "a stranger" else scene.keyring.signer("ada")
        await scene.record(key, said, signer)
    return scene.state.model_copy(update={"evidence" if what == "earlier" else what: found})


@SIGN
@pytest.mark.parametrize("what", ["snapshot", "evidence", "earlier"])
@pytest.mark.parametrize("by", ["nobody", "a stranger", "an approver"])
@pytest.mark.usefixtures("untold")
async def test_nothing_is_approved_over_what_no_worker_has_recorded(
    scene: Scene, sign: Any, what: str, by: str
) -> None:
    """It is not shown; the zone may be rejected."""
    scene.state = await planted(scene, what, by)
    with pytest.raises(Exception, match=r"no worker's|no zone is left") as refused:
        await sign(scene, Choice.APPROVE)
    assert sign is signs_several or isinstance(refused.value, NotRecorded)
    (apart,) = await looked_at(scene.client, scene.archive, Area.WAF, [scene.found], roots=scene.roots)
    assert apart.shown is None and "no worker" in apart.trouble
    assert await scene.signed() == []
    await sign(scene, Choice.REJECT)
    assert len(await scene.signed()) == 1


async def test_evidence_of_other_rules_is_no_evidence_of_these(scene: Scene) -> None:
    """As of what the zone proposed before it drifted, which a worker has gathered."""
    other = await scene.evidence(GOOD, proposal="7" * 64)
    await scene.record(gathered_key(GOOD, other), {"run": "r", "spec": SPEC}, scene.worker)
    state = scene.state.model_copy(update={"evidence": other})
    with pytest.raises(NotRecorded, match="of another zone or proposal"):
        await operations.preview_of(scene.archive, state, Area.WAF, scene.roots)


async def test_a_record_beside_one_that_does_not_count(scene: Scene) -> None:
    """A stranger has taken the name of a snapshot's record: the worker's lies beside it."""
    state = await planted(scene, "snapshot", "a stranger")
    key = f"{snapshot_key(GOOD, Area.WAF, state.snapshot)}-{'d' * 32}"
    await scene.record(key, {"taken_at": datetime.now(UTC).isoformat()}, scene.worker)
    assert await operations.preview_of(scene.archive, state, Area.WAF, scene.roots)


async def test_what_a_revoked_worker_has_recorded(scene: Scene) -> None:
    """Over its evidence nobody signs, as at the door; by its snapshots people go on signing."""
    assert await unrecorded(scene.archive, scene.state, Area.WAF, None, scene.roots) is None
    RootsEditor(scene.keyring.roots).revoke(WORKER)
    assert await unrecorded(scene.archive, scene.state, Area.WAF, None, scene.roots) is None
    with pytest.raises(NotRecorded, match="of its evidence"):
        await operations.preview_of(scene.archive, scene.state, Area.WAF, scene.roots)


async def test_without_roots_it_is_shown_as_it_is(scene: Scene) -> None:
    """Nobody knows then who counts."""
    state = await planted(scene, "evidence", "nobody")
    assert (await operations.preview_of(scene.archive, state, Area.WAF)).evidence is not None


async def test_show_says_that_no_worker_has_recorded_it(scene: Scene) -> None:
    """It signs nothing, and shows what is there."""
    scene.state = await planted(scene, "evidence", "nobody")
    shown = await operations.preview_of(scene.archive, scene.state, Area.WAF)
    found: Any = SimpleNamespace(campaign="autumn", preview=shown, state=scene.state)
    note = await show._note(scene.shell, scene.client, scene.archive, found)
    assert "Not to be signed" in note and "no worker has recorded it" in note
    found.state = await scene.waits(GOOD)
    found.preview = await operations.preview_of(scene.archive, found.state, Area.WAF)
    assert await show._note(scene.shell, scene.client, scene.archive, found) == ""
