"""Reading a zone's ruleset of custom log fields, and its versions (docs/service.md §2.2, §4.2)."""

from __future__ import annotations

from activities.change.not_sent import NotSent
from activities.stable_read import twice
from edgeshift.areas import log_fields
from edgeshift.messages import ChangeStatus
from edgeshift.service_api import NotFound, ServiceClient
from edgeshift.service_api.models import Ruleset


async def find_ruleset(client: ServiceClient, zone_id: str) -> Ruleset | None:
    """The zone's ruleset of the phase with its rules, or None."""
    for listed in await client.rulesets(zone_id, urgent=True):
        if listed.kind == "zone" and listed.phase == log_fields.PHASE and listed.id:
            try:
                return await client.ruleset(zone_id, listed.id, urgent=True)
            except NotFound:
                return None
    return None


async def present_ruleset(client: ServiceClient, zone_id: str, *known: str) -> Ruleset | None:
    """The same; by its identifier, where it is ``known`` and there: the list may not have it yet."""
    for one in filter(None, known):
        try:
            found = await client.ruleset(zone_id, one, urgent=True)
        except NotFound:
            continue
        if found.kind == "zone" and found.phase == log_fields.PHASE:
            return found
    return await find_ruleset(client, zone_id)


async def agreed_ruleset(
    client: ServiceClient, zone_id: str, seen: Ruleset | None, *known: str
) -> Ruleset | None:
    """The same, read alike twice in a row: its rules are sent back as they are. ``seen``: the reading just
    before. ``known``: by which it may be found where that has none.
    """
    ids = known if seen is None else (str(seen.id),)
    return await twice(
        "rulesets.get",
        lambda: present_ruleset(client, zone_id, *ids),
        lambda found: found and (found.id, found.version, found.raw.get("rules")),
        first=seen,
    )


def version_of(ruleset: Ruleset) -> log_fields.Version:
    """A ruleset as a version. Raises NotSent where it cannot be read as one."""
    rules = ruleset.raw.get("rules") or []
    if odd := log_fields.unsound(rules):
        raise NotSent(odd, ChangeStatus.DRIFTED)
    if not str(ruleset.version).isdigit():
        raise NotSent(f"the ruleset's version is {str(ruleset.version)[:20]!r}, and not a number")
    return log_fields.Version(int(str(ruleset.version)), rules)


async def versions_since(
    client: ServiceClient, zone_id: str, ruleset_id: str, base: int, present: log_fields.Version
) -> list[log_fields.Version]:
    """Every version after ``base``, as far as it can be read."""
    found = [present] if present.number > base else []
    for number in range(base + 1, present.number):
        try:
            one = await client.ruleset_version(zone_id, ruleset_id, number, urgent=True)
        except NotFound:
            continue
        rules = one.raw.get("rules") or []
        if log_fields.unsound(rules) is None:
            found.append(log_fields.Version(number, rules))
    return found
