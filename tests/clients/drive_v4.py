"""Drives cloudflare-python 4 and 5 through all that the simulator serves (`python -m`, with the client's
folder on PYTHONPATH)."""

from __future__ import annotations

from typing import Any

import cloudflare

from tests.clients.course import (
    BUCKET,
    EVENTS,
    EXPRESSION,
    LOG_RULE,
    PAGE_TARGET,
    POSTED,
    Course,
    Place,
)

PHASE = "http_log_custom_fields"
NEWEST = cloudflare.__version__.startswith("5.")


def has(value: Any, name: str) -> Any:
    """A part of a model of the client's, or of the plain object that version 5 has for a ruleset."""
    return value.get(name) if isinstance(value, dict) else getattr(value, name, "")


def zones(client: Any, at: Place, step: Course) -> None:
    """Who calls, what there is, and the settings that are on or off."""
    step("user", lambda: client.user.get())
    step("token", lambda: client.user.tokens.verify())
    step("accounts", lambda: list(client.accounts.list()))
    step("account", lambda: client.accounts.get(account_id=at.account))
    step("zones", lambda: [one.name for one in client.zones.list(per_page=5, order="name")])
    step("zone", lambda: client.zones.get(zone_id=at.zone))
    step("settings", lambda: client.get(f"/zones/{at.zone}/settings", cast_to=object))
    step(
        "setting edited", lambda: client.zones.settings.edit("always_use_https", zone_id=at.zone, value="on")
    )
    step("setting", lambda: client.zones.settings.get("always_use_https", zone_id=at.zone))
    step("setting waf edited", lambda: client.zones.settings.edit("waf", zone_id=at.zone, value="on"))
    step("setting waf", lambda: client.zones.settings.get("waf", zone_id=at.zone))
    query = {"query": EVENTS % at.zone}
    step("events", lambda: client.post("/graphql", body=query, cast_to=object))


def rulesets(client: Any, at: Place, step: Course) -> None:
    """A ruleset from its making to its end, by itself, by its phase and by single rules."""
    of, by_phase = client.rulesets, client.rulesets.phases
    made = step(
        "ruleset made", lambda: of.create(zone_id=at.zone, kind="zone", name="fields", phase=PHASE, rules=[])
    )
    one = {"zone_id": at.zone, "ruleset_id": has(made, "id")}
    step("ruleset filled", lambda: of.update(**one, rules=[{**LOG_RULE, "ref": "mine"}]))
    step("phase", lambda: by_phase.get(PHASE, zone_id=at.zone))
    step("phase filled", lambda: by_phase.update(PHASE, zone_id=at.zone, name="x", rules=[LOG_RULE]))
    added = step("ruleset rule made", lambda: of.rules.create(**one, **LOG_RULE, position={"index": 1}))
    rules = has(added, "rules") or [None]
    rule = {"rule_id": has(rules[0], "id"), **one}
    step("ruleset rule edited", lambda: of.rules.edit(**rule, **LOG_RULE, enabled=False))
    step("ruleset rule gone", lambda: of.rules.delete(**rule))
    step("rulesets", lambda: [has(each, "phase") for each in of.list(zone_id=at.zone)])
    step("ruleset", lambda: of.get(**one))
    step("ruleset versions", lambda: [each.version for each in of.versions.list(**one)])
    step("ruleset version", lambda: of.versions.get("2", **one))
    step("ruleset version gone", lambda: of.versions.delete("2", **one))
    step("phase versions", lambda: [each.version for each in by_phase.versions.list(PHASE, zone_id=at.zone)])
    step("phase version", lambda: by_phase.versions.get("1", ruleset_phase=PHASE, zone_id=at.zone))
    step("ruleset gone", lambda: of.delete(**one))


def logs(client: Any, at: Place, step: Course) -> None:
    """Log jobs from the proof of their destination to their end."""
    push, zone = client.logpush, {"zone_id": at.zone}
    asked = step("ownership", lambda: push.ownership.create(destination_conf=BUCKET, **zone))
    proof = {"destination_conf": BUCKET, "ownership_challenge": at.challenge(asked.filename) if asked else ""}
    step("ownership valid", lambda: push.ownership.validate(**proof, **zone))
    step("destination valid", lambda: push.validate.destination(destination_conf=BUCKET, **zone))
    step("destination new", lambda: push.validate.destination_exists(destination_conf=BUCKET, **zone))
    step("origin valid", lambda: push.validate.origin(logpull_options="fields=RayID", **zone))
    options = {"field_names": ["RayID", "Cookies"], "timestamp_format": "rfc3339", "sample_rate": 1}
    job = step(
        "job made",
        lambda: push.jobs.create(
            **proof, **zone, dataset="http_requests", name="mine", frequency=None, output_options=options
        ),
    )
    one = {"job_id": job.id if job else 0, **zone}
    whole = job.model_dump(mode="json", by_alias=True) if job else {}
    step("job sent back", lambda: push.jobs.update(**one, extra_body={**whole, "enabled": True}))
    step("job", lambda: push.jobs.get(**one))
    other = step(
        "second job made", lambda: push.jobs.create(destination_conf=POSTED, dataset="dns_logs", **zone)
    )
    step("jobs", lambda: [each.dataset for each in push.jobs.list(**zone)])
    step("dataset jobs", lambda: [each.dataset for each in push.datasets.jobs.get("dns_logs", **zone)])
    step("dataset fields", lambda: push.datasets.fields.get("http_requests", **zone))
    step("destination there", lambda: push.validate.destination_exists(destination_conf=BUCKET, **zone))
    step("job gone", lambda: push.jobs.delete(**one))
    step("second job gone", lambda: push.jobs.delete(other.id, **zone))
    step("jobs left", lambda: len(list(push.jobs.list(**zone))))


def firewall(client: Any, at: Place, step: Course) -> None:
    """Filters, and the firewall rules that refer to them."""
    zone = {"zone_id": at.zone}
    rules, filters = client.firewall.rules, client.filters
    sent: Any = {"expression": EXPRESSION}
    new = {"body": [sent]} if NEWEST else sent
    made = step("filters made", lambda: list(filters.create(**new, **zone)))
    filter_id = made[0].id if made else ""
    body = {"expression": "ssl", "description": "d", "paused": False}
    changed: Any = body if NEWEST else {"body": body}
    step("filter changed", lambda: filters.update(filter_id, **changed, **zone))
    step("filter", lambda: filters.get(filter_id, **zone))
    made = step("rules made", lambda: list(rules.create(action="block", filter={"id": filter_id}, **zone)))
    rule_id = made[0].id if made else ""
    step("rule", lambda: rules.get(rule_id, **zone))
    by_bypass = {"action": "bypass", "products": ["waf"], "filter": {"id": filter_id}}
    step("rule changed", lambda: rules.update(rule_id, **zone, action="log", filter={"id": filter_id}))
    step("rule edited", lambda: list(rules.edit(rule_id, **zone, extra_body={"paused": True})))
    many: Any = {"id": rule_id} if NEWEST else {"body": [{"id": rule_id, **by_bypass}]}
    edit: Any = {"id": rule_id} if NEWEST else {"body": [{"id": rule_id, "description": "many"}]}
    more: Any = {"extra_body": by_bypass} if NEWEST else {}
    step("rules changed", lambda: list(rules.bulk_update(**zone, **many, **more)))
    step(
        "rules edited",
        lambda: list(rules.bulk_edit(**zone, **edit, extra_body={"description": "many"} if NEWEST else None)),
    )
    step("rules", lambda: list(rules.list(**zone)))
    step("rule gone", lambda: rules.delete(rule_id, **zone))
    step("filters", lambda: [one.id == filter_id for one in filters.list(**zone)])
    step("filter gone", lambda: filters.delete(filter_id, **zone))
    again = step("more rules made", lambda: list(rules.create(action="block", filter=sent, **zone)))
    ids = [one.id for one in again or ()]
    step("rules gone", lambda: list(rules.bulk_delete(**zone, extra_query={"id": ids})))
    left = step("filters left", lambda: list(filters.list(**zone)))
    body_of: Any = {"body": [{"id": one.id, "expression": "ssl"} for one in left or ()]}
    if NEWEST:
        step("filters changed", lambda: list(filters.bulk_update(**body_of, **zone)))
        step("filters gone", lambda: filters.bulk_delete(id=[one.id for one in left], **zone))
    else:
        put = lambda: client.put(f"/zones/{at.zone}/filters", body=body_of["body"], cast_to=object)  # noqa: E731
        step("filters changed", put)
        ids_left = {"id": [one.id for one in left or ()]}
        step("filters gone", lambda: list(filters.bulk_delete(**zone, extra_query=ids_left)))


def page_rules(client: Any, at: Place, step: Course) -> None:
    """A page rule from its making to its end."""
    pages, zone = client.page_rules, {"zone_id": at.zone}
    sent: Any = {"targets": [PAGE_TARGET], "actions": [{"id": "waf", "value": "off"}]}
    made = step("page rule made", lambda: pages.create(**sent, **zone, priority=2, status="active"))
    one = {"pagerule_id": made.id if made else "", **zone}
    step("page rule changed", lambda: pages.update(**one, **sent, status="disabled"))
    step("page rule edited", lambda: pages.edit(**one, status="active"))
    step("page rule", lambda: pages.get(**one))
    step("page rules", lambda: pages.list(**zone))
    step("page rule gone", lambda: pages.delete(**one))


def previous_waf(client: Any, at: Place, step: Course) -> None:
    """Packages, groups, rules and overrides of the previous WAF."""
    waf, zone = client.firewall.waf, {"zone_id": at.zone}
    found = step("packages", lambda: list(waf.packages.list(**zone)))
    ids = [one["id"] for one in sorted(found or (), key=lambda one: one["detection_mode"])]
    anomaly, package = ids if ids else ("", "")
    step("package", lambda: waf.packages.get(anomaly, **zone))
    path = f"/zones/{at.zone}/firewall/waf/packages/{anomaly}"
    step("package edited", lambda: client.patch(path, body={"sensitivity": "low"}, cast_to=object))
    inside = {"package_id": package, **zone}
    groups = step("groups", lambda: list(waf.packages.groups.list(**inside)))
    group = groups[0].id if groups else ""
    step("group edited", lambda: waf.packages.groups.edit(group, **inside, mode="off"))
    step("group", lambda: waf.packages.groups.get(group, **inside))
    rules = step("waf rules", lambda: list(waf.packages.rules.list(**inside, per_page=100)))
    rule = rules[0].id if rules else ""
    step("waf rule edited", lambda: waf.packages.rules.edit(rule, **inside, mode="simulate"))
    step("waf rule", lambda: waf.packages.rules.get(rule, **inside))
    overrides, urls = waf.overrides, ["shop.example/*"]
    url = f"/zones/{at.zone}/firewall/waf/overrides"
    nulls = {"groups": None, "rewrite_action": None, "rules": None}
    step(
        "override made",
        lambda: overrides.create(urls=urls, **zone, extra_body={"rules": {"100008": "block"}}),
    )
    # The newest client throws the answers of these calls away: what there is, is read by its plain GET.
    shown = step("overrides", lambda: client.get(url, cast_to=object))
    override = shown["result"][0]["id"] if shown else ""
    changed = {"id": override, "urls": urls, "rewrite_action": None, "rules": None}
    step("override changed", lambda: overrides.update(override, **changed, **zone, extra_body=nulls))
    step("override", lambda: client.get(f"{url}/{override}", cast_to=object))
    step("override read", lambda: overrides.get(override, **zone))
    step("overrides read", lambda: list(overrides.list(**zone) or ()))
    step("override gone", lambda: overrides.delete(override, **zone))


def main() -> None:
    """All of it, with the report at the end."""
    at, step = Place.given(), Course()
    client = cloudflare.Cloudflare(api_token=at.token, base_url=at.base_url, max_retries=0)
    for part in (zones, rulesets, logs, firewall, page_rules, previous_waf):
        part(client, at, step)
    step.report()


if __name__ == "__main__":
    main()
