"""The security events of a zone: the same every time, sampled, in the order in which the firewalls judge."""

from collections import Counter, defaultdict
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from edgeshift.testbed.simulator import events as simulated
from edgeshift.testbed.simulator.equivalent import MANAGED_RULESET, OWASP_RULESET, equivalent_configuration
from edgeshift.testbed.simulator.events import Event, Mode, firewall_events
from edgeshift.testbed.simulator.fleet_file import FleetZone
from edgeshift.testbed.simulator.verdicts import TERMINATING
from tests.kit.zones import fleet_zone

START = datetime(2023, 10, 1, 12, tzinfo=UTC)
DAY = timedelta(hours=24)


def zone(**settings: Any) -> FleetZone:
    planted = {"false_positives": [{"kind": "rich_text"}], "gaps": [{"kind": "cms_plugin_probe"}]}
    return fleet_zone(**{"traffic": planted, **settings})


def logging(configuration: dict[str, Any]) -> dict[str, Any]:
    for rule in configuration["rules"]:
        if rule["action"] == "execute":
            overrides = rule["action_parameters"].setdefault("overrides", {})
            overrides["action"] = "log"
            for item in overrides.get("rules", []):
                item["action"] = "log"
    return configuration


def events(
    one: FleetZone, mode: Mode, entry_point: dict[str, Any] | None = None, **more: datetime
) -> list[Event]:
    times = {"since": START, "until": START + DAY, "mode_since": START, **more}
    return firewall_events(one, mode=mode, entry_point=entry_point, **times)


def by_ray(found: list[Event]) -> dict[str, list[Event]]:
    rays: dict[str, list[Event]] = defaultdict(list)
    for event in found:
        rays[event["rayName"]].append(event)
    return rays


def test_before_the_migration_only_the_previous_waf_speaks() -> None:
    """Source waf, no ruleset."""
    found = events(zone(), "start", equivalent_configuration(zone()))
    assert len(found) > 50
    assert {(event["source"], event["rulesetId"]) for event in found} == {("waf", "")}


def test_after_the_migration_only_the_new_waf_speaks() -> None:
    """Source firewallManaged, the managed rulesets' ids."""
    found = events(zone(), "complete", equivalent_configuration(zone()))
    assert len(found) > 50
    assert {event["source"] for event in found} == {"firewallManaged"}
    assert {event["rulesetId"] for event in found} <= {MANAGED_RULESET, OWASP_RULESET}


def test_a_zone_that_never_had_the_previous_waf_has_none_of_its_events() -> None:
    """In state default, also before the time that the mode is said to have begun."""
    found = events(zone(), "default", equivalent_configuration(zone()), mode_since=START + DAY / 2)
    assert {event["source"] for event in found} == {"firewallManaged"}
    assert min(event["datetime"] for event in found) < "2023-10-02"


def test_while_the_new_waf_enforces_its_block_hides_the_old_verdict() -> None:
    """A ray that the new WAF ended has no event of the previous one; gaps have only that."""
    rays = by_ray(events(zone(), "validation", equivalent_configuration(zone())))
    ended = [found for found in rays.values() if any(e["source"] == "firewallManaged" for e in found)]
    gaps = [found for found in rays.values() if all(e["source"] == "waf" for e in found)]
    assert ended and gaps
    assert all(
        found[-1]["action"] in TERMINATING and len({e["source"] for e in found}) == 1 for found in ended
    )
    assert {e["clientRequestPath"] for found in gaps for e in found} == {
        "/wp-content/plugins/thumbs/timthumb.php"
    }


def test_while_the_new_waf_logs_both_verdicts_share_the_ray() -> None:
    """Attacks have both, the planted false positive only the new log, the planted gap only the old block."""
    rays = by_ray(events(zone(), "validation", logging(equivalent_configuration(zone()))))
    sides: dict[frozenset[str], set[str]] = defaultdict(set)
    for found in rays.values():
        assert all(e["action"] == "log" for e in found if e["source"] == "firewallManaged")
        assert [e["matchIndex"] for e in found] == list(range(len(found)))
        sides[frozenset(e["source"] for e in found)].add(found[0]["clientRequestPath"])
    assert sides[frozenset({"firewallManaged"})] == {"/editor/save"}
    assert sides[frozenset({"waf"})] == {"/wp-content/plugins/thumbs/timthumb.php"}
    assert len(sides[frozenset({"waf", "firewallManaged"})]) > 5


def test_before_the_mode_began_only_the_previous_waf_ran() -> None:
    """An interval over the change is judged on each side of it."""
    middle = START + DAY / 2
    found = events(zone(), "validation", equivalent_configuration(zone()), mode_since=middle)
    stamp = middle.strftime("%Y-%m-%dT%H:%M:%SZ")
    assert {e["source"] for e in found if e["datetime"] < stamp} == {"waf"}
    assert {e["source"] for e in found if e["datetime"] >= stamp} == {"waf", "firewallManaged"}
    assert [e["datetime"] for e in found] == sorted(e["datetime"] for e in found)


@settings(max_examples=20, deadline=None)
@given(st.integers(1, 86_399))
def test_two_halves_make_the_whole(seconds: int) -> None:
    """Cut anywhere, the events are the same: no state, no edge effects."""
    cut = START + timedelta(seconds=seconds)
    one = zone()
    whole = events(one, "start")
    assert events(one, "start", until=cut) + events(one, "start", since=cut) == whole


def test_the_same_call_gives_the_same_events_and_another_zone_others() -> None:
    """Deterministic from the zone's seed."""
    assert events(zone(), "start") == events(zone(), "start")
    rays = {e["rayName"] for e in events(zone(), "start")}
    assert rays.isdisjoint(e["rayName"] for e in events(zone(name="other.example"), "start"))


def test_a_zone_without_planted_requests_agrees_with_itself() -> None:
    """Nothing that only one of them stops."""
    one = zone(traffic={})
    for found in by_ray(events(one, "validation", logging(equivalent_configuration(one)))).values():
        assert {e["source"] for e in found} == {"waf", "firewallManaged"}


def test_a_zone_without_requests_or_without_a_waf_has_no_events() -> None:
    """Silence is possible."""
    assert events(zone(traffic={"requests_per_minute": 0}), "start") == []
    assert events(zone(previous_waf={"enabled": False}), "start") == []
    assert events(zone(), "complete", None) == []
    assert events(zone(), "start", until=START) == []


def test_a_bypass_for_some_clients_lets_only_those_through() -> None:
    """Expressions about the client are judged for each client."""
    clients = {e["clientIP"] for e in events(zone(traffic={}), "start")}
    chosen = min(clients)
    rule = {"expression": f"ip.src eq {chosen}", "products": ["waf"]}
    left = {e["clientIP"] for e in events(zone(traffic={}, firewall_rules=[rule]), "start")}
    assert left == clients - {chosen}


def test_a_long_window_is_judged_by_its_shapes_and_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """72 hours under 200 bypassing rules, and half a year: a bounded sample that says what it stands for."""
    rules = [
        {"expression": f'http.request.uri.path eq "/module-{n}/upload"', "products": ["waf"]}
        for n in range(200)
    ]
    one = zone(firewall_rules=rules)
    entry_point = logging(equivalent_configuration(one))
    judged: Counter[str] = Counter()
    judge = simulated._verdicts

    def counted(shape: Any, *more: Any) -> Any:
        judged[repr(shape)] += 1
        return judge(shape, *more)

    monkeypatch.setattr(simulated, "_verdicts", counted)
    found = events(one, "validation", entry_point, until=START + 3 * DAY)
    # Each shape once, and not each request: judging 200 rules is what takes long.
    assert judged and set(judged.values()) == {1} and len(judged) < len(found)
    assert 200 < len(found) < 6000
    year = events(one, "start", until=START + 180 * DAY)
    assert len(year) < 6000 and min(e["sampleInterval"] for e in year) > 1
