"""Roots that let signatures alone count are known, and no key: each verb says so, rather than have done
something that no worker goes by.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from edgeshift import operations
from edgeshift.cli import control, sign_off
from edgeshift.cli.decision import DecisionAsked
from edgeshift.cli.errors import described
from edgeshift.cli.not_all import not_all, not_steered
from edgeshift.cli.shell import Shell
from edgeshift.cli.without_key import told_without_key
from edgeshift.messages import Answer
from edgeshift.operations.errors import Refused
from edgeshift.operations.proof import UNHEEDED, UNKNOWN, UNSIGNED
from edgeshift.operations.steering import NotArchived, NotLast, NotSignedHere, NotSignedStop
from edgeshift.stores.archive import ArchiveUnavailable
from tests.journeys.cli_kit import in_process

ROOTS = """\
signers: allowed_signers
people: {}
policy: {proof: PROOF}
services:
  - {base_url: "https://api.example.com/client/v4", credentials: ["env:TOKEN"]}
"""


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shell:
    """Of somebody without a key, in a folder of no stack."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("EDGESHIFT_AUTHORITY_KEY", raising=False)
    monkeypatch.setenv("EDGESHIFT_ARCHIVE_URL", str(tmp_path / "archive"))
    (tmp_path / "archive").mkdir()
    known(tmp_path, monkeypatch, "signed")
    return Shell()


def known(folder: Path, monkeypatch: pytest.MonkeyPatch, proof: str) -> None:
    (folder / "allowed_signers").write_text("")
    (folder / "roots.yaml").write_text(ROOTS.replace("PROOF", proof))
    monkeypatch.setenv("EDGESHIFT_AUTHORITY_ROOTS", str(folder / "roots.yaml"))


def test_nothing_is_asked_for_without_a_key(shell: Shell) -> None:
    """By whoever starts, signs off, or lets zones go on. A stop may be told: the campaign obeys."""
    for role in "starter", "approver", "operator":
        with pytest.raises(Refused, match=r"no key to sign with.*signatures alone count") as refused:
            shell.pen("ada", role)
        assert "EDGESHIFT_AUTHORITY_KEY" in refused.value.hint and role in refused.value.hint
    assert shell.pen("ada", "operator", stops=True) is None
    assert shell.pen("ada") is None


def test_names_are_enough_where_roots_say_so(
    shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where no roots are known here: then nobody knows."""
    known(tmp_path, monkeypatch, "named")
    assert Shell().pen("ada", "approver") is None
    monkeypatch.delenv("EDGESHIFT_AUTHORITY_ROOTS")
    assert Shell().pen("ada", "approver") is None


async def test_a_stop_without_a_key_says_that_workers_do_not_go_by_it(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    """But where nobody has signed the start: nothing of such a campaign counts, and telling it is all. Whose
    start is signed by somebody whom the roots here do not know may go on: workers may know them.
    """
    answer = Answer(text="is paused")

    notes = ["", UNKNOWN, UNHEEDED, UNSIGNED]

    async def note(campaign: str, *more: object) -> str:
        return notes.pop(0)

    monkeypatch.setattr(shell, "note_of", note)
    with pytest.raises(NotSignedStop, match="is paused; but that is not signed: there is no key"):
        await told_without_key(shell, "autumn", "pause", answer)
    with pytest.raises(NotSignedHere, match="is paused; but that is not signed: its start is signed by"):
        await told_without_key(shell, "autumn", "pause", answer)
    while notes:
        told = await told_without_key(shell, "autumn", "pause", answer)
        assert told.text == "is paused. That is not signed, nor is its start"


@pytest.mark.parametrize("archived", [True, False])
async def test_an_abort_that_is_not_signed_names_what_it_leaves(
    archived: bool, shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It has ended the campaign all the same; with a key it may be the archive that did not take it."""
    answer = Answer(text="is aborted", sent=(0,), in_validation=(1,))

    async def abort(client: object, name: str, **how: object) -> Answer:
        if archived:
            return answer
        raise NotArchived(name, "abort", answer, ArchiveUnavailable("it is full"))

    async def nothing(*what: object) -> None:
        return None

    async def names(shell: Shell, client: object, campaign: str, told: Answer) -> tuple[list[str], list[str]]:
        assert told is answer
        return ["a.example"], ["b.example"]

    async def note(campaign: str) -> str:
        return ""

    monkeypatch.setattr(operations, "abort", abort)
    monkeypatch.setattr(control, "look_before_steering", nothing)
    monkeypatch.setattr(control, "_names_left", names)
    monkeypatch.setattr(shell, "note_of", note)
    client: Any = None
    with pytest.raises(operations.ToldAlone, match="is aborted; but that is not signed") as told:
        await control._steer(shell, client, "autumn", "abort", "ada", "", None)
    failure = described(told.value)
    assert failure is not None and failure.code == 1
    assert failure.as_json()["details"] == [
        "  change may be in flight: a.example",
        "  may stay in validation mode: b.example",
    ]


def test_what_is_paused_and_not_signed_is_counted_as_paused() -> None:
    """Of `pause --all`: beside those that did not pause, and those of which it is signed."""
    answer = Answer(text="is paused")
    paused = not_steered("a", NotSignedStop("a", "pause", answer))
    late = not_steered("b", NotLast("b", "pause", answer, "it cannot be read"))
    lost = not_steered("c", Refused("it was resumed meanwhile"))
    assert paused and late and lost
    assert [(one.paused, one.signed) for one in (paused, late, lost)] == [
        (True, False),
        (True, True),
        (False, False),
    ]
    told = not_all("pause", [paused], 1, key=False)
    assert told.text == "1 of 1 campaign is paused, and that is not signed" and told.code == 1
    assert "`edgeshift pause CAMPAIGN`, with an operator's key" in told.hint
    told = not_all("pause", [paused, late, lost, paused], 5, key=True)
    assert told.text == (
        "1 of 5 campaigns did not pause; 2 of 5 campaigns are paused, and that is not signed; 1 of 5"
        " campaigns is paused, and what is signed of that may not hold"
    )
    assert len(told.details) == 4 and "key" not in told.hint


async def test_a_campaign_of_no_signed_start_is_called_unheeded(shell: Shell) -> None:
    """Where the roots that are known ask for signatures: no sign-off is worth anything then."""
    assert await shell.note_of("autumn") == UNHEEDED


@pytest.mark.parametrize(("left", "code"), [("not for 3 more starts", 1), ("", 0)])
def test_a_rejection_that_leaves_starts_out_ends_with_1(
    left: str, code: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Once it is told: workers go by what is signed."""

    async def rejected(shell: Shell, asked: DecisionAsked, *what: object) -> None:
        asked.where.not_signed_for.extend(["", left])

    monkeypatch.setattr(sign_off, "_sign_groups", rejected)
    ran = in_process("sign-off", "reject", "autumn", "--wave", "1", "--yes")
    assert ran.code == code and (left in ran.err) and ("signed and told" in ran.err) is bool(left), ran
