"""The targets of a campaign of the area esc: zones, or accounts that stand for all their zones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from urllib.parse import urlsplit

from temporalio.exceptions import ApplicationError

from activities.naming import some_of
from edgeshift.areas.esc.terms import EscSpec
from edgeshift.campaign_file.spec import CampaignSpec
from edgeshift.model.counts import agreed, counted
from edgeshift.model.fleet import Plan, ScopeKind, Zone


def as_accounts(
    spec: CampaignSpec, chosen: Sequence[Zone], zones: Sequence[Zone], names: Mapping[str, str]
) -> list[Zone]:
    """The accounts of the chosen zones, each for all its zones. Raises BadInput where one has zones that the
    campaign does not name, or more than its window.
    """
    named = {zone.id for zone in chosen}
    found = []
    for account in dict.fromkeys(zone.account for zone in chosen):
        name = names.get(account) or account
        inside = [zone for zone in zones if zone.account == account]
        others = [zone.name for zone in inside if zone.id not in named]
        if others:
            shown = some_of(others)
            raise ApplicationError(
                f"esc.scope is account, which covers every zone of account {name}, but the targets leave out"
                f" {len(others)} of them: {shown}; name the account under targets.accounts, or use esc.scope:"
                " zone",
                type="BadInput",
                non_retryable=True,
            )
        if len(inside) > spec.largest_window:
            raise ApplicationError(
                f"account {name} covers {len(inside)} zones, which all count while it is worked on, but"
                f" window is {spec.largest_window}; raise window, or use esc.scope: zone",
                type="BadInput",
                non_retryable=True,
            )
        found.append(
            Zone(
                id=account,
                name=name,
                account=account,
                plan=Plan.OTHER,
                kind=ScopeKind.ACCOUNT,
                covers=len(inside),
            )
        )
    return found


def refuse_foreign_urls(spec: CampaignSpec, chosen: Sequence[Zone]) -> None:
    """Raises BadInput where a URL is to be probed whose host is in no target's zone, naming it."""
    names = {zone.name for zone in chosen}

    def is_inside(host: str) -> bool:
        labels = host.split(".")
        return any(".".join(labels[first:]) in names for first in range(len(labels)))

    urls = [url for url in spec.section(EscSpec).probe.urls if not url.startswith("/")]
    if foreign := [url for url in urls if not is_inside(urlsplit(url).hostname or "")]:
        shown = some_of(foreign)
        raise ApplicationError(
            f"esc.probe.urls names {counted(len(foreign), 'URL')} of hosts that belong to no target,"
            f" so that nobody would ask for {agreed(len(foreign), 'it', 'them')}: {shown}",
            type="BadInput",
            non_retryable=True,
        )
