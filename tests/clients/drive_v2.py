"""Drives cloudflare-python 2, which has a path for a method (`python -m`, with the client's folder on
PYTHONPATH)."""

from __future__ import annotations

from typing import Any

import CloudFlare

from tests.clients.course import BUCKET, EVENTS, EXPRESSION, LOG_RULE, PAGE_TARGET, Course, Place

PHASE = "http_log_custom_fields"


def zones(client: Any, at: Place, step: Course) -> None:
    """Who calls, what there is, and the settings that are on or off."""
    step("user", lambda: client.user.get())
    step("token", lambda: client.user.tokens.verify.get())
    step("accounts", lambda: client.accounts.get())
    step("zones", lambda: [one["name"] for one in client.zones.get(params={"per_page": 50})])
    step("zone", lambda: client.zones.get(at.zone))
    settings = client.zones.settings
    step("settings", lambda: settings.get(at.zone))
    items = [{"id": "always_online", "value": "on"}]
    step("settings edited", lambda: settings.patch(at.zone, data={"items": items}))
    step("setting edited", lambda: settings.always_use_https.patch(at.zone, data={"value": "on"}))
    step("setting", lambda: settings.always_use_https.get(at.zone))
    step("setting waf edited", lambda: settings.waf.patch(at.zone, data={"value": "on"}))
    step("setting waf", lambda: settings.waf.get(at.zone))
    step("events", lambda: client.graphql.post(data={"query": EVENTS % at.zone}))


def rulesets(client: Any, at: Place, step: Course) -> None:
    """A ruleset from its making to its end."""
    rules = client.zones.rulesets
    body = {"kind": "zone", "name": "fields", "phase": PHASE, "rules": None}
    made = step("ruleset made", lambda: rules.post(at.zone, data=body))
    one = made["id"] if made else ""
    step("ruleset filled", lambda: rules.put(at.zone, one, data={"rules": [{**LOG_RULE, "ref": "mine"}]}))
    step("ruleset", lambda: rules.get(at.zone, one))
    step("rulesets", lambda: [each["phase"] for each in rules.get(at.zone)])
    step("ruleset gone", lambda: rules.delete(at.zone, one))


def logs(client: Any, at: Place, step: Course) -> None:
    """Log jobs from the proof of their destination to their end."""
    push = client.zones.logpush
    destination = {"destination_conf": BUCKET}
    asked = step("ownership", lambda: push.ownership.post(at.zone, data=destination))
    proof = {**destination, "ownership_challenge": at.challenge(asked["filename"]) if asked else ""}
    step("ownership valid", lambda: push.ownership.validate.post(at.zone, data=proof))
    step("destination new", lambda: push.validate.destination.exists.post(at.zone, data=destination))
    step("origin valid", lambda: push.validate.origin.post(at.zone, data={"logpull_options": "fields=RayID"}))
    options = {"field_names": ["RayID", "Cookies"], "timestamp_format": "rfc3339", "sample_rate": 1}
    body = {**proof, "dataset": "http_requests", "name": "mine", "output_options": options}
    job = step("job made", lambda: push.jobs.post(at.zone, data=body))
    one = job["id"] if job else 0
    step("job sent back", lambda: push.jobs.put(at.zone, one, data={**(job or {}), "enabled": True}))
    step("job", lambda: push.jobs.get(at.zone, one))
    step("jobs", lambda: [each["dataset"] for each in push.jobs.get(at.zone)])
    step("dataset jobs", lambda: push.datasets.jobs.get(at.zone, "dns_logs"))
    step("dataset fields", lambda: push.datasets.fields.get(at.zone, "http_requests"))
    step("destination there", lambda: push.validate.destination.exists.post(at.zone, data=destination))
    step("job gone", lambda: push.jobs.delete(at.zone, one))
    step("jobs left", lambda: len(push.jobs.get(at.zone)))


def firewall(client: Any, at: Place, step: Course) -> None:
    """Filters, and the firewall rules that refer to them."""
    rules, filters = client.zones.firewall.rules, client.zones.filters
    made = step("filters made", lambda: filters.post(at.zone, data=[{"expression": EXPRESSION}]))
    filtered = made[0]["id"] if made else ""
    step("expression valid", lambda: filters.validate_expr.post(at.zone, data={"expression": "ssl"}))
    body = {"id": filtered, "expression": "ssl", "description": "d", "paused": False}
    step("filter changed", lambda: filters.put(at.zone, filtered, data=body))
    step("filters changed", lambda: filters.put(at.zone, data=[body]))
    step("filter", lambda: filters.get(at.zone, filtered))
    sent = {"action": "block", "filter": {"id": filtered}}
    made = step("rules made", lambda: rules.post(at.zone, data=[sent]))
    one = made[0] if made else {"id": ""}
    step("rule", lambda: rules.get(at.zone, one["id"]))
    step("rule changed", lambda: rules.put(at.zone, one["id"], data={**one, "action": "log"}))
    step("rule edited", lambda: rules.patch(at.zone, one["id"], data={"paused": True}))
    step("rules changed", lambda: rules.put(at.zone, data=[{**one, "action": "bypass", "products": ["waf"]}]))
    step("rules edited", lambda: rules.patch(at.zone, data=[{"id": one["id"], "description": "many"}]))
    step("rules", lambda: rules.get(at.zone))
    step("rule gone", lambda: rules.delete(at.zone, one["id"]))
    step("filters", lambda: [each["id"] == filtered for each in filters.get(at.zone)])
    step("filter gone", lambda: filters.delete(at.zone, filtered))


def page_rules(client: Any, at: Place, step: Course) -> None:
    """A page rule from its making to its end."""
    pages = client.zones.pagerules
    sent = {"targets": [PAGE_TARGET], "actions": [{"id": "waf", "value": "off"}], "priority": 2}
    made = step("page rule made", lambda: pages.post(at.zone, data={**sent, "status": "active"}))
    one = made["id"] if made else ""
    step("page rule changed", lambda: pages.put(at.zone, one, data={**sent, "status": "disabled"}))
    step("page rule edited", lambda: pages.patch(at.zone, one, data={"status": "active"}))
    step("page rule", lambda: pages.get(at.zone, one))
    step("page rules", lambda: pages.get(at.zone))
    step("page rule gone", lambda: pages.delete(at.zone, one))


def previous_waf(client: Any, at: Place, step: Course) -> None:
    """Packages, groups, rules and overrides of the previous WAF."""
    waf = client.zones.firewall.waf
    found = step("packages", lambda: waf.packages.get(at.zone))
    ids = [one["id"] for one in sorted(found or (), key=lambda one: one["detection_mode"])]
    anomaly, package = ids if ids else ("", "")
    step("package", lambda: waf.packages.get(at.zone, anomaly))
    step("package edited", lambda: waf.packages.patch(at.zone, anomaly, data={"sensitivity": "low"}))
    groups = step("groups", lambda: waf.packages.groups.get(at.zone, package))
    group = groups[0]["id"] if groups else ""
    step("group edited", lambda: waf.packages.groups.patch(at.zone, package, group, data={"mode": "off"}))
    step("group", lambda: waf.packages.groups.get(at.zone, package, group))
    rules = step("waf rules", lambda: waf.packages.rules.get(at.zone, package))
    rule = rules[0]["id"] if rules else ""
    step(
        "waf rule edited", lambda: waf.packages.rules.patch(at.zone, package, rule, data={"mode": "simulate"})
    )
    step("waf rule", lambda: waf.packages.rules.get(at.zone, package, rule))
    sent = {"urls": ["shop.example/*"], "rules": {"100008": "block"}}
    made = step("override made", lambda: waf.overrides.post(at.zone, data=sent))
    one = made["id"] if made else ""
    nulls = {"groups": None, "rewrite_action": None, "rules": None}
    step("override changed", lambda: waf.overrides.put(at.zone, one, data={**(made or {}), **nulls}))
    step("override", lambda: waf.overrides.get(at.zone, one))
    step("overrides", lambda: waf.overrides.get(at.zone))
    step("override gone", lambda: waf.overrides.delete(at.zone, one))


def main() -> None:
    """All of it, with the report at the end."""
    at, step = Place.given(), Course()
    client = CloudFlare.CloudFlare(token=at.token, base_url=at.base_url, max_request_retries=0)
    for part in (zones, rulesets, logs, firewall, page_rules, previous_waf):
        part(client, at, step)
    step.report()


if __name__ == "__main__":
    main()
