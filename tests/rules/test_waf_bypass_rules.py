"""Firewall rules with Bypass > WAF Managed Rules: whom they let by the previous WAF, the new one lets by."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from edgeshift.areas.waf import MANAGED_RULESET, OWASP_RULESET, Reading, propose, warnings
from edgeshift.areas.waf.bypass_rules import bypasses, members, missing_skips
from edgeshift.model.digests import digest, fingerprint
from edgeshift.model.fleet import Plan, Zone
from tests.rules.test_waf_proposal import BOTH, Json, body, execute, page, skipping

OFFICE = "ip.src in {192.0.2.0/24}"
HOOK = 'http.request.uri.path eq "/hook  or  crook"'


def bypass(expression: str = OFFICE, identifier: str = "f1", **what: Any) -> Json:
    """A firewall rule as the service lists it."""
    return {
        "id": identifier,
        "paused": False,
        "description": "Office",
        "action": "bypass",
        "products": ["waf"],
        "filter": {"id": "c1", "expression": expression, "paused": False},
        **what,
    }


def proposed(rules: list[Json], *config: Json, pages: tuple[Json, ...] = ()) -> tuple[list[Json], int]:
    """The rules that are proposed, and how many additions people are shown."""
    given = body(*(config or BOTH))
    found = propose(Reading(check={}, config=given, firewall_rules=rules, page_rules=list(pages)))
    again = propose(Reading(check={}, config=found.body, firewall_rules=rules[::-1], page_rules=list(pages)))
    assert again.body == found.body and again.additions == ()
    return found.body["rules"], len(found.additions)


def is_skipped(expression: str, rules: list[Json]) -> bool:
    """Whether nothing is proposed for a firewall rule that bypasses by this."""
    return not missing_skips([bypass(expression)], rules)


def test_a_bypass_that_the_configuration_lacks_gets_a_skip_rule() -> None:
    """By its own expression, before all else; people are told of which rule it is."""
    reading = Reading(check={}, config=body(*BOTH), firewall_rules=[bypass()])
    found = propose(reading)
    first, *rest = found.body["rules"]
    assert rest == BOTH
    assert first == {
        "id": "",
        "version": "",
        "action": "skip",
        "action_parameters": {"ruleset": "current"},
        "expression": OFFICE,
        "description": "Bypass WAF Managed Rules: Office",
        "ref": "",
        "enabled": True,
    }
    assert found.additions == ("skip rule for the firewall rule f1, which does not bypass the new WAF",)
    assert reading.config == body(*BOTH)


@pytest.mark.parametrize(
    "rule",
    [
        bypass(paused=True),
        bypass(filter={"id": "c1", "expression": OFFICE, "paused": True}),
        bypass(products=["rateLimit"]),
        bypass(products=None),
        bypass(action="allow"),
        bypass(action="skip of another time"),
        {"id": "f1"},
    ],
)
def test_what_bypasses_nothing_now_adds_nothing(rule: Json) -> None:
    """Paused rules and filters, other products, other actions."""
    assert not bypasses(rule)
    assert proposed([rule]) == (BOTH, 0)


def test_a_bypass_of_several_products_is_one_of_the_waf_too() -> None:
    """As it migrates; and what the service does not say counts as active."""
    assert proposed([bypass(products=["uaBlock", "waf"], paused=None)])[1] == 1
    assert proposed([bypass(filter={"expression": OFFICE})])[1] == 1


@pytest.mark.parametrize(
    ("config", "carried"),
    [
        ([skipping(OFFICE), *BOTH], True),
        ([skipping(" ( (ip.src  in\n{ 192.0.2.0/24 })) "), *BOTH], True),
        ([skipping(f"({OFFICE}) or ({HOOK})"), *BOTH], True),
        ([skipping(f"({HOOK}) || {OFFICE} or ssl"), *BOTH], True),
        ([skipping("true"), *BOTH], True),
        ([skipping(OFFICE, rulesets=[MANAGED_RULESET, OWASP_RULESET]), *BOTH], True),
        ([skipping(OFFICE, phases=["http_request_firewall_managed"]), *BOTH], True),
        ([{**execute(), "enabled": False}, skipping(OFFICE), execute(OWASP_RULESET)], True),
        ([*BOTH, skipping(OFFICE)], False),
        ([execute(), skipping(OFFICE), execute(OWASP_RULESET)], False),
        ([skipping(OFFICE, rulesets=[MANAGED_RULESET]), *BOTH], False),
        ([skipping(OFFICE, rules={MANAGED_RULESET: ["r"]}), *BOTH], False),
        ([{**skipping(OFFICE), "enabled": False}, *BOTH], False),
        ([{**skipping(OFFICE), "action": "log"}, *BOTH], False),
        ([skipping("ip.src in {192.0.2.0/25}"), *BOTH], False),
        ([skipping(f"({OFFICE}) and ssl"), *BOTH], False),
        ([skipping(f"not ({OFFICE})"), *BOTH], False),
        ([skipping(f"ssl and ({OFFICE} or ssl)"), *BOTH], False),
        ([skipping(""), *BOTH], False),
    ],
)
def test_a_skip_rule_carries_a_bypass_that_it_has_whole(config: list[Json], carried: bool) -> None:
    """Before every managed ruleset, and of all of them; white space and outer brackets aside."""
    rules, added = proposed([bypass()], *config)
    assert added == (0 if carried else 1)
    assert rules == (config if carried else [rules[0], *config])
    assert rules[0]["expression"] == (config[0]["expression"] if carried else OFFICE)


def test_white_space_within_a_text_says_something() -> None:
    """And a word in a text is no operator."""
    assert not is_skipped(HOOK, [skipping(HOOK.replace("  ", " ")), *BOTH])
    assert is_skipped(f"({HOOK})", [skipping(f"{OFFICE} or {HOOK}"), *BOTH])
    raw = 'http.user_agent contains r"a\\" or ssl'
    assert members(raw) == {'http.user_agent contains r"a\\"', "ssl"}


def test_several_bypasses_are_looked_for_one_by_one() -> None:
    """Those of an ``or`` may be carried by several skip rules; two of the same expression need one."""
    both = bypass(f"{HOOK} or {OFFICE}")
    assert proposed([both], skipping(OFFICE), skipping(HOOK), *BOTH)[1] == 0
    assert proposed([both], skipping(OFFICE), *BOTH)[1] == 1
    assert proposed([bypass(), bypass(f"({OFFICE})", "f2")])[1] == 1
    rules, added = proposed([bypass(HOOK, "f2"), bypass(), bypass("ssl", paused=True)])
    assert added == 2 and {rule["expression"] for rule in rules[:2]} == {HOOK, OFFICE}
    assert proposed([bypass(), bypass(HOOK, "f2")])[0] == rules


def test_page_rules_have_theirs_beside() -> None:
    """Neither stands for the other."""
    assert proposed([bypass()], pages=(page("shop.example/api/*"),))[1] == 2


def test_zones_that_bypass_the_same_share_a_sign_off() -> None:
    """Identifiers of firewall rules differ from zone to zone, and are not in what is signed."""
    found = []
    for name, identifier in (("a.example", "1" * 32), ("b.example", "2" * 32)):
        rule = bypass(f'http.host eq "{name}"', identifier)
        proposal = propose(Reading(check={}, config=body(*BOTH), firewall_rules=[rule])).body
        found.append(fingerprint(proposal, Zone(id=identifier, name=name, account="0" * 32, plan=Plan.PRO)))
    assert found[0] == found[1]


@pytest.mark.parametrize(
    "condition", [None, {}, {"expression": None}, {"expression": " "}, {"expression": "\ud800"}]
)
def test_a_bypass_that_was_not_read_is_told(condition: Json | None) -> None:
    """No skip rule can be written of it: people are warned before they sign."""
    reading = Reading(check={}, config=body(*BOTH), firewall_rules=[bypass(filter=condition), bypass()])
    assert len(propose(reading).additions) == 1
    digest(propose(reading).body)
    (told,) = [line for line in warnings(reading) if "bypass" in line]
    assert told.startswith("1 firewall rule bypasses the previous WAF by an expression that was not read")
    assert not [line for line in warnings(Reading(check={}, firewall_rules=[bypass()])) if "bypass" in line]


PIECES = st.sampled_from(
    ["(", ")", "or", "||", "and", "not", " ", '"', "\\", "r#", "{", "}", "a", "true", "\n"]
)


@given(st.lists(PIECES, max_size=30).map("".join))
def test_whatever_an_expression_is_made_of(expression: str) -> None:
    """It has itself as a whole, and no odd one is an error."""
    assert members(expression)
    assert is_skipped(expression, [skipping(expression), *BOTH])


def test_brackets_without_end_are_no_error() -> None:
    """Deep ones, and more than an expression that migrates can have."""
    for deep in (1_000, 1_000_000):
        whole = f"{'(' * deep}ssl{')' * deep}"
        assert is_skipped(whole, [skipping(whole), *BOTH])
    assert members(f"{'(' * 1_000}ssl{')' * 1_000}") == {"ssl"}


@pytest.mark.parametrize("carried", [False, True], ids=["left out", "carried"])
@pytest.mark.parametrize(
    "said",
    [
        'http.host eq "shop.example" and not http.request.uri.path contains "/api"',
        '(http.host eq "shop.example" and not starts_with(http.request.uri.path, "/checkout"))',
    ],
)
def test_a_bypass_with_an_exception_stands_for_no_page_rule(said: str, carried: bool) -> None:
    """What it leaves out is its own: the page rule has the WAF off there, too."""
    config = [skipping(said), *BOTH] if carried else BOTH
    rules, added = proposed([bypass(said)], *config, pages=(page("shop.example/*"),))
    assert added == (1 if carried else 2)
    assert '(lower(http.host) eq "shop.example")' in [rule.get("expression") for rule in rules]


def test_a_bypass_of_what_a_page_rule_is_about_stands_for_it() -> None:
    """It leaves nothing out."""
    said = '(lower(http.host) eq "shop.example")'
    _, added = proposed([bypass(said)], *BOTH, pages=(page("shop.example/*"),))
    assert added == 1


def test_each_rule_of_a_large_zone_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A zone may have 200 of 4 KB, beside as many page rules; each by each takes a worker many seconds."""
    read: list[str] = []

    def counted(expression: str) -> frozenset[str]:
        read.append(expression)
        return members(expression)

    monkeypatch.setattr("edgeshift.areas.waf.bypass_rules.members", counted)
    said = [f'http.host eq "{number}.example" and not ssl' for number in range(50)]
    pages = [page(f"shop.example/{number}/*") for number in range(50)]
    rules = [bypass(one, f"f{number}") for number, one in enumerate(said)]
    config = body(*(skipping(one) for one in said), *BOTH)
    found = propose(Reading(check={}, config=config, firewall_rules=rules, page_rules=pages))
    assert len(found.additions) == 50
    assert len(read) <= 5 * 50
