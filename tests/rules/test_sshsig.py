"""Signatures in OpenSSH's format: what `ssh-keygen` signs we verify, and of good and bad ones we say what it
says.
"""

from __future__ import annotations

import base64
import random
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from edgeshift.authority.signers import line_of
from edgeshift.authority.sshsig import (
    NAMESPACE,
    BadKey,
    BadSignature,
    PrivateKey,
    PublicKey,
    armored,
    verify,
)
from tests.kit.hostile import KEYS, kind_of, signature_by
from tests.kit.openssh import (
    HARDWARE,
    KINDS,
    TOUCHED,
    VERIFIED,
    Keypair,
    Said,
    Token,
    mpint,
    sealed,
    string,
    verifies,
)

MESSAGE = b'{"campaign":"autumn"}'


def blob_of(text: str) -> bytes:
    """A signature's bytes."""
    return base64.b64decode("".join(text.split("\n")[1:-2]))


def ours(message: bytes, signature: str, key: PublicKey) -> bool:
    """Whether we take a signature for one of this key."""
    try:
        return verify(message, signature) == key
    except BadSignature:
        return False


def broken(signature: str, chance: random.Random) -> str:
    """A signature with one thing changed: a bit, a piece left out or put in, another part's length."""
    blob = bytearray(blob_of(signature))
    at = chance.randrange(len(blob))
    match chance.randrange(5):
        case 0 | 1:
            blob[at] ^= 1 << chance.randrange(8)
        case 2:
            del blob[at : at + chance.randrange(1, 5)]
        case 3:
            blob[at:at] = chance.randbytes(chance.randrange(1, 5))
        case _:
            blob[at] = chance.randrange(256)
    return armored(bytes(blob))


def agree(folder: Path, count: int) -> tuple[int, int]:
    """Let `ssh-keygen` and us judge this many signatures, good and bad, of every kind of key; how many were
    good, and how many bad.
    """
    chance = random.Random(count)
    keys: list[Keypair | Token] = [*(Keypair(folder, kind) for kind in KINDS), *map(Token, HARDWARE)]
    each = count // len(keys) + 1
    signers = folder / "allowed_signers"
    signers.write_text("".join(f"{line_of(key.kind, key.public.line)}\n" for key in keys))
    cases: list[tuple[Keypair | Token, Path, Path]] = []
    for key in keys:
        files = [folder / f"{key.kind}-{number}" for number in range(each)]
        for file in files:
            file.write_bytes(chance.randbytes(chance.randrange(400)))
        wrong = files[: each // 8]
        if isinstance(key, Token):
            some = [(file.read_bytes(), "git" if file in wrong else NAMESPACE) for file in files]
            flags = (TOUCHED, TOUCHED | VERIFIED)
            made = [
                key.sign(data, Said(flags=chance.choice(flags), counter=chance.randrange(9)), space)
                for data, space in some
            ]
        else:
            made = [*key.sign(wrong, "git"), *key.sign(files[len(wrong) :])]
        for number, (file, signature) in enumerate(zip(files, made, strict=True)):
            if number >= len(wrong) and number % 2:
                signature = broken(signature, chance)
                if number % 10 == 1:
                    file.write_bytes(file.read_bytes() + b"!")
            sig = Path(f"{file}.sig")
            sig.write_text(signature)
            cases.append((key, file, sig))

    def judged(case: tuple[Keypair | Token, Path, Path]) -> bool:
        key, file, sig = case
        theirs = verifies(signers, key.kind, file, sig)
        assert theirs == ours(file.read_bytes(), sig.read_text(), key.public), (key.kind, sig.read_text())
        return theirs

    with ThreadPoolExecutor(4) as pool:
        good = sum(pool.map(judged, cases[:count]))
    return good, count - good


def test_we_agree_with_openssh_on_sixty_signatures(tmp_path: Path) -> None:
    """Of every kind of key, good, changed in a bit or a length, of another message, for another purpose."""
    good, bad = agree(tmp_path, 60)
    assert good >= 15 and bad >= 15


@pytest.mark.long
def test_we_agree_with_openssh_on_a_thousand_signatures(tmp_path: Path) -> None:
    """The same, a thousand times."""
    good, bad = agree(tmp_path, 1_000)
    assert good >= 300 and bad >= 300


def test_what_we_sign_openssh_verifies(tmp_path: Path) -> None:
    """A statement signed with a key file counts elsewhere, too."""
    key = PrivateKey.made()
    signers, message, signature = (tmp_path / name for name in ("signers", "message", "message.sig"))
    signers.write_text(line_of("Ada Lovelace", key.public.line) + "\n")
    message.write_bytes(MESSAGE)
    signature.write_text(key.sign(MESSAGE))
    assert verifies(signers, "Ada Lovelace", message, signature)
    message.write_bytes(MESSAGE + b" ")
    assert not verifies(signers, "Ada Lovelace", message, signature)


def test_no_byte_of_a_signature_can_be_changed() -> None:
    """Every bit of it that says something is covered: a changed one is no signature, or another key's."""
    key = PrivateKey.made()
    blob = blob_of(key.sign(MESSAGE))
    assert ours(MESSAGE, armored(blob), key.public)
    for at in range(len(blob)):
        for bit in range(8):
            changed = bytearray(blob)
            changed[at] ^= 1 << bit
            assert not ours(MESSAGE, armored(bytes(changed)), key.public), (at, bit)
        assert not ours(MESSAGE, armored(blob[:at]), key.public), at


@pytest.mark.parametrize("namespace", ["git", "file", "edgeshif", "edgeshift2", "Edgeshift", "*", ""])
def test_a_signature_for_something_else_is_none(namespace: str) -> None:
    """A person who signs commits of a repository with the same key has agreed to nothing here."""
    key = PrivateKey.made()
    with pytest.raises(BadSignature, match="made for"):
        verify(MESSAGE, key.sign(MESSAGE, namespace))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "signed",
        "-----BEGIN SSH SIGNATURE-----\n-----END SSH SIGNATURE-----\n",
        "-----BEGIN SSH SIGNATURE-----\n%%%\n-----END SSH SIGNATURE-----\n",
        "-----BEGIN SSH SIGNATURE-----\nAAAA\n-----END SSH SIGNATURE-----\n",
        "-----BEGIN PGP SIGNATURE-----\nAAAA\n-----END PGP SIGNATURE-----\n",
        "-----BEGIN SSH SIGNATURE-----\n" + "A" * 20_000 + "\n-----END SSH SIGNATURE-----\n",
    ],
)
def test_what_is_no_signature_is_said_to_be_none(text: str) -> None:
    """Whatever a record has in the place of a signature."""
    with pytest.raises(BadSignature):
        verify(MESSAGE, text)


def test_an_odd_hash_or_a_foreign_algorithm_is_refused() -> None:
    """What is signed is a hash: only two kinds of it are taken; and a key signs with its own algorithm."""
    key = PrivateKey.made()
    blob = key.public.blob
    with pytest.raises(BadSignature, match="sha256 and sha512"):
        verify(MESSAGE, sealed(blob, string(b"ssh-ed25519") + string(b"x" * 64), hashing=b"md5"))
    with pytest.raises(BadSignature, match="none of a key of kind"):
        verify(MESSAGE, sealed(blob, string(b"rsa-sha2-512") + string(b"x" * 64)))


def test_sha1_is_no_signature_of_an_rsa_key(tmp_path: Path) -> None:
    """The algorithm `ssh-rsa` signs with SHA-1."""
    key = Keypair(tmp_path, "rsa-2048")
    with pytest.raises(BadSignature, match="ssh-rsa"):
        verify(MESSAGE, sealed(key.public.blob, string(b"ssh-rsa") + string(b"x" * 256)))


def test_short_rsa_keys_are_refused() -> None:
    """1,024 bits can be had by whoever pays for it."""
    modulus = (1 << 1023) + 1_155_685_395_246_619_182_673_033 * 2 + 1
    blob = string(b"ssh-rsa") + string(mpint(65537)) + string(mpint(modulus))
    with pytest.raises(BadKey, match="2048 are the least"):
        PublicKey.of(blob)


def test_an_rsa_signature_may_leave_out_leading_zeros(tmp_path: Path) -> None:
    """As OpenSSH lets an agent; one that is too long is none."""
    key, signers, file = Keypair(tmp_path, "rsa-2048"), tmp_path / "signers", tmp_path / "message"
    signers.write_text(line_of("ada", key.public.line) + "\n")
    # One in 256 begins with a zero.
    number = 0
    while (raw := key.signed_by_rsa(str(number).encode()))[0]:
        number += 1
    file.write_text(str(number))
    short = sealed(key.public.blob, string(b"rsa-sha2-512") + string(raw.lstrip(b"\0")))
    long = sealed(key.public.blob, string(b"rsa-sha2-512") + string(b"\0" + raw))
    for text, taken in ((short, True), (long, False)):
        Path(f"{file}.sig").write_text(text)
        assert verifies(signers, "ada", file, Path(f"{file}.sig")) is taken
        assert ours(file.read_bytes(), text, key.public) is taken


def test_numbers_of_an_ecdsa_signature_are_not_negative(tmp_path: Path) -> None:
    """One that leaves out the zero before its sign is none, as for OpenSSH."""
    key, signers = Keypair(tmp_path, "ecdsa-256"), tmp_path / "signers"
    signers.write_text(line_of("ada", key.public.line) + "\n")
    files = [tmp_path / f"m{number}" for number in range(20)]
    for number, file in enumerate(files):
        file.write_text(str(number))
    changed = 0
    for file, text in zip(files, key.sign(files), strict=True):
        raw = blob_of(text)
        tail = raw[raw.rindex(string(b"ecdsa-sha2-nistp256")) + 23 + 4 :]
        size = int.from_bytes(tail[:4], "big")
        one, other = tail[4 : 4 + size], tail[8 + size :]
        if one[0] or one[1] < 0x80:
            continue
        changed += 1
        bare = string(one[1:]) + string(other)
        sig = Path(f"{file}.sig")
        sig.write_text(sealed(key.public.blob, string(b"ecdsa-sha2-nistp256") + string(bare)))
        assert not verifies(signers, "ada", file, sig)
        assert not ours(file.read_bytes(), sig.read_text(), key.public)
    assert changed


@pytest.mark.parametrize("kind", HARDWARE)
def test_hardware_keys_count_once_they_were_touched(kind: str, tmp_path: Path) -> None:
    """With a PIN or without; OpenSSH says the same."""
    token, signers, message = Token(kind), tmp_path / "signers", tmp_path / "message"
    signers.write_text(line_of("ada", token.public.line) + "\n")
    message.write_bytes(MESSAGE)
    for number, flags in enumerate((TOUCHED, TOUCHED | VERIFIED)):
        text = token.sign(MESSAGE, Said(flags=flags, counter=number))
        (tmp_path / "sig").write_text(text)
        assert verify(MESSAGE, text) == token.public
        assert verifies(signers, "ada", message, tmp_path / "sig")


@pytest.mark.parametrize("kind", HARDWARE)
@pytest.mark.parametrize("flags", [0, VERIFIED, 0xFE])
def test_a_hardware_key_that_was_not_touched_signs_nothing(kind: str, flags: int) -> None:
    """A program may ask a token that is plugged in; a person touches it."""
    token = Token(kind)
    with pytest.raises(BadSignature, match="not touched"):
        verify(MESSAGE, token.sign(MESSAGE, Said(flags=flags)))


@pytest.mark.parametrize("kind", HARDWARE)
def test_a_token_signs_for_its_own_application_alone(kind: str) -> None:
    """What it signed for a web site, or for another key's application, is none."""
    with pytest.raises(BadSignature):
        verify(MESSAGE, Token(kind).sign(MESSAGE, Said(application=b"https://shop.example")))
    assert Token(kind, b"ssh:edgeshift").public.kind.startswith("sk-")


@pytest.mark.parametrize("kind", HARDWARE)
def test_flags_and_counter_of_a_token_are_signed(kind: str) -> None:
    """Changed afterwards they make it no signature; what stands behind them neither."""
    token = Token(kind)
    blob = blob_of(token.sign(MESSAGE))
    for at in range(len(blob) - 5, len(blob)):
        changed = bytearray(blob)
        changed[at] ^= 0x02
        assert not ours(MESSAGE, armored(bytes(changed)), token.public), at
    other = replace(Said(), counter=8)
    assert ours(MESSAGE, token.sign(MESSAGE, other), token.public)
    inner = blob[blob.rindex(string(token.public.kind.encode())) :]
    assert not ours(MESSAGE, sealed(token.public.blob, inner + b"\0"), token.public)


@pytest.mark.parametrize(
    ("kind", "blob", "said"),
    [
        ("ssh-dss", string(b"ssh-dss") + string(b"x"), "ed25519, rsa, ecdsa"),
        ("ssh-ed25519", string(b"ssh-rsa") + string(b"x"), "says 'ssh-ed25519' and is 'ssh-rsa'"),
        ("ssh-ed25519", string(b"ssh-ed25519") + string(b"short"), "damaged"),
        ("ssh-ed25519", b"\xff\xff\xff\xff", "no public key"),
        (
            "sk-ssh-ed25519@openssh.com",
            string(b"sk-ssh-ed25519@openssh.com") + string(b"x" * 32) + string(b"ssh:") + b"!",
            "damaged",
        ),
        ("ssh-ed25519-cert-v01@openssh.com", string(b"ssh-ed25519-cert-v01@openssh.com"), "are taken"),
    ],
)
def test_what_is_no_key_is_refused(kind: str, blob: bytes, said: str) -> None:
    """With what it is, and what would be one."""
    with pytest.raises(BadKey, match=said):
        PublicKey.of(blob, kind)


@pytest.mark.parametrize("name", KEYS)
def test_what_is_no_key_signs_nothing_and_is_listed_nowhere(name: str) -> None:
    """Of a kind that nobody takes, a certificate, or written in another way than the one that OpenSSH has, so
    that one key would have several identifiers: it is refused as any other, whatever a library says of it.
    """
    blob = KEYS[name]()
    with pytest.raises(BadSignature):
        verify(MESSAGE, signature_by(blob))
    with pytest.raises(BadKey):
        PublicKey.parsed(kind_of(blob), base64.b64encode(blob).decode())
