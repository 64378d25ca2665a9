"""OpenSSH beside our own code: keys of every kind, what `ssh-keygen` signs with them, and what it says of a
signature. Hardware keys are made up: what a token signs is known, and `ssh-keygen` verifies it without one.
"""

from __future__ import annotations

import hashlib
import shutil
import struct
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, padding, rsa
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
)

from edgeshift.authority.sshsig import NAMESPACE, PublicKey, armored

KINDS = ("ed25519", "rsa-2048", "rsa-3072", "ecdsa-256", "ecdsa-384", "ecdsa-521")
HARDWARE = ("sk-ed25519", "sk-ecdsa")
TOUCHED, VERIFIED = 0x01, 0x04


def program() -> str:
    """`ssh-keygen`, which `make test` sees to."""
    found = shutil.which("ssh-keygen")
    assert found, "ssh-keygen is missing: `make test` installs it, or says what to install"
    return found


def _private(kind: str) -> ed25519.Ed25519PrivateKey | rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey:
    name, _, size = kind.partition("-")
    if name == "rsa":
        return rsa.generate_private_key(65537, int(size))
    if name == "ecdsa":
        curves: dict[str, type[ec.SECP256R1 | ec.SECP384R1 | ec.SECP521R1]] = {
            "256": ec.SECP256R1,
            "384": ec.SECP384R1,
            "521": ec.SECP521R1,
        }
        return ec.generate_private_key(curves[size]())
    return ed25519.Ed25519PrivateKey.generate()


class Keypair:
    """A key of a kind, in a file as OpenSSH keeps it."""

    def __init__(self, folder: Path, kind: str) -> None:
        self.kind = kind
        self.path = folder / kind
        self._key = _private(kind)
        text = self._key.private_bytes(Encoding.PEM, PrivateFormat.OpenSSH, NoEncryption())
        self.path.write_bytes(text)
        self.path.chmod(0o600)

    @cached_property
    def public(self) -> PublicKey:
        """The public key."""
        line = self._key.public_key().public_bytes(Encoding.OpenSSH, PublicFormat.OpenSSH).decode()
        return PublicKey.parsed(*line.split()[:2])

    def sign(self, files: Sequence[Path], namespace: str = NAMESPACE) -> list[str]:
        """What `ssh-keygen` signs: all in one call."""
        subprocess.run(
            [program(), "-q", "-Y", "sign", "-f", self.path, "-n", namespace, *files],
            check=True,
            capture_output=True,
            stdin=subprocess.DEVNULL,
        )
        return [Path(f"{file}.sig").read_text() for file in files]

    def signed_by_rsa(self, message: bytes) -> bytes:
        """The bare signature of a message by an RSA key."""
        assert isinstance(self._key, rsa.RSAPrivateKey)
        return self._key.sign(to_sign(message), padding.PKCS1v15(), hashes.SHA512())


@dataclass(frozen=True)
class Said:
    """What a token signs with: by default as it does once it was touched."""

    flags: int = TOUCHED
    counter: int = 7
    application: bytes = b"ssh:"


class Token:
    """A hardware key of a kind (``sk-ed25519``, ``sk-ecdsa``)."""

    def __init__(self, kind: str, application: bytes = b"ssh:") -> None:
        self.kind = kind
        self._ed = ed25519.Ed25519PrivateKey.generate()
        self._ec = ec.generate_private_key(ec.SECP256R1())
        self._name = f"{'sk-ssh-ed25519' if kind == 'sk-ed25519' else 'sk-ecdsa-sha2-nistp256'}@openssh.com"
        raw = self._ed.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)
        point = self._ec.public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)
        key = string(raw) if kind == "sk-ed25519" else string(b"nistp256") + string(point)
        self.public = PublicKey.of(string(self._name.encode()) + key + string(application))

    def sign(self, message: bytes, said: Said = Said(), namespace: str = NAMESPACE) -> str:
        """Its signature of a message, armored."""
        signed = to_sign(message, namespace)
        tail = struct.pack(">BI", said.flags, said.counter)
        asked = hashlib.sha256(said.application).digest() + tail + hashlib.sha256(signed).digest()
        if self.kind == "sk-ed25519":
            raw = self._ed.sign(asked)
        else:
            one, other = decode_dss_signature(self._ec.sign(asked, ec.ECDSA(hashes.SHA256())))
            raw = string(mpint(one)) + string(mpint(other))
        signature = string(self._name.encode()) + string(raw) + tail
        return sealed(self.public.blob, signature, namespace)


def to_sign(message: bytes, namespace: str = NAMESPACE) -> bytes:
    """The bytes that a key signs."""
    head = b"SSHSIG" + string(namespace.encode()) + string(b"") + string(b"sha512")
    return head + string(hashlib.sha512(message).digest())


def sealed(key: bytes, signature: bytes, namespace: str = NAMESPACE, hashing: bytes = b"sha512") -> str:
    """A signature file of these parts."""
    blob = b"SSHSIG" + struct.pack(">I", 1) + string(key) + string(namespace.encode())
    return armored(blob + string(b"") + string(hashing) + string(signature))


def string(data: bytes) -> bytes:
    """Bytes in the wire format (RFC 4251 §5)."""
    return struct.pack(">I", len(data)) + data


def mpint(number: int) -> bytes:
    """A number in the wire format, without its length."""
    return number.to_bytes(number.bit_length() // 8 + 1, "big")


def verifies(signers: Path, name: str, message: Path, signature: Path, *options: str) -> bool:
    """What `ssh-keygen -Y verify` says."""
    with message.open("rb") as data:
        done = subprocess.run(
            [
                program(),
                "-Y",
                "verify",
                "-f",
                signers,
                "-I",
                name,
                "-n",
                NAMESPACE,
                "-s",
                signature,
                *options,
            ],
            stdin=data,
            capture_output=True,
        )
    return done.returncode == 0
