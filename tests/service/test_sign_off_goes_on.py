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
from edgeshift.cli import sign_off
from edgeshift.cli.errors import CommandError
from edgeshift.messages import Step, Waiting
from edgeshift.model.sign_off import Choice
from edgeshift.stores.archive import ArchiveUnavailable
from tests.service.test_signs_for_that_zone import Scene, planted, word


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
    monkeypatch.setattr("edgeshift.operations.signing.zones_at", answering(there))
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
        await sign_off._sign_groups(scene.shell, word(Choice.APPROVE), "autumn", *named)
    assert await scene.signed() == []
    await sign_off._sign_groups(scene.shell, word(Choice.REJECT), "autumn", *named)
    assert len(await scene.signed()) == 1
    (preview,) = groups[-1].shown.values()
    assert "is no worker's by the roots that are known here" in preview.warnings[0]


async def test_of_a_group_that_a_worker_has_recorded_nothing_is_said(scene: Scene, groups: list[Any]) -> None:
    """Whatever the choice."""
    for choice in Choice:
        await sign_off._sign_groups(scene.shell, word(choice), "autumn", scene.state.fingerprint, None)
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
        await sign_off._sign_groups(scene.shell, word(Choice.APPROVE), "autumn", None, 1)
    await sign_off._sign_groups(scene.shell, word(Choice.REJECT), "autumn", None, 1)
    assert len(await scene.signed()) == 1
    (preview,) = groups[-1].shown.values()
    assert "could not be read" in preview.warnings[0]
