"""Roots that let signatures alone count are known, and no key: each verb says so, rather than have done
something that no worker goes by.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from edgeshift.cli.shell import Shell
from edgeshift.cli.without_key import told_without_key
from edgeshift.messages import Answer
from edgeshift.operations.errors import Refused
from edgeshift.operations.proof import UNHEEDED, UNKNOWN, UNSIGNED
from edgeshift.operations.steering import NotSignedStop

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
    """But where nobody has signed the start: nothing of such a campaign counts, and telling it is all."""
    answer = Answer(text="is paused")

    notes = ["", UNHEEDED, UNSIGNED, UNKNOWN]

    async def note(campaign: str, *more: object) -> str:
        return notes.pop(0)

    monkeypatch.setattr(shell, "note_of", note)
    with pytest.raises(NotSignedStop, match="is paused; but that is not signed: there is no key"):
        await told_without_key(shell, "autumn", "pause", answer)
    while notes:
        told = await told_without_key(shell, "autumn", "pause", answer)
        assert told.text == "is paused. That is not signed, nor is its start"


async def test_a_campaign_of_no_signed_start_is_called_unheeded(shell: Shell) -> None:
    """Where the roots that are known ask for signatures: no sign-off is worth anything then."""
    assert await shell.note_of("autumn") == UNHEEDED
