"""OpenSSH's allowed_signers file: what a line says, and what is none; `ssh-keygen` reads it
in the same way.
"""

from __future__ import annotations

import subprocess
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from edgeshift.authority.signers import BadSigners, checked_name, line_of, parsed
from edgeshift.authority.sshsig import PrivateKey
from tests.kit.openssh import verifies

KEY = PrivateKey.made()
LINE = KEY.public.line
NOW = datetime(2026, 6, 1, 12, tzinfo=UTC)
MESSAGE = b"agreed"


@pytest.mark.parametrize(
    "name", ["ada", "Ada Lovelace", "ada@example.com", "Ørsted", "o'neill", "ada-2", "R. U. R.", "x#y"]
)
def test_a_name_is_read_back_as_it_was_written(name: str, tmp_path: Path) -> None:
    """With spaces, too; OpenSSH finds the same person."""
    text = line_of(name, LINE) + "\n"
    signers = parsed(text)
    assert signers.names == {name}
    assert signers.may_sign(KEY.public, name, NOW) is None
    (tmp_path / "signers").write_text(text)
    (tmp_path / "message").write_bytes(MESSAGE)
    (tmp_path / "sig").write_text(KEY.sign(MESSAGE))
    assert verifies(tmp_path / "signers", name, tmp_path / "message", tmp_path / "sig")


@pytest.mark.parametrize(
    "name", ["", "a,b", "*", "a?", "!ada", 'a"b', " ada", "ada ", "a  b", "a\tb", "a\nb", "#ada", "x" * 101]
)
def test_a_name_that_the_file_cannot_have_is_refused(name: str) -> None:
    """It would be two people, everybody, or nobody, and could make the whole file unreadable."""
    with pytest.raises(BadSigners, match="no name for a key"):
        checked_name(name)
    with pytest.raises(BadSigners, match="no name for a key"):
        line_of(name, LINE)


def test_comments_blank_lines_and_words_behind_a_key_say_nothing() -> None:
    """As in any such file."""
    signers = parsed(f"\n# who signs\n\n  ada {LINE} ada's laptop\n\t\n")
    assert signers.names == {"ada"}


def test_a_line_may_have_several_names() -> None:
    """A person's name and their address."""
    signers = parsed(f"ada,ada@example.com {LINE}")
    assert signers.may_sign(KEY.public, "ada@example.com", NOW) is None
    assert signers.may_sign(KEY.public, "grace", NOW) == f"key {KEY.public.id} is not grace's"


@pytest.mark.parametrize(
    ("options", "counts"),
    [
        ('namespaces="edgeshift"', True),
        ('namespaces="git,edgeshift"', True),
        ('NAMESPACES="edgeshift"', True),
        ('namespaces="git"', False),
        ('namespaces="edgeshift2"', False),
        ('valid-after="20260601Z"', True),
        ('valid-after="20260601120001Z"', False),
        ('valid-before="20260602Z"', True),
        ('valid-before="20260601115959Z"', False),
        ('namespaces="edgeshift",valid-after="202605010000Z",valid-before="20270101Z"', True),
        ('namespaces="git",valid-after="202605010000Z"', False),
    ],
)
def test_options_limit_a_key_as_they_do_for_openssh(options: str, counts: bool, tmp_path: Path) -> None:
    """For what, from when and until when it signs."""
    text = f"ada {options} {LINE}\n"
    assert (parsed(text).may_sign(KEY.public, "ada", NOW) is None) is counts
    (tmp_path / "signers").write_text(text)
    (tmp_path / "message").write_bytes(MESSAGE)
    (tmp_path / "sig").write_text(KEY.sign(MESSAGE))
    at = f"-Overify-time={NOW:%Y%m%d%H%M%S}Z"
    assert verifies(tmp_path / "signers", "ada", tmp_path / "message", tmp_path / "sig", at) is counts


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("ada* KEY", "is a pattern"),
        ("*,!mallory KEY", "is a pattern"),
        (", KEY", "is a pattern"),
        ("ada cert-authority KEY", "certificates are not taken"),
        ("ada no-touch-required KEY", "is no option"),
        ("ada namespaces KEY", "has no value"),
        ('ada namespaces="" KEY', "has no value"),
        ("ada namespaces=edgeshift KEY", "has no value"),
        ('ada namespaces="edge*" KEY', "has a pattern"),
        ('ada namespaces="git",namespaces="edgeshift" KEY', "stands there twice"),
        ('ada valid-before="soon" KEY', "is no time"),
        ('ada valid-before="20261301Z" KEY', "is no time"),
        ("ada valid-before KEY", "has no value"),
        ('"ada KEY', "is not closed"),
        ("ada KEY ada's 13\" notebook, which she has at home and at work", "is not closed"),
        ("ada", "there is no key"),
        ("ada ssh-ed25519", "there is no key"),
        ("ada ssh-ed25519 %%%", "not base64"),
        ("KEY", "is no option|there is no key"),
    ],
)
def test_a_line_that_could_say_more_than_was_meant_is_refused(line: str, said: str) -> None:
    """The error names its number and what would be right; no other line counts either."""
    with pytest.raises(BadSigners, match=rf"line 2.*(?:{said})"):
        parsed(f"grace {PrivateKey.made().public.line}\n{line.replace('KEY', LINE)}\n")


def test_a_revoked_key_signs_nothing_at_any_time() -> None:
    """Not for what it signed before either: nobody knows when it was lost."""
    signers = parsed(f"ada {LINE}\n", f"# lost in May\n{LINE} ada\n")
    for at in (NOW - timedelta(days=3650), NOW, NOW + timedelta(days=3650)):
        assert signers.may_sign(KEY.public, "ada", at) == f"key {KEY.public.id} was revoked"


def test_the_identifier_of_a_key_is_that_of_openssh(tmp_path: Path) -> None:
    """People compare it with what `ssh-keygen -l` prints."""
    (tmp_path / "key.pub").write_text(LINE + "\n")
    done = subprocess.run(
        ["ssh-keygen", "-l", "-f", tmp_path / "key.pub"], check=True, capture_output=True, text=True
    )
    assert done.stdout.split()[1] == KEY.public.id


@pytest.mark.parametrize("end", ["\u2028", "\u2029", "\x85", "\x0b", "\x0c", "\x1c", "\r", "\u202e", "\0"])
def test_no_key_hides_in_what_others_take_for_a_comment(end: str, tmp_path: Path) -> None:
    """OpenSSH and editors see one line where some of these would begin another; the error names its number
    and the character. So it is of revoked keys.
    """
    mallory = PrivateKey.made()
    text = f"ada {LINE} ada@host{end}grace {mallory.public.line}\n"
    (tmp_path / "signers").write_bytes(text.encode())
    (tmp_path / "message").write_bytes(MESSAGE)
    (tmp_path / "sig").write_text(mallory.sign(MESSAGE))
    assert not verifies(tmp_path / "signers", "grace", tmp_path / "message", tmp_path / "sig")
    with pytest.raises(BadSigners, match=rf"line 1: it has U\+{ord(end):04X}"):
        parsed(text)
    with pytest.raises(BadSigners, match="line 2: it has"):
        parsed(f"ada {LINE}\n", f"\n# gone{end}!\n")


def test_lines_may_end_as_windows_ends_them() -> None:
    """With a carriage return; a tab is a space."""
    assert parsed(f"ada\t{LINE}\tada's\r\n\r\ngrace {PrivateKey.made().public.line}\r\n").names == {
        "ada",
        "grace",
    }
