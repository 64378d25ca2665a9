"""What no worker has recorded, a zone that answers as another, and a record that cannot be read stop nothing
but what they are about: a rejection counts, other zones are shown, and it is said.
"""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from edgeshift import operations
from edgeshift.authority.editing import RootsEditor
from edgeshift.authority.keyring import WORKER
from edgeshift.cli import show, sign_off, sign_off_each
from edgeshift.cli.errors import CommandError
from edgeshift.messages import Step, Waiting
from edgeshift.model.fleet import Area, Target
from edgeshift.model.sign_off import Choice
from edgeshift.operations.errors import NotThatZone
from edgeshift.operations.parts import EACH
from edgeshift.operations.zones import FoundZone
from edgeshift.stores.archive import ArchiveUnavailable
from tests.service.test_signs_for_that_zone import BANK, Scene, asked, planted


@pytest.fixture
async def scene(tmp_path: Path) -> Scene:
    """One that has begun."""
    found = Scene(tmp_path)
    await found.begin()
    return found


@pytest.fixture
def groups(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What waits is the fingerprint of good.example.com; what was shown of it before somebody signed."""
    shown: list[Any] = []
    waiting = Waiting(fingerprint=scene.state.fingerprint, zones=1, step=Step.COMMIT, waves=[0], example=0)
    answers = {
        "summary": SimpleNamespace(**vars(scene.summary), waves=("all",)),
        "check_archive": None,
        "waiting_groups": [waiting],
        "sign_fingerprints": [],
    }

    def answering(answer: Any) -> Any:
        async def said(*_: Any, **__: Any) -> Any:
            return answer

        return said

    for name, answer in answers.items():
        monkeypatch.setattr(operations, name, answering(answer), raising=False)
    there = SimpleNamespace(targets=[SimpleNamespace(index=0)], total=1)
    monkeypatch.setattr("edgeshift.operations.sign_offs.zones_at", answering(there))
    monkeypatch.setattr(
        sign_off, "_show_groups", lambda _shell, _chosen, found, *_, **__: shown.append(found)
    )
    return shown


@pytest.mark.parametrize("what", ["snapshot", "evidence", "a revoked worker's"])
@pytest.mark.parametrize("by_wave", [True, False])
async def test_a_group_that_no_worker_has_recorded_may_be_rejected(
    scene: Scene, groups: list[Any], what: str, by_wave: bool
) -> None:
    """By its fingerprint and with its wave, as its zones by name; it is said beside what is shown of it."""
    if what in ("snapshot", "evidence"):
        scene.state = await planted(scene, what, "a stranger")
    else:
        RootsEditor(scene.keyring.roots).revoke(WORKER)
    named = (None, 1) if by_wave else (scene.state.fingerprint, None)
    with pytest.raises(CommandError, match=r"no fingerprint can be shown.* no worker's"):
        await sign_off._sign_groups(scene.shell, asked(Choice.APPROVE), "autumn", *named)
    assert await scene.signed() == []
    await sign_off._sign_groups(scene.shell, asked(Choice.REJECT), "autumn", *named)
    assert len(await scene.signed()) == 1
    (preview,) = groups[-1].shown.values()
    assert "is no worker's by the roots that are known here" in preview.warnings[0]


async def test_of_a_group_that_a_worker_has_recorded_nothing_is_said(scene: Scene, groups: list[Any]) -> None:
    """Whatever the choice."""
    for choice in Choice:
        await sign_off._sign_groups(scene.shell, asked(choice), "autumn", scene.state.fingerprint, None)
    (approved,), (rejected,) = (found.shown.values() for found in groups)
    assert rejected == approved and "worker" not in str(approved.warnings)
    assert len(await scene.signed()) == 2


async def test_a_group_may_be_rejected_whose_records_cannot_be_read(
    scene: Scene, groups: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is said that it is not known."""

    async def unreadable(*_: Any) -> Any:
        raise ArchiveUnavailable("the store does not answer")

    monkeypatch.setattr("edgeshift.operations.by_workers.unrecorded", unreadable)
    with pytest.raises(CommandError, match="the store does not answer"):
        await sign_off._sign_groups(scene.shell, asked(Choice.APPROVE), "autumn", None, 1)
    await sign_off._sign_groups(scene.shell, asked(Choice.REJECT), "autumn", None, 1)
    assert len(await scene.signed()) == 1
    (preview,) = groups[-1].shown.values()
    assert "could not be read" in preview.warnings[0]


@pytest.fixture
def told(scene: Scene, groups: list[Any], monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Both zones wait singly, and as bank.example.com good.example.com answers; what people are told."""
    there = [SimpleNamespace(index=index, fingerprint=scene.state.fingerprint) for index in range(2)]

    async def zones_at(*_: Any, **__: Any) -> Any:
        return SimpleNamespace(targets=there, total=2)

    async def sign_zone(*_: Any, **__: Any) -> Any:
        return SimpleNamespace(text="decided")

    monkeypatch.setattr("edgeshift.operations.apart.zones_at", zones_at)
    monkeypatch.setattr(operations, "sign_zone", sign_zone, raising=False)
    monkeypatch.setattr(sign_off_each, "_show", lambda *_, **__: None)
    said: list[str] = []
    shell = scene.shell
    shell.notes = shell.console = SimpleNamespace(
        is_terminal=False, print=lambda words, **_: said.append(words)
    )
    shell.tell = lambda words, lead="", **_: said.append(f"{lead}{words}")
    monkeypatch.setattr(Scene, "shell", shell)
    return said


ANOTHER = "not shown, and not signed: what answers as zone bank.example.com"


async def test_causes_are_listed_though_a_zone_answers_as_another(scene: Scene, told: list[str]) -> None:
    """It is named, and in no cause."""
    await sign_off_each.show_causes(scene.shell, "autumn", None, as_json=False)
    assert [line for line in told if line.startswith(ANOTHER)] == told[:1]
    assert "nothing was signed" not in told[0]
    assert [line for line in told if "1 zone: " in line] and not [
        line for line in told if "the first" in line
    ]


@pytest.mark.parametrize("choice", list(Choice))
async def test_the_others_of_a_cause_are_signed(scene: Scene, told: list[str], choice: Choice) -> None:
    """All but the zone that answers as another."""
    await sign_off_each.sign_cause(
        scene.shell, asked(choice), "autumn", cause=EACH.key, wave=None, leave_out=[]
    )
    assert len(await scene.signed()) == 1
    assert [line for line in told if line.startswith(ANOTHER)]


async def test_of_zones_that_were_named_none_is_signed_without_the_others(
    scene: Scene, told: list[str]
) -> None:
    """Whoever names them means each: the one that is refused is named."""
    named = [scene.found, FoundZone.of(1, Target(zone=BANK, wave=0), Area.WAF, "autumn")]
    known = scene.client, asked(Choice.REJECT), scene.summary, scene.archive
    with pytest.raises(NotThatZone, match=r"bank\.example\.com.*; nothing was signed"):
        await sign_off_each.sign_named(scene.shell, *known, named)
    assert await scene.signed() == [] and told == []


async def test_show_goes_on_where_no_record_can_be_read(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It says that it is not known whether a worker has recorded it."""
    shown = await operations.preview_of(scene.archive, scene.state, Area.WAF)
    found: Any = SimpleNamespace(campaign="autumn", preview=shown, state=scene.state)

    async def unreadable(*_: Any) -> Any:
        raise ArchiveUnavailable("the store does not answer")

    monkeypatch.setattr(scene.archive, "get_named", unreadable)
    note = await show._note(scene.shell, scene.client, scene.archive, found)
    assert "It cannot be read whether a worker has recorded" in note and "the store does not answer" in note
