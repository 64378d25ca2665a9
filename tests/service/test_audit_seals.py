"""The last line of an audit file can be written in one way alone, whichever key has sealed it: also what its
numbers are equal to, and what its signature could be as well, is a change that is found.
"""

from __future__ import annotations

import base64
import io
import json
import secrets
from datetime import UTC, datetime
from pathlib import Path

import pytest

from edgeshift.audit.chain import line_of as chained
from edgeshift.audit.exporting import export
from edgeshift.audit.judging import roots_of
from edgeshift.audit.proving import prove
from edgeshift.authority.signers import line_of, parsed
from edgeshift.authority.sshsig import PublicKey, armored, rearmored, verify
from edgeshift.model.digests import canonical_bytes, sha256
from tests.kit.audited import CAMPAIGN, Audited, audited
from tests.kit.openssh import HARDWARE, Keypair, Token, mpint, sealed, string

ORDERS = {
    "sk-ecdsa": 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551,
    "ecdsa-256": 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551,
    "ecdsa-384": int(
        "ffffffffffffffffffffffffffffffffffffffffffffffffc7634d81f4372ddf581a0db248b0a77aecec196accc52973", 16
    ),
    "ecdsa-521": (1 << 521) - int("5ae79787c40d069948033feb708f65a2fc44a36477663b851449048e16ec79bf7", 16),
}
"""Of the curves: a signature's second number may be replaced by what it lacks to this."""

OTHERWISE = "it is written in another way than signatures are"


class Sealer:
    """Signs as ``ssh-keygen`` does with a key of a kind, a hardware key among them."""

    def __init__(self, folder: Path, kind: str) -> None:
        self._key = Token(kind) if kind in HARDWARE else Keypair(folder, kind)
        self._folder = folder

    @property
    def key(self) -> PublicKey:
        """The public key."""
        return self._key.public

    async def sign(self, message: bytes) -> str:
        """The armored signature of a message."""
        if isinstance(self._key, Token):
            return self._key.sign(message)
        # ssh-keygen leaves a signature that is there already.
        file = self._folder / sha256(message + secrets.token_bytes(8))
        file.write_bytes(message)
        return self._key.sign([file])[0]


def parts(data: bytes) -> list[bytes]:
    """The strings of the wire format, one after the other; what is left behind them is the last."""
    found = []
    while len(data) > 4 and (size := int.from_bytes(data[:4], "big")) <= len(data) - 4:
        found.append(data[4 : 4 + size])
        data = data[4 + size :]
    return [*found, data]


def otherwise(signature: str, kind: str, how: str) -> str:
    """Another signature of the same by the same key, made without it."""
    blob = base64.b64decode("".join(signature.split("\n")[1:-2]))
    key, space, reserved, hashing, inner, _ = parts(blob[10:])
    name, raw, tail = parts(inner)
    one, other = (int.from_bytes(number, "big") for number in parts(raw)[:2])
    if how == "the other number":
        raw = string(mpint(one)) + string(mpint(ORDERS[kind] - other))
    else:
        raw = string(b"\0" + mpint(one)) + string(mpint(other))
    inner = string(name) + string(raw) + tail
    return armored(blob[:10] + b"".join(map(string, (key, space, reserved, hashing, inner))))


def with_signature(data: bytes, signature: str) -> bytes:
    """The file with another signature under its end."""
    *rest, last = data.splitlines()
    seal = json.loads(last)
    changed = canonical_bytes({**seal["data"], "signature": signature})
    return b"\n".join([*rest, chained("seal", changed, seal["n"], seal["prev"])]) + b"\n"


async def exported(done: Audited, sealer: Sealer) -> bytes:
    """The file of a campaign, as tess has sealed it."""
    out = io.BytesIO()
    await export(done.archive, CAMPAIGN, out, datetime.now(UTC), by="tess", signer=sealer)
    return out.getvalue()


@pytest.mark.parametrize("kind", ORDERS)
async def test_a_seal_is_signed_in_one_way_alone(kind: str, tmp_path: Path) -> None:
    """Of the others OpenSSH takes one as it does the first; each is by the same key, and made without it."""
    done, sealer = await audited(tmp_path), Sealer(tmp_path, kind)
    roots = roots_of(parsed(f"{done.signers}{line_of('tess', sealer.key.line)}\n"))
    for how in ("the other number", "a zero before it"):
        data = await exported(done, sealer)
        assert prove(io.BytesIO(data), roots).holds
        seal = json.loads(data.splitlines()[-1])["data"]
        other = otherwise(seal["signature"], kind, how)
        assert other != seal["signature"]
        assert verify(canonical_bytes(seal["statement"]), other) == sealer.key
        proof = prove(io.BytesIO(with_signature(data, other)), roots)
        assert not proof.holds and OTHERWISE in proof.findings[0].text
        assert rearmored(other) == seal["signature"]


def test_leading_zeros_of_a_seal_by_rsa_stay(tmp_path: Path) -> None:
    """OpenSSH lets an agent leave them out: one of 256 signatures begins so, and can be written shorter."""
    key = Keypair(tmp_path, "rsa-2048")
    for number in range(5_000):
        message = str(number).encode()
        raw = key.signed_by_rsa(message)
        if raw[0] == 0:
            break
    name = string(b"rsa-sha2-512")
    whole, short = (sealed(key.public.blob, name + string(one)) for one in (raw, raw.lstrip(b"\0")))
    assert verify(message, short) == verify(message, whole) == key.public
    assert rearmored(short) == rearmored(whole) == whole != short


@pytest.mark.parametrize("written", ["{}.0", "{}e0", "{}.00", "-{}", "0{}"])
async def test_the_number_of_a_line_is_written_in_one_way_alone(written: str, tmp_path: Path) -> None:
    """Also that of the last one, which no other line is chained to."""
    done = await audited(tmp_path)
    *rest, last = (await done.export()).splitlines()
    number = json.loads(last)["n"]
    changed = last.replace(f'"n":{number},'.encode(), f'"n":{written.format(number)},'.encode())
    assert changed != last
    assert not done.prove(b"\n".join([*rest, changed]) + b"\n").holds
