"""Signatures in OpenSSH's own format (SSHSIG), as ``ssh-keygen -Y sign`` makes and ``-Y verify`` checks them.

The format is OpenSSH's PROTOCOL.sshsig: what is signed is the hash of the message together with a namespace,
so that a signature made for another purpose is none here. Ed25519, RSA (2,048 bits or more, SHA-2), ECDSA on
the NIST curves, and both kinds of hardware key (``sk-``), which have to have been touched.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import struct
from dataclasses import dataclass
from typing import Final

from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, padding, rsa
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_ssh_private_key,
    load_ssh_public_key,
)

NAMESPACE: Final = "edgeshift"
"""What statements are signed for; no other signature is one."""

_MAGIC = b"SSHSIG"
_BEGIN, _END = "-----BEGIN SSH SIGNATURE-----", "-----END SSH SIGNATURE-----"
_HASHES = {"sha256": hashlib.sha256, "sha512": hashlib.sha512}
_LEAST_RSA = 2048
_LONGEST = 16 * 1024
_TOUCHED = 0x01
_CURVES: dict[str, tuple[type[ec.EllipticCurve], type[hashes.HashAlgorithm]]] = {
    "nistp256": (ec.SECP256R1, hashes.SHA256),
    "nistp384": (ec.SECP384R1, hashes.SHA384),
    "nistp521": (ec.SECP521R1, hashes.SHA512),
}
_ORDERS = {
    256: 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551,
    384: 0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFC7634D81F4372DDF581A0DB248B0A77AECEC196ACCC52973,
    521: (1 << 521) - 0x5AE79787C40D069948033FEB708F65A2FC44A36477663B851449048E16EC79BF7,
}
"""Of the curves, by their bits: without the key everybody makes another signature of an ECDSA signature, with
what its second number lacks to this.
"""

_SK_ED25519, _SK_ECDSA = "sk-ssh-ed25519@openssh.com", "sk-ecdsa-sha2-nistp256@openssh.com"
# Each by its whole name: that of a certificate begins with that of its key.
_PLAIN = ("ssh-ed25519", "ssh-rsa", *(f"ecdsa-sha2-{curve}" for curve in _CURVES))
_UNCOMPRESSED = b"\x04"
_OTHERWISE = "a key of kind {} that is written in another way than OpenSSH writes it"


class BadSignature(ValueError):
    """A signature that does not verify, or that is none. The text says why, and repeats nothing of it."""


class BadKey(ValueError):
    """What is no public key, or one of a kind that is not taken. The text says which are."""


@dataclass(frozen=True)
class PublicKey:
    """A public key as OpenSSH writes it. ``blob``: its bytes in the wire format, which say what it is."""

    kind: str
    blob: bytes

    @property
    def id(self) -> str:
        """Its fingerprint as ``ssh-keygen -l`` prints it: ``SHA256:…``."""
        return "SHA256:" + base64.b64encode(hashlib.sha256(self.blob).digest()).decode().rstrip("=")

    @property
    def line(self) -> str:
        """It as a line of an ``authorized_keys`` or ``allowed_signers`` file has it."""
        return f"{self.kind} {base64.b64encode(self.blob).decode()}"

    @classmethod
    def parsed(cls, kind: str, encoded: str) -> PublicKey:
        """The key of these two words. Raises BadKey."""
        try:
            blob = base64.b64decode(encoded, validate=True)
        except (binascii.Error, ValueError):
            raise BadKey(f"a key of kind {kind[:40]!r} that is not base64") from None
        return cls.of(blob, kind)

    @classmethod
    def of(cls, blob: bytes, kind: str = "") -> PublicKey:
        """The key that these bytes are. Raises BadKey where they are another kind, or none that is taken."""
        try:
            named = _Wire(blob).text()
        except BadSignature:
            raise BadKey("what is no public key") from None
        if kind and kind != named:
            raise BadKey(f"a key that says {kind[:40]!r} and is {named[:40]!r}")
        key = cls(named, blob)
        key._checked()
        return key

    def _checked(self) -> None:
        if self.kind in (_SK_ED25519, _SK_ECDSA):
            self._hardware()
            return
        if self.kind not in _PLAIN:
            raise BadKey(
                f"a key of kind {self.kind[:40]!r}: ed25519, rsa, ecdsa and the hardware kinds of"
                " ed25519 and ecdsa are taken"
            )
        found = self._plain()
        if isinstance(found, rsa.RSAPublicKey) and found.key_size < _LEAST_RSA:
            raise BadKey(f"an RSA key of {found.key_size} bits: {_LEAST_RSA} are the least")
        # Else one key would have several identifiers, and be revoked, or known as somebody's, by one alone.
        if found.public_bytes(Encoding.OpenSSH, PublicFormat.OpenSSH) != self.line.encode():
            raise BadKey(_OTHERWISE.format(self.kind))

    def _plain(self) -> ed25519.Ed25519PublicKey | rsa.RSAPublicKey | ec.EllipticCurvePublicKey:
        try:
            found = load_ssh_public_key(self.line.encode())
        except (ValueError, UnsupportedAlgorithm, NotImplementedError):
            # The library says of a compressed point that it is not implemented; OpenSSH takes none.
            raise BadKey(f"a damaged key of kind {self.kind}") from None
        assert isinstance(found, ed25519.Ed25519PublicKey | rsa.RSAPublicKey | ec.EllipticCurvePublicKey)
        return found

    def written(self, signature: bytes) -> bytes:
        """A signature, in the wire format, in the one form that this key's have here: of RSA with its leading
        zeros, of ECDSA with the lower second number, both as short as they are. Raises BadSignature.
        """
        wire = _Wire(signature)
        algorithm, raw = wire.bytes(), wire.bytes()
        key = self._hardware()[0] if self.kind in (_SK_ED25519, _SK_ECDSA) else self._plain()
        if isinstance(key, rsa.RSAPublicKey):
            raw = _whole_rsa(raw, key)
        elif isinstance(key, ec.EllipticCurvePublicKey):
            (one, other), order = _numbers(raw), _ORDERS[key.key_size]
            if not (0 < one < order and 0 < other < order):
                raise BadSignature("it has a number that none of its kind has")
            raw = b"".join(_string(_number(number)) for number in (one, min(other, order - other)))
        return _string(algorithm) + _string(raw) + wire.rest()

    def _hardware(self) -> tuple[ed25519.Ed25519PublicKey | ec.EllipticCurvePublicKey, bytes]:
        """The key within, and the application that it is for."""
        try:
            wire = _Wire(self.blob)
            wire.text()
            if self.kind == _SK_ED25519:
                key: ed25519.Ed25519PublicKey | ec.EllipticCurvePublicKey = (
                    ed25519.Ed25519PublicKey.from_public_bytes(wire.bytes())
                )
            else:
                curve, point = wire.text(), wire.bytes()
                if curve != "nistp256" or point[:1] != _UNCOMPRESSED:
                    raise BadKey(_OTHERWISE.format(self.kind))
                key = ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), point)
            application = wire.bytes()
            wire.end()
        except (BadSignature, ValueError):
            raise BadKey(f"a damaged key of kind {self.kind}") from None
        return key, application

    def verify(self, signed: bytes, signature: bytes) -> None:
        """Whether ``signature``, in the wire format, is this key's of ``signed``. Raises BadSignature."""
        wire = _Wire(signature)
        algorithm, raw = wire.text(), wire.bytes()
        try:
            if self.kind in (_SK_ED25519, _SK_ECDSA):
                self._verify_hardware(algorithm, raw, wire, signed)
            else:
                wire.end()
                self._verify_plain(algorithm, raw, signed)
        except InvalidSignature:
            raise BadSignature("it is not the signature of this statement by this key") from None

    def _verify_plain(self, algorithm: str, raw: bytes, signed: bytes) -> None:
        key = self._plain()
        if isinstance(key, ed25519.Ed25519PublicKey) and algorithm == "ssh-ed25519":
            key.verify(raw, signed)
        elif isinstance(key, rsa.RSAPublicKey) and algorithm in ("rsa-sha2-256", "rsa-sha2-512"):
            chosen = hashes.SHA256() if algorithm.endswith("256") else hashes.SHA512()
            key.verify(_whole_rsa(raw, key), signed, padding.PKCS1v15(), chosen)
        elif isinstance(key, ec.EllipticCurvePublicKey) and algorithm == self.kind:
            key.verify(_ecdsa(raw), signed, ec.ECDSA(_CURVES[self.kind.rpartition("-")[2]][1]()))
        else:
            raise BadSignature(f"a signature by {algorithm[:40]!r} is none of a key of kind {self.kind}")

    def _verify_hardware(self, algorithm: str, raw: bytes, wire: _Wire, signed: bytes) -> None:
        flags, counter = wire.take(1), wire.take(4)
        wire.end()
        if algorithm != self.kind:
            raise BadSignature(f"a signature by {algorithm[:40]!r} is none of a key of kind {self.kind}")
        if not flags[0] & _TOUCHED:
            raise BadSignature("the hardware key was not touched for it")
        key, application = self._hardware()
        message = hashlib.sha256(application).digest() + flags + counter + hashlib.sha256(signed).digest()
        if isinstance(key, ed25519.Ed25519PublicKey):
            key.verify(raw, message)
        else:
            key.verify(_ecdsa(raw), message, ec.ECDSA(hashes.SHA256()))


def verify(message: bytes, armored: str, namespace: str = NAMESPACE) -> PublicKey:
    """The key that signed ``message``. Whether its owner may is for others to say. Raises BadSignature."""
    wire = _Wire(_unarmored(armored))
    if wire.take(6) != _MAGIC or wire.number() != 1:
        raise BadSignature("it is no SSH signature of version 1")
    blob, found, reserved = wire.bytes(), wire.text(), wire.bytes()
    algorithm, signature = wire.text(), wire.bytes()
    wire.end()
    if found != namespace:
        raise BadSignature(f"it was made for {found[:40]!r}, and not for {namespace!r}")
    if (hashing := _HASHES.get(algorithm)) is None:
        raise BadSignature(f"it has the hash {algorithm[:20]!r}; sha256 and sha512 are taken")
    try:
        key = PublicKey.of(blob)
    except BadKey as why:
        raise BadSignature(f"it is by {why}") from None
    key.verify(_to_sign(namespace, reserved, algorithm, hashing(message).digest()), signature)
    return key


class PrivateKey:
    """An Ed25519 key in a file of OpenSSH's, to sign with where no agent is asked."""

    def __init__(self, data: bytes, passphrase: bytes | None = None) -> None:
        try:
            found = load_ssh_private_key(data, passphrase)
        except TypeError:
            raise BadKey("a private key that needs its passphrase") from None
        except (ValueError, UnsupportedAlgorithm):
            raise BadKey("what is no private key, or another passphrase's") from None
        if not isinstance(found, ed25519.Ed25519PrivateKey):
            raise BadKey("a private key of another kind than ed25519: sign with it through ssh-agent")
        self._key = found

    @classmethod
    def made(cls) -> PrivateKey:
        """A new key."""
        made = ed25519.Ed25519PrivateKey.generate()
        return cls(made.private_bytes(Encoding.PEM, PrivateFormat.OpenSSH, NoEncryption()))

    @property
    def text(self) -> str:
        """Its file, without a passphrase."""
        return self._key.private_bytes(Encoding.PEM, PrivateFormat.OpenSSH, NoEncryption()).decode()

    @property
    def public(self) -> PublicKey:
        """Its public key."""
        line = self._key.public_key().public_bytes(Encoding.OpenSSH, PublicFormat.OpenSSH).decode()
        return PublicKey.parsed(*line.split()[:2])

    def sign(self, message: bytes, namespace: str = NAMESPACE) -> str:
        """Its signature of ``message``, armored."""
        signed = _to_sign(namespace, b"", "sha512", hashlib.sha512(message).digest())
        signature = _string(b"ssh-ed25519") + _string(self._key.sign(signed))
        blob = _MAGIC + struct.pack(">I", 1) + _string(self.public.blob) + _string(namespace.encode())
        blob += _string(b"") + _string(b"sha512") + _string(signature)
        return armored(blob)


def armored(blob: bytes) -> str:
    """A signature's bytes as its file has them."""
    text = base64.b64encode(blob).decode()
    return "\n".join([_BEGIN, *(text[at : at + 70] for at in range(0, len(text), 70)), _END, ""])


def rearmored(text: str) -> str:
    """A signature as its file has it, written in one way alone, which nobody can change without the key.
    Raises BadSignature.
    """
    wire = _Wire(_unarmored(text))
    head = wire.take(len(_MAGIC) + 4)
    blob, *said = (wire.bytes() for _ in range(4))
    signature = wire.bytes()
    wire.end()
    try:
        signature = PublicKey.of(blob).written(signature)
    except BadKey as why:
        raise BadSignature(f"it is by {why}") from None
    return armored(head + b"".join(map(_string, (blob, *said, signature))))


def _unarmored(text: str) -> bytes:
    lines = text.strip().splitlines()
    if len(text) > _LONGEST or len(lines) < 3 or lines[0].strip() != _BEGIN or lines[-1].strip() != _END:
        raise BadSignature("it is no SSH signature")
    try:
        return base64.b64decode("".join(line.strip() for line in lines[1:-1]), validate=True)
    except (binascii.Error, ValueError):
        raise BadSignature("it is no SSH signature") from None


def _to_sign(namespace: str, reserved: bytes, algorithm: str, hashed: bytes) -> bytes:
    parts = (namespace.encode(), reserved, algorithm.encode(), hashed)
    return _MAGIC + b"".join(map(_string, parts))


def _string(data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + data


def _number(number: int) -> bytes:
    """A positive number in the wire format, without its length."""
    return number.to_bytes(number.bit_length() // 8 + 1, "big")


def _whole_rsa(raw: bytes, key: rsa.RSAPublicKey) -> bytes:
    """With its leading zeros: an agent may leave them out, as OpenSSH lets it."""
    return raw.rjust((key.key_size + 7) // 8, b"\0")


def _ecdsa(raw: bytes) -> bytes:
    """An ECDSA signature of the wire format as DER has it."""
    return encode_dss_signature(*_numbers(raw))


def _numbers(raw: bytes) -> tuple[int, int]:
    """The two numbers of an ECDSA signature of the wire format."""
    wire = _Wire(raw)
    one, other = wire.bytes(), wire.bytes()
    wire.end()
    if any(number[:1] >= b"\x80" for number in (one, other)):
        raise BadSignature("it has a negative number")
    return int.from_bytes(one, "big"), int.from_bytes(other, "big")


class _Wire:
    """Reads the wire format of SSH (RFC 4251 §5). Whatever does not fit raises BadSignature."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    def take(self, size: int) -> bytes:
        if size > len(self._data) - self._at:
            raise BadSignature("it is cut off")
        self._at += size
        return self._data[self._at - size : self._at]

    def rest(self) -> bytes:
        return self.take(len(self._data) - self._at)

    def number(self) -> int:
        return int.from_bytes(self.take(4), "big")

    def bytes(self) -> bytes:
        return self.take(self.number())

    def text(self) -> str:
        try:
            return self.bytes().decode("ascii")
        except UnicodeDecodeError:
            raise BadSignature("it has a name that is none") from None

    def end(self) -> None:
        if self._at != len(self._data):
            raise BadSignature("it has more in it than it should")
