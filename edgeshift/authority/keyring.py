"""Keys and roots of a rehearsal: a folder with a key for everybody who takes part, so that what is rehearsed
is what production does. In production each person has a key of their own, and nobody else has it.
"""

from __future__ import annotations

import io
from pathlib import Path
from urllib.parse import quote

from ruamel.yaml import YAML

from edgeshift.authority.editing import NotAdded, RootsEditor, held, replace
from edgeshift.authority.roots import LOOPBACK, Role
from edgeshift.authority.signing import FileSigner, SigningFailed
from edgeshift.authority.sshsig import BadKey, PrivateKey

EVERYTHING = tuple(role for role in Role if role is not Role.WORKER)
"""What a person of a rehearsal may do."""

WORKER = "worker"
"""The name of a rehearsal's workers."""


class Keyring:
    """The folder: ``roots.yaml``, ``allowed_signers``, and ``keys/`` with one file a person."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.roots = folder / "roots.yaml"
        self.signers = folder / "allowed_signers"
        self.keys = folder / "keys"

    def make(self) -> None:
        """Make the folder and its roots, unless they are there: any service on this machine, signatures
        only.
        """
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.keys.mkdir(mode=0o700, exist_ok=True)
        with held(self.folder):
            if not self.signers.exists():
                replace(self.signers, "# One line a key: NAME KIND KEY\n")
            if not self.roots.exists():
                text = io.StringIO()
                YAML(typ="safe", pure=True).dump(_nobody(), text)
                replace(self.roots, text.getvalue())

    def worker(self) -> Path:
        """The key file of the workers, made where there is none. Raises SigningFailed, RootsError."""
        self.signer(WORKER, (Role.WORKER,))
        return self._path(WORKER)

    def key_of(self, name: str) -> Path:
        """The key file of a person, made where there is none. Raises SigningFailed, RootsError."""
        self.signer(name)
        return self._path(name)

    def _path(self, name: str) -> Path:
        return self.keys / quote(name, safe="@")

    def signer(self, name: str, roles: tuple[str, ...] = EVERYTHING) -> FileSigner:
        """Whoever signs for a person, whose key and place in the roots are made where there are none. Raises
        SigningFailed, RootsError.
        """
        path = self._path(name)
        if not path.exists():
            with held(self.keys):
                if not path.exists():
                    private = PrivateKey.made()
                    # Admitted first: one that is not might lie there for good, and sign nothing.
                    try:
                        RootsEditor(self.roots).add(name, private.public, roles)
                    except NotAdded as why:
                        raise SigningFailed(str(why), "name another person with --by") from None
                    replace(path, private.text)
        try:
            return FileSigner(PrivateKey(path.read_bytes()))
        except (OSError, BadKey) as why:
            raise SigningFailed(f"the key {path} cannot be used: {why}") from None


def _nobody() -> dict[str, object]:
    return {
        "signers": "allowed_signers",
        "services": [{"base_url": LOOPBACK, "credentials": ["*"], "webhooks": ["*"], "proxies": ["*"]}],
        "people": {},
    }
