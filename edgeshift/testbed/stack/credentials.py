"""A stack's credentials: files that hold the secrets, references to them, and a campaign file that uses
them.
"""

from __future__ import annotations

import json
from pathlib import Path
from urllib.parse import quote

from edgeshift.campaign_file.spec import CredentialSpec
from edgeshift.model.fleet import DEFAULT_AREA, Area, has_to_be_named, named_for
from edgeshift.testbed.simulator.fleet_file import Credential, Fleet
from edgeshift.testbed.stack.parts import STACK
from edgeshift.testbed.stack.paths import StackError, StackPaths, put

_NEEDED = ("account:read", "zone:read", "waf:edit", "firewall:read", "page_rules:read", "zone_settings:read")


def credential_file(places: StackPaths, label: str) -> Path:
    """Where the secret of a credential lies."""
    return places.credentials / quote(label, safe="@+ ")


def keep_credentials(places: StackPaths, fleet: Fleet) -> None:
    """A file a credential, for this user alone, so that a campaign file can refer to it."""
    for credential in fleet.credentials:
        put(credential_file(places, credential.label), credential.value)


def credential_specs(places: StackPaths, fleet: Fleet) -> tuple[CredentialSpec, ...]:
    """One credential for each account of the fleet, by reference. Raises StackError where an account has
    none.
    """
    emails = {user.id: user.email for user in fleet.users}
    accounts_of: dict[str, list[str]] = {}
    by_label = {credential.label: credential for credential in fleet.credentials}
    for account in fleet.accounts:
        able = (one for one in fleet.credentials if _serves(one, account.id))
        # The narrowest comes first, since it says whose rate limit is meant; equals share the accounts out.
        chosen = min(
            able, key=lambda one: (_breadth(one, fleet), len(accounts_of.get(one.label, ()))), default=None
        )
        if chosen is None:
            raise StackError(f"no credential of the fleet can migrate the zones of account {account.name}")
        accounts_of.setdefault(chosen.label, []).append(account.id)
    specs = []
    for label, accounts in accounts_of.items():
        credential = by_label[label]
        reference, email = f"file:{credential_file(places, label)}", emails[credential.user]
        secret = {"token": reference} if credential.kind == "token" else {"key": reference, "email": email}
        specs.append(CredentialSpec.model_validate({"user": email, "accounts": tuple(accounts), **secret}))
    return tuple(specs)


def _serves(credential: Credential, account: str) -> bool:
    return (
        credential.status == "active"
        and credential.zones == "all"
        and (credential.accounts == "all" or account in credential.accounts)
        and all(credential.allows(permission) for permission in _NEEDED)
    )


def _breadth(credential: Credential, fleet: Fleet) -> int:
    return len(fleet.accounts) if credential.accounts == "all" else len(credential.accounts)


def campaign_text(
    places: StackPaths,
    fleet: Fleet,
    base_url: str,
    time_scale: float,
    area: Area = DEFAULT_AREA,
    edge: str = "",
) -> str:
    """A campaign file of one area for all zones of the folder. JSON's scalars and lists are YAML too."""
    part = STACK.of(area)
    lines = [
        "# Made by `edgeshift up` for the simulated service of this folder; change it as you like.",
        "# `edgeshift init` writes one in which every option is explained.",
        f"name: {named_for(area, 'rehearsal')}",
        *([f"area: {area.value}"] if has_to_be_named(area) else []),
        *part.section(places, edge),
        "targets:",
        "  all: true",
        "service:",
        f"  base_url: {json.dumps(base_url)}",
        "  credentials:",
    ]
    for spec in credential_specs(places, fleet):
        first, *rest = spec.model_dump(mode="json", exclude_none=True).items()
        lines.append(f"    - {first[0]}: {json.dumps(first[1])}")
        lines += [f"      {name}: {json.dumps(value)}" for name, value in rest]
    lines += ["tickets:", f"  folder: {json.dumps(str(places.tickets))}", f"time_scale: {time_scale:g}"]
    return "\n".join([*lines, *part.rehearsal()]) + "\n"
