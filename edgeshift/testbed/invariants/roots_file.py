"""Whose keys count, as the workers' roots file has it; read here by itself, not by what the workers use."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

from edgeshift.testbed.invariants.keys import KeyHeld, Roster


def load_roster(path: Path) -> Roster:
    """The people of a roots file (YAML: ``signers``, ``policy``, ``people``), each with the keys that
    ``signers``, an ``allowed_signers`` file, has of them: one a line, as ``NAME ssh-ed25519 KEY``.
    """
    roots: dict[str, Any] = YAML(typ="safe", pure=True).load(path.read_text())
    people: dict[str, dict[str, Any]] = roots.get("people") or {}
    keys = []
    for line in (path.parent / roots["signers"]).read_text().splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        name, kind, key = line.split()[:3]
        if kind == "ssh-ed25519" and (person := people.get(name)):
            keys.append(
                KeyHeld(
                    name=name,
                    key=key,
                    roles=frozenset(person["roles"]),
                    accounts=frozenset(person.get("accounts") or ()),
                )
            )
    policy = roots.get("policy") or {}
    return Roster(
        keys=tuple(keys), required=policy.get("required", 1), four_eyes=policy.get("four_eyes", False)
    )
