"""Signing with a person's key: a key file by itself, everything else (ssh-agent, passphrases, hardware keys)
by ``ssh-keygen -Y sign``, which asks its owner on the terminal.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import stat
import tempfile
from pathlib import Path
from typing import Protocol

from edgeshift.authority.sshsig import NAMESPACE, BadKey, BadSignature, PrivateKey, PublicKey, verify
from edgeshift.runtime.files import path_named


class SigningFailed(Exception):
    """Nothing was signed. The text says why, ``hint`` what to do."""

    def __init__(self, text: str, hint: str = "") -> None:
        super().__init__(text)
        self.hint = hint


class Signer(Protocol):
    """Whoever signs with one key."""

    @property
    def key(self) -> PublicKey:
        """The public key."""
        ...

    async def sign(self, message: bytes) -> str:
        """The armored signature of a message. Raises SigningFailed."""
        ...


class FileSigner:
    """Signs with an Ed25519 key file that has no passphrase."""

    def __init__(self, private: PrivateKey) -> None:
        self._private = private

    @property
    def key(self) -> PublicKey:
        """The public key."""
        return self._private.public

    async def sign(self, message: bytes) -> str:
        """The armored signature of a message."""
        return self._private.sign(message)


class OpenSSHSigner:
    """Signs by ``ssh-keygen``: with a key of ssh-agent, a hardware key, or one that has a passphrase."""

    def __init__(self, path: Path, key: PublicKey) -> None:
        self._path = path
        self._key = key

    @property
    def key(self) -> PublicKey:
        """The public key."""
        return self._key

    async def sign(self, message: bytes) -> str:
        """The armored signature of a message, once its owner has typed or touched what is asked for."""
        program = shutil.which("ssh-keygen")
        if program is None:
            raise SigningFailed("ssh-keygen is not installed", "install OpenSSH's client (openssh-client)")
        with tempfile.TemporaryDirectory() as folder:
            statement = Path(folder) / "statement"
            await asyncio.to_thread(statement.write_bytes, message)
            process = await asyncio.create_subprocess_exec(
                program, "-q", "-Y", "sign", "-f", str(self._path), "-n", NAMESPACE, str(statement)
            )
            if await process.wait() != 0:
                raise SigningFailed(
                    f"ssh-keygen did not sign with {self._path}",
                    "is the key in ssh-agent (`ssh-add -L`), or the hardware key plugged in?",
                )
            signature = await asyncio.to_thread(Path(f"{statement}.sig").read_text)
        try:
            if verify(message, signature).blob != self._key.blob:
                raise SigningFailed(f"ssh-keygen signed with another key than {self._path}")
        except BadSignature as why:
            raise SigningFailed(f"what ssh-keygen signed does not verify: {why}") from None
        return signature


def signer_at(path: Path) -> Signer:
    """Whoever signs with the key of this file: a private key, or the public one of a key that ssh-agent or a
    piece of hardware holds. Raises SigningFailed.
    """
    try:
        data = path_named(path).read_bytes()
        found = path_named(path).stat()
    except OSError as why:
        raise SigningFailed(
            f"the key {path} cannot be read: {why.strerror}", "`edgeshift keys make` makes one"
        ) from None
    if b"PRIVATE KEY" in data[:100]:
        _check_others(path, found)
        try:
            return FileSigner(PrivateKey(data))
        except BadKey:
            return OpenSSHSigner(path.expanduser(), _public(path.expanduser().with_name(f"{path.name}.pub")))
    return OpenSSHSigner(path.expanduser(), _public(path.expanduser()))


def _check_others(path: Path, found: os.stat_result) -> None:
    """That nobody but its owner may read or write a private key; where that is root, and this process is not,
    its group may read it. Raises SigningFailed.
    """
    mode = stat.S_IMODE(found.st_mode)
    # A secret that Kubernetes or systemd mounts stays root's, and this process reads it by the file's group.
    of_root = found.st_uid == 0 and os.geteuid() != 0
    if not mode & (stat.S_IWGRP | stat.S_IRWXO if of_root else stat.S_IRWXG | stat.S_IRWXO):
        return
    may = "write" if mode & (stat.S_IWGRP | stat.S_IWOTH) else "read"
    raise SigningFailed(
        f"others may {may} the key {path} (mode {mode:o})",
        f"chmod 440 {path}; where it is a mounted secret, its volume gives the mode (defaultMode: 0440)"
        if of_root
        else f"chmod 600 {path}",
    )


def _public(path: Path) -> PublicKey:
    try:
        words = path.read_text().split()
        return PublicKey.parsed(words[0], words[1])
    except (OSError, UnicodeDecodeError, IndexError):
        raise SigningFailed(f"there is no public key in {path}") from None
    except BadKey as why:
        raise SigningFailed(f"{path}: it has {why}") from None
