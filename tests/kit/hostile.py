"""What whoever may write to the archive can lay there to hold others up: signatures by keys that trip the
libraries which read them, names that are no names of ours, files that nobody can read.
"""

from __future__ import annotations

import base64
import json
import os
from collections.abc import Callable
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    PublicFormat,
    SSHCertificateBuilder,
    SSHCertificateType,
)

from tests.kit.openssh import sealed, string

NAME = "a" * 64
"""The digest that a planted statement says to have."""

_SK = "sk-ecdsa-sha2-nistp256@openssh.com"


def _point(form: PublicFormat) -> bytes:
    return ec.generate_private_key(ec.SECP256R1()).public_key().public_bytes(Encoding.X962, form)


def _rsa(before: bytes = b"\0") -> bytes:
    numbers = rsa.generate_private_key(65537, 2048).public_key().public_numbers()
    modulus = before + numbers.n.to_bytes(256, "big")
    return string(b"ssh-rsa") + string(b"\x01\x00\x01") + string(modulus)


def _certificate() -> bytes:
    key = ec.generate_private_key(ec.SECP256R1())
    made = SSHCertificateBuilder().public_key(key.public_key()).serial(1).type(SSHCertificateType.USER)
    made = made.key_id(b"ada").valid_principals([b"ada"]).valid_after(0).valid_before(2**63)
    return base64.b64decode(made.sign(key).public_bytes().split()[1])


KEYS: dict[str, Callable[[], bytes]] = {
    "a compressed point": lambda: b"".join(
        map(string, (b"ecdsa-sha2-nistp256", b"nistp256", _point(PublicFormat.CompressedPoint)))
    ),
    "a certificate": _certificate,
    "an unknown curve": lambda: b"".join(
        map(string, (b"ecdsa-sha2-nistp192", b"nistp192", _point(PublicFormat.UncompressedPoint)))
    ),
    "a zero before the modulus": lambda: _rsa(b"\0\0"),
    "a hardware key's compressed point": lambda: b"".join(
        map(string, (_SK.encode(), b"nistp256", _point(PublicFormat.CompressedPoint), b"ssh:"))
    ),
    "a hardware key's other curve": lambda: b"".join(
        map(string, (_SK.encode(), b"nistp521", _point(PublicFormat.UncompressedPoint), b"ssh:"))
    ),
}
"""Keys as they stand in a signature, none of which is one."""


def kind_of(blob: bytes) -> str:
    """The kind that a key says to be."""
    return blob[4 : 4 + int.from_bytes(blob[:4], "big")].decode()


def signature_by(blob: bytes) -> str:
    """A signature that says to be this key's."""
    tail = b"\x01\0\0\0\x07" if kind_of(blob) == _SK else b""
    number = string(b"\x01")
    return sealed(blob, string(kind_of(blob).encode()) + string(number + number) + tail)


def _statement(folder: Path, blob: bytes) -> None:
    said = {"signature": signature_by(blob), "statement": {"a": 1}}
    (folder / "statement").mkdir(parents=True, exist_ok=True)
    (folder / "statement" / NAME).write_text(json.dumps(said))


def _by_key(name: str) -> Callable[[Path, str], None]:
    def plant(folder: Path, kind: str) -> None:
        _named(folder, kind, NAME)
        _statement(folder, KEYS[name]())

    return plant


def _named(folder: Path, kind: str, name: str | bytes) -> None:
    (folder / kind).mkdir(parents=True, exist_ok=True)
    Path(os.fsdecode(os.path.join(os.fsencode(folder / kind), os.fsencode(name)))).write_text("{}")


def _linked(folder: Path, name: str, to: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    if not (folder / name).is_symlink():
        (folder / name).symlink_to(to)


def _statement_in_a_circle(folder: Path, kind: str) -> None:
    _named(folder, kind, NAME)
    _linked(folder / "statement", NAME, NAME)


def _name_in_a_circle(folder: Path, kind: str) -> None:
    _linked(folder / kind, NAME, NAME)


def _folders_in_a_circle(folder: Path, kind: str) -> None:
    """Two links to the folder that they lie in: whoever follows them comes to no end."""
    for name in ("one", "other"):
        _linked(folder / kind, name, ".")


PLANTED: dict[str, Callable[[Path, str], None]] = {
    "a name with a space": lambda folder, kind: _named(folder, kind, "x y"),
    "a long name": lambda folder, kind: _named(folder, kind, "a" * 220),
    "a name that is no text": lambda folder, kind: _named(folder, kind, b"\xff\x1b[2J"),
    "a statement that links to itself": _statement_in_a_circle,
    "a name that links to itself": _name_in_a_circle,
    "folders that link to theirs": _folders_in_a_circle,
    **{f"a signature by {name}": _by_key(name) for name in KEYS},
}
"""By what it is: lay it below a folder of the archive, for what is found under this name there."""

ODD_NAMES = ("a name with a space", "a long name", "a name that is no text")
