"""What a person's or a worker's key file has to be before anything is signed with it."""

from __future__ import annotations

import asyncio
import os
import subprocess
from pathlib import Path

import pytest

from edgeshift.authority.signing import SigningFailed, signer_at
from edgeshift.authority.sshsig import PrivateKey
from tests.kit.openssh import Keypair


def test_a_key_that_others_may_read_signs_nothing(tmp_path: Path) -> None:
    """Whoever read it could have signed, too. The hint says what to do."""
    path = tmp_path / "key"
    path.write_text(PrivateKey.made().text)
    for mode in (0o644, 0o640, 0o604):
        path.chmod(mode)
        with pytest.raises(SigningFailed, match="others may read the key") as found:
            signer_at(path)
        assert found.value.hint == f"chmod 600 {path}"
    path.chmod(0o600)
    assert signer_at(path).key.kind == "ssh-ed25519"


@pytest.mark.parametrize(
    ("owner", "mode", "taken"),
    [(0, 0o440, True), (0, 0o640, True), (0, 0o444, False), (0, 0o460, False), (4_242, 0o440, False)],
)
def test_a_key_of_root_s_may_be_read_by_the_group_that_has_it_mounted(
    owner: int, mode: int, taken: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As Kubernetes mounts a secret, and systemd a credential: whoever runs the worker reads it as one of the
    group, and cannot change its mode: the hint says where it is given. Nobody else may read it, and the group
    not write it.
    """
    path, real = tmp_path / "key", Path.stat
    path.write_text(PrivateKey.made().text)
    path.chmod(mode)

    def stat(self: Path, *, follow_symlinks: bool = True) -> os.stat_result:
        found = real(self, follow_symlinks=follow_symlinks)
        return os.stat_result((*found[:4], owner, *found[5:10]))

    monkeypatch.setattr(Path, "stat", stat)
    monkeypatch.setattr(os, "geteuid", lambda: 10_001)
    if taken:
        assert signer_at(path).key.kind == "ssh-ed25519"
        return
    with pytest.raises(SigningFailed, match=rf"others may .* the key .*\(mode {mode:o}\)") as found:
        signer_at(path)
    assert ("chmod 600" in found.value.hint, "defaultMode: 0440" in found.value.hint) == (
        owner != 0,
        owner == 0,
    )


def test_keys_with_another_kind_or_a_passphrase_sign_by_openssh(tmp_path: Path) -> None:
    """The public key beside the private one says which it is."""
    key = Keypair(tmp_path, "ecdsa-256")
    with pytest.raises(SigningFailed, match="no public key in"):
        signer_at(key.path)
    key.path.with_name("ecdsa-256.pub").write_text(key.public.line + "\n")
    signer = signer_at(key.path)
    assert signer.key == key.public
    assert "BEGIN SSH SIGNATURE" in asyncio.run(signer.sign(b"message"))
    subprocess.run(["ssh-keygen", "-q", "-p", "-f", key.path, "-N", "secret"], check=True)
    assert signer_at(key.path).key == key.public
