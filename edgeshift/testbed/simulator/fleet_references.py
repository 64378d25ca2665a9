"""What holds between the parts of a fleet: no id or name twice, and every reference names what is there."""

from collections.abc import Callable, Iterable
from difflib import get_close_matches

from edgeshift.testbed.simulator.fleet_logs import ZoneLogs
from edgeshift.testbed.simulator.fleet_models import FleetParts, PreviousWaf, Where, derived_id
from edgeshift.testbed.simulator.previous_waf import unknown_parts
from edgeshift.testbed.simulator.zone_filters import filter_of

Problem = tuple[Where, str]


def resolve(fleet: FleetParts) -> list[Problem]:
    """Derive what was left out and turn names into ids, in place; returns what does not fit (place, text)."""
    problems: list[Problem] = []
    for name in ("users", "credentials", "accounts"):
        if not getattr(fleet, name):
            problems.append(((name,), "must not be empty; leave the key out to have one made"))
    if problems:
        return problems

    for user in fleet.users:
        user.id = user.id or derived_id("user", user.email)
    for account in fleet.accounts:
        account.id = account.id or derived_id("account", account.name)

    twice = _Duplicates(problems)
    twice.look("users", "email", ((user.email.lower(), user.email) for user in fleet.users))
    twice.look("users", "id", ((user.id, user.id) for user in fleet.users))
    twice.look("accounts", "name", ((account.name, account.name) for account in fleet.accounts))
    twice.look("accounts", "id", ((account.id, account.id) for account in fleet.accounts))
    twice.look("credentials", "label", ((item.label, item.label) for item in fleet.credentials))
    # The value is a secret: the text names the other credential, never the value.
    twice.look(
        "credentials", "value", ((item.value, f"the value of {item.label}") for item in fleet.credentials)
    )
    twice.look("zones", "name", ((zone.name, zone.name) for zone in fleet.zones))
    if not problems:  # equal names give equal derived ids, which need no second text
        twice.look("zones", "id", ((zone.id, zone.id) for zone in fleet.zones))
    for number, zone in enumerate(fleet.zones):
        parts: tuple[tuple[str, list[str]], ...] = (
            ("firewall_rules", [rule.id for rule in zone.firewall_rules]),
            ("filters", [filtered.id for filtered in zone.filters]),
            ("uri_overrides", [override.id for override in zone.uri_overrides]),
            ("page_rules", [rule.id for rule in zone.page_rules]),
        )
        for part, ids in parts:
            if len(ids) > 1:
                twice.look(part, "id", ((one, one) for one in ids), within=("zones", number))

        for place, rule in enumerate(zone.firewall_rules):
            if zone.filters and filter_of(zone, rule).expression != rule.expression:
                text = "its filter is in the zone's filters, with another expression"
                problems.append((("zones", number, "firewall_rules", place, "expression"), text))

    user_of = _finder("user", [(user.email, user.id) for user in fleet.users], problems)
    account_of = _finder("account", [(account.name, account.id) for account in fleet.accounts], problems)
    zone_of = _finder("zone", [(zone.name, zone.id) for zone in fleet.zones], problems)
    for number, credential in enumerate(fleet.credentials):
        where: Where = ("credentials", number)
        credential.user = user_of(credential.user or fleet.users[0].id, (*where, "user"))
        if credential.accounts != "all":
            credential.accounts = [
                account_of(one, (*where, "accounts", i)) for i, one in enumerate(credential.accounts)
            ]
        if credential.zones != "all":
            credential.zones = [zone_of(one, (*where, "zones", i)) for i, one in enumerate(credential.zones)]
    untouched, no_logs = PreviousWaf(), ZoneLogs()
    first_account = fleet.accounts[0].id
    for number, zone in enumerate(fleet.zones):
        zone.account = account_of(zone.account or first_account, ("zones", number, "account"))
        if zone.migration.state == "validation" and zone.plan != "enterprise":
            text = f"only an enterprise zone can be in validation, and {zone.name} is {zone.plan}"
            problems.append((("zones", number, "migration", "state"), text))
        if zone.migration.state != "start" and zone.uri_overrides:
            text = f"{zone.name} is in {zone.migration.state}, where no URI override can be left"
            problems.append((("zones", number, "uri_overrides"), text))
        if zone.logs != no_logs and zone.plan != "enterprise":
            text = f"only an enterprise zone has log fields and log jobs, and {zone.name} is {zone.plan}"
            problems.append((("zones", number, "logs"), text))
        if zone.previous_waf != untouched:
            for ruleset, part, key, text in unknown_parts(zone):
                problems.append((("zones", number, "previous_waf", ruleset, part, key), text))
    return problems


class _Duplicates:
    """Finds a value that is there twice."""

    def __init__(self, problems: list[Problem]) -> None:
        self._problems = problems

    def look(self, part: str, field: str, values: Iterable[tuple[str, str]], within: Where = ()) -> None:
        """`values` are (what must differ, how it is shown)."""
        seen: dict[str, tuple[int, str]] = {}
        for number, (value, shown) in enumerate(values):
            first, first_shown = seen.setdefault(value, (number, shown))
            if first != number:
                text = f"{first_shown} is also that of {part}[{first}]; every {field} must be given once"
                self._problems.append(((*within, part, number, field), text))


def _finder(kind: str, named: list[tuple[str, str]], problems: list[Problem]) -> Callable[[str, Where], str]:
    """A function from a name or id to the id; it notes a problem when there is none."""
    ids = {name: one for name, one in named} | {one: one for _, one in named}

    def find(reference: str, where: Where) -> str:
        found = ids.get(reference)
        if found is None:
            near = get_close_matches(reference, [name for name, _ in named[:2000]], n=1)
            hint = f"did you mean {near[0]}?" if near else f"give the name or id of one listed under {kind}s"
            problems.append((where, f"there is no {kind} {reference!r}; {hint}"))
            return reference
        return found

    return find
