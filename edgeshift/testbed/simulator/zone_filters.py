"""The filters of a zone: those that stand by themselves, and those of its firewall rules (docs/service.md
§4.3).

Every firewall rule has a filter, whose expression the rule repeats. A filter that stands by itself, or of
which more is said than its expression, is in the zone's list too.
"""

from edgeshift.testbed.simulator.fleet_models import FirewallFilter, FirewallRule, FleetZone


def filters_of(zone: FleetZone) -> dict[str, FirewallFilter]:
    """Every filter of the zone by its id: the listed ones first, then those that only a rule has."""
    found = {one.id: one for one in zone.filters}
    for rule in zone.firewall_rules:
        found.setdefault(rule.filter_id, FirewallFilter(id=rule.filter_id, expression=rule.expression))
    return found


def filter_of(zone: FleetZone, rule: FirewallRule) -> FirewallFilter:
    """The filter of a rule, which need not be in the zone."""
    found = next((one for one in zone.filters if one.id == rule.filter_id), None)
    return found or FirewallFilter(id=rule.filter_id, expression=rule.expression)


def keep_filter(zone: FleetZone, changed: FirewallFilter) -> None:
    """Keep a new or changed filter; the rules that use it take its expression over."""
    rules = rules_with(zone, changed.id)
    for rule in rules:
        rule.expression = changed.expression
    places = [place for place, one in enumerate(zone.filters) if one.id == changed.id]
    if places:
        zone.filters[places[0]] = changed
    elif not rules or changed != FirewallFilter(id=changed.id, expression=changed.expression):
        zone.filters.append(changed)


def rules_with(zone: FleetZone, filter_id: str) -> list[FirewallRule]:
    """The rules that use a filter."""
    return [rule for rule in zone.firewall_rules if rule.filter_id == filter_id]


def remove_rule(zone: FleetZone, rule: FirewallRule, *, with_filter: bool) -> None:
    """Take a rule out. Its filter stays, unless it is to go as well and no other rule uses it."""
    left = filter_of(zone, rule)
    zone.firewall_rules.remove(rule)
    if with_filter and not rules_with(zone, left.id):
        zone.filters = [one for one in zone.filters if one.id != left.id]
    else:
        keep_filter(zone, left)
