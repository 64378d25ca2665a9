"""The ESC secret of one scope, read from the service for a person who tests by hand (docs/service.md §2.1).

It is the only place outside of the service's own calls where a secret is handed on: to a terminal, never to
a log, a file of edgeshift's or Temporal.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from pydantic import SecretStr

from activities.ways import Ways
from edgeshift.areas import esc
from edgeshift.campaign_file.spec import CampaignSpec
from edgeshift.model.zone_names import is_identifier, typed_zone
from edgeshift.operations.errors import BadInput, NotFound
from edgeshift.operations.zones import near_zone
from edgeshift.quota.by_hand import ByHand
from edgeshift.service_api import NotFound as NoSuchThing
from edgeshift.service_api import Refused, ServiceClient


@dataclass(frozen=True)
class ScopeSecret:
    """A scope's secret. ``kind``: ``zone`` or ``account``; ``always``: whether esc is off for all of it, so
    that the secret changes nothing.
    """

    kind: str
    id: str
    name: str
    secret: SecretStr = field(repr=False)
    whose: esc.Secret
    always: bool


async def scope_secret(spec: CampaignSpec, scope: str) -> ScopeSecret:
    """The secret of the zone or account that a person names, by the first credential of the file that reaches
    it, within the share of the rate limit that people keep. Raises BadInput where the name is that of
    several, NotFound where there is no such scope, or no secret; ServiceError, SecretRefError.
    """
    wanted = typed_zone(scope)
    # Whoever names a file on their own machine answers for it: no roots are asked.
    ways, calls = Ways(spec, lambda _: None), ByHand()
    for credential in spec.service.credentials:
        async with ways.client(ways.credential(credential), calls.pacer(credential, spec)) as client:
            found = await _scopes(client, wanted)
            if len(found) > 1:
                ids = ", ".join(f"{kind} {identifier}" for kind, identifier, _ in found[:5])
                raise BadInput(f"{scope!r} names {len(found)} scopes", f"name one by its identifier: {ids}")
            if found:
                return await _secret(client, *found[0])
    near = near_zone(wanted, [*spec.targets.include, *spec.targets.accounts])
    raise NotFound(
        f"no zone or account {scope!r} is known to the service, or not to the file's credentials",
        f"did you mean {near}?" if near else "name it as the service does, or by its 32-digit identifier",
    )


async def _scopes(client: ServiceClient, wanted: str) -> list[tuple[str, str, str]]:
    """Kind, identifier and name of every scope with this name or identifier."""
    found = []
    if is_identifier(wanted):
        try:
            zone = await client.zone(wanted)
            found.append(("zone", zone.id, zone.name))
        except (NoSuchThing, Refused):
            # It may be an account's identifier.
            pass
    else:
        found += [
            ("zone", zone.id, zone.name) async for zone in client.zones(name=wanted) if zone.name == wanted
        ]
    accounts = await client.accounts()
    found += [
        ("account", account.id, account.name or account.id)
        for account in accounts
        if wanted in (account.id, (account.name or "").lower())
    ]
    return found


async def _secret(client: ServiceClient, kind: str, identifier: str, name: str) -> ScopeSecret:
    setting = await client.esc(f"{kind}s/{identifier}")
    always = setting.always is True
    secret = setting.with_secret
    if secret is None or not secret.get_secret_value():
        if always:
            # It may show one of the two alone (docs/service.md §2.1).
            shows = f"the service shows no secret of {kind} {name} while esc is off for all its requests"
            raise NotFound(shows, "it may have one all the same")
        raise NotFound(f"{kind} {name} has no secret", "a campaign sets one before it probes")
    whose = esc.whose(secret.get_secret_value())
    return ScopeSecret(kind=kind, id=identifier, name=name, secret=secret, whose=whose, always=always)
