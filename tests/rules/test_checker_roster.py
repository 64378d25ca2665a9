"""Whose keys count, as checkers read it from the workers' roots by themselves."""

from __future__ import annotations

import base64
from pathlib import Path

from ruamel.yaml import YAML

from edgeshift.authority.keyring import Keyring
from edgeshift.testbed.invariants.roots_file import load_roster


def test_a_rehearsals_people_are_read_with_their_keys_and_roles(tmp_path: Path) -> None:
    """Each key once, with what its owner may do; a worker's permits nothing."""
    ring = Keyring(tmp_path / "authority")
    ring.make()
    signers = {name: ring.signer(name) for name in ("ada@example.com", "grace")}
    ring.worker()
    roster = load_roster(ring.roots)
    found = {one.name: one for one in roster.keys}
    assert set(found) == {*signers, "worker"} and len(roster.keys) == 3
    for name, signer in signers.items():
        assert base64.b64decode(found[name].key) == signer.key.blob
        assert found[name].roles == {"starter", "approver", "operator"}
    assert found["worker"].roles == {"worker"}
    assert (roster.required, roster.four_eyes) == (1, False)


def test_the_least_policy_and_accounts_are_read_and_strangers_are_not(tmp_path: Path) -> None:
    """A key of somebody whom the roots do not name is nobody's."""
    ring = Keyring(tmp_path)
    ring.make()
    ring.signer("ada")
    roots = YAML(typ="safe", pure=True).load(ring.roots.read_text())
    roots["policy"] = {"required": 2, "four_eyes": True}
    roots["people"]["ada"]["accounts"] = ["a" * 32]
    with ring.roots.open("w") as file:
        YAML(typ="safe", pure=True).dump(roots, file)
    line = ring.signers.read_text().splitlines()[-1]
    ring.signers.write_text(f"{line}\n\nmallory {line.split(maxsplit=1)[1]}\n")
    roster = load_roster(ring.roots)
    assert (roster.required, roster.four_eyes) == (2, True)
    (ada,) = roster.keys
    assert (ada.name, ada.accounts) == ("ada", frozenset({"a" * 32}))
