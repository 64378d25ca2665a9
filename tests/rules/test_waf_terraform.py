"""Terraform of a zone says exactly what was signed, in each range of the provider, or says nothing."""

from __future__ import annotations

import copy
import json
import re
import unicodedata
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from edgeshift.areas.waf import MANAGED_RULESET, OWASP_RULESET, Adjustment, Reading, propose
from edgeshift.areas.waf.plain import plain
from edgeshift.areas.waf.terraform import (
    RANGES,
    EntryPoint,
    ProviderRange,
    Unwritable,
    terraform_version,
    zone_file,
)
from edgeshift.areas.waf.terraform.hcl import quoted
from edgeshift.model.digests import Body
from edgeshift.model.fleet import Plan, Zone
from edgeshift.testbed.simulator.equivalent import equivalent_configuration
from edgeshift.testbed.simulator.generate import generate_fleet
from tests.rules.hcl_kit import VERSIONS, resources, versions_in

Json = dict[str, Any]

ZONE = Zone(id="a" * 32, name="shop.example", account="b" * 32, plan=Plan.ENTERPRISE)
ENTRY = EntryPoint(id="c" * 32, name="default")
NEW, OLD = terraform_version("1.5"), terraform_version("1.4")
EACH = pytest.mark.parametrize("provider", RANGES.values(), ids=RANGES)

OFF: Json = {
    "action": "execute",
    "expression": "true",
    "description": "Execute the OWASP core ruleset",
    "enabled": True,
    "action_parameters": {
        "id": OWASP_RULESET,
        "overrides": {
            "categories": [
                {"category": "paranoia-level-3", "enabled": False},
                {"category": "paranoia-level-4", "enabled": False},
            ],
            "rules": [{"id": "d" * 32, "action": "block", "enabled": True, "score_threshold": 40}],
        },
    },
}
"""What the migration makes of the core ruleset: two levels that are off."""


def written(body: Body, provider: ProviderRange, entry: EntryPoint = ENTRY, *, old: bool = False) -> str:
    """The configuration of the zone."""
    return zone_file(ZONE, "shop", body, entry, provider, OLD if old else NEW).text


def read(text: str, provider: ProviderRange) -> list[Body]:
    """The body as each version of the range reads it."""
    found = []
    for version in versions_in(provider.constraint):
        (resource,) = resources(text, version)
        found.append({"name": resource.rest["name"], "rules": resource.rules})
    assert found
    return found


def body(*rules: Json) -> Body:
    return {"name": "default", "rules": list(rules)}


# --- configuration → HCL → configuration

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=12).map(
    lambda text: unicodedata.normalize("NFC", text)
)
TEMPLATES = st.text(alphabet='${}%"\\\n\r\té ~#', max_size=14)
SAID = st.one_of(TEXTS, TEMPLATES)
FULL = SAID.filter(bool)
EXPRESSIONS = st.one_of(FULL, st.sampled_from(['http.host eq "${a}"', 'path matches "^/%{x}\\\\.$"']))
IDS = st.sampled_from(["1" * 32, "2" * 32, MANAGED_RULESET, OWASP_RULESET])
SWITCHES = st.sampled_from([True, False, None])
ACTIONS = st.sampled_from(["block", "log", "managed_challenge", "js_challenge", None])
LEVELS = st.sampled_from(["default", "medium", "low", "eoff", None])
RULES = st.fixed_dictionaries(
    {"id": IDS},
    optional={
        "action": ACTIONS,
        "enabled": SWITCHES,
        "score_threshold": st.integers(1, 2**53),
        "sensitivity_level": LEVELS,
    },
)
CATEGORIES = st.fixed_dictionaries({"category": FULL}, optional={"action": ACTIONS, "enabled": SWITCHES})
OVERRIDES = st.one_of(
    st.none(),
    st.fixed_dictionaries(
        {},
        optional={
            "action": ACTIONS,
            "enabled": SWITCHES,
            "sensitivity_level": LEVELS,
            "rules": st.one_of(st.none(), st.lists(RULES, max_size=3)),
            "categories": st.one_of(st.none(), st.lists(CATEGORIES, max_size=3)),
        },
    ),
)
EXECUTE = st.fixed_dictionaries(
    {"id": IDS},
    optional={
        "version": st.sampled_from(["latest", None]),
        "overrides": OVERRIDES,
        "matched_data": st.fixed_dictionaries({"public_key": FULL}),
    },
)
NAMES = st.lists(st.sampled_from(["waf", "http_ratelimit", "bic", "hot"]), max_size=3, unique=True)
SKIP = st.fixed_dictionaries(
    {},
    optional={
        "ruleset": st.just("current"),
        "rulesets": st.lists(IDS, max_size=2, unique=True),
        "phases": NAMES,
        "products": NAMES,
        "rules": st.dictionaries(IDS, st.lists(IDS, max_size=3, unique=True), max_size=2),
    },
)
BLOCK = st.fixed_dictionaries(
    {
        "response": st.fixed_dictionaries(
            {"status_code": st.integers(400, 499), "content_type": FULL, "content": FULL}
        )
    }
)
LIMIT = st.fixed_dictionaries(
    {"characteristics": st.lists(FULL, min_size=1, max_size=2, unique=True), "period": st.integers(1, 3600)},
    optional={
        "requests_per_period": st.integers(1, 9),
        "score_per_period": st.integers(1, 9),
        "score_response_header_name": FULL,
        "mitigation_timeout": st.integers(1, 9),
        "counting_expression": FULL,
        "requests_to_origin": st.booleans(),
    },
)
BESIDES: Json = {
    "id": st.sampled_from(["", "9" * 32]),
    "version": st.just("3"),
    "ref": st.just("x"),
    "last_updated": st.just("2024-01-01T00:00:00Z"),
    "description": SAID,
    "enabled": SWITCHES,
    "logging": st.fixed_dictionaries({"enabled": st.booleans()}),
    "ratelimit": LIMIT,
    "exposed_credential_check": st.fixed_dictionaries(
        {"username_expression": FULL, "password_expression": FULL}
    ),
}


def rules(action: str, parameters: st.SearchStrategy[Any]) -> st.SearchStrategy[Json]:
    return st.fixed_dictionaries(
        {"action": st.just(action), "expression": EXPRESSIONS},
        optional={**BESIDES, "action_parameters": st.one_of(st.none(), parameters)},
    )


BODIES = st.fixed_dictionaries(
    {
        "name": FULL,
        "rules": st.lists(
            st.one_of(
                rules("execute", EXECUTE),
                rules("skip", SKIP),
                rules("block", BLOCK),
                rules("log", st.just({})),
            ),
            max_size=4,
        ),
    }
)


@EACH
@given(sent=BODIES)
def test_what_is_written_is_what_was_signed(provider: ProviderRange, sent: Body) -> None:
    """Whatever a body has: each version of the range reads the same of it, with no attribute that it does not
    have, must not be set, or drops.
    """
    before = copy.deepcopy(sent)
    text = written(sent, provider, EntryPoint(id="c" * 32))
    assert sent == before
    for found in read(text, provider):
        assert plain(found) == plain(sent)


@pytest.fixture(scope="module")
def generated() -> list[Body]:
    """Every body that the simulator's service makes of a generated fleet, with and without adjustments."""
    adjustments = (
        Adjustment(rule="e" * 32, action="log"),
        Adjustment(ruleset=OWASP_RULESET, rule="f" * 32, score_threshold=25),
        Adjustment(ruleset=OWASP_RULESET, enabled=False),
    )
    found = []
    for zone in generate_fleet(120, 3).zones:
        reading = Reading(check={}, config=equivalent_configuration(zone))
        found.append(propose(reading).body)
        if len(found[-1]["rules"]) < 20:
            found.append(propose(reading, adjustments).body)
    return found


@EACH
def test_every_generated_body_is_written(provider: ProviderRange, generated: list[Body]) -> None:
    """All shapes of the simulator's fleets, and what campaigns add to them."""
    different = {str(plain(one)): one for one in generated}
    assert len(different) > 20
    for sent in different.values():
        for found in read(written(sent, provider), provider):
            assert plain(found) == plain(sent)


@EACH
def test_what_is_off_is_off_where_the_provider_looks_for_it(provider: ProviderRange) -> None:
    """3.x by ``status``, later ones by ``enabled``: the other word is dropped there, or unknown."""
    text = written(body(OFF), provider)
    said = "enabled" if not provider.status else 'status   = "disabled"'
    assert said in text
    for version in VERSIONS:
        if version in versions_in(provider.constraint):
            assert plain(read(text, provider)[0]) == plain(body(OFF))
        elif provider.attributes or version.startswith("5") or provider.status != version.startswith("3"):
            with pytest.raises((AssertionError, KeyError)):
                resources(text, version)


@EACH
def test_a_rule_always_says_whether_it_is_enabled(provider: ProviderRange) -> None:
    """Provider 3.x takes one that does not say so for one that is off."""
    silent = {key: value for key, value in OFF.items() if key != "enabled"}
    for sent in (body(silent), body({**OFF, "enabled": None})):
        for found in read(written(sent, provider), provider):
            assert [rule["enabled"] for rule in found["rules"]] == [True]
    for found in read(written(body({**OFF, "enabled": False}), provider), provider):
        assert [rule["enabled"] for rule in found["rules"]] == [False]


@EACH
def test_a_skip_rule_always_says_whether_it_is_logged(provider: ProviderRange) -> None:
    """The service stores that it is where nothing was said, and a plan would then show a difference."""
    skip = {"action": "skip", "expression": "true", "action_parameters": {"ruleset": "current"}}
    for said, written_as in ((None, True), ({"enabled": True}, True), ({"enabled": False}, False)):
        for found in read(written(body({**skip, "logging": said}), provider), provider):
            assert [rule["logging"] for rule in found["rules"]] == [{"enabled": written_as}]


@EACH
def test_what_the_provider_cannot_change_is_written_as_it_is_stored(provider: ProviderRange) -> None:
    """Another name would have it delete the entry point and make a new one; that is forbidden as well."""
    entry = EntryPoint(id="c" * 32, name='zone "${x}"', description="ours")
    for version in versions_in(provider.constraint):
        (resource,) = resources(written(body(OFF), provider, entry), version)
        assert resource.rest == {
            "zone_id": ZONE.id,
            "name": 'zone "${x}"',
            "description": "ours",
            "kind": "zone",
            "phase": "http_request_firewall_managed",
        }


# --- what is refused


def changed(path: str, value: Any) -> Body:
    """A body with a value put at a path."""
    found = copy.deepcopy(body(OFF))
    at: Any = found["rules"][0]
    *way, last = path.split(".")
    for key in way:
        at = at[int(key)] if key.isdigit() else at.setdefault(key, {})
    at[int(last) if last.isdigit() else last] = value
    return found


@EACH
@pytest.mark.parametrize(
    ("path", "value", "place"),
    [
        ("categories", ["x"], "categories"),
        ("position", {}, "position"),
        ("action_parameters.phase", "current", "action_parameters.phase"),
        ("action_parameters.uri", {"path": "/"}, "action_parameters.uri"),
        ("action_parameters.version", "57", "action_parameters.version"),
        ("action_parameters.overrides.score_threshold", 40, "action_parameters.overrides.score_threshold"),
        ("action_parameters.overrides.x", [], "action_parameters.overrides.x"),
        (
            "action_parameters.overrides.categories.1.score_threshold",
            5,
            "action_parameters.overrides.categories[1].score_threshold",
        ),
        ("action_parameters.overrides.rules.0.action", "", "action_parameters.overrides.rules[0].action"),
        ("action_parameters.overrides.rules.0.enabled", "no", "action_parameters.overrides.rules[0].enabled"),
        (
            "action_parameters.overrides.rules.0.score_threshold",
            2.5,
            "action_parameters.overrides.rules[0].score_threshold",
        ),
        ("action_parameters.overrides.rules", {"a": 1}, "action_parameters.overrides.rules"),
        ("action_parameters.rules", {"a": ["b,c"]}, "action_parameters.rules.a"),
        ("action_parameters.phases", "all", "action_parameters.phases"),
        ("action_parameters.overrides", [], "action_parameters.overrides"),
        ("expression", "e\u0301", "expression"),
        ("expression", "\ud800", "expression"),
        ("expression", None, "expression"),
        ("action", None, "action"),
        ("logging", {"enabled": True, "sample": 1}, "logging.sample"),
        ("ratelimit", {"timeout": 1}, "ratelimit.timeout"),
    ],
)
def test_what_cannot_be_written_is_refused_by_name(
    provider: ProviderRange, path: str, value: Any, place: str
) -> None:
    """Nothing is dropped in silence; the error names the place, the range, and no value."""
    with pytest.raises(Unwritable) as refused:
        written(changed(path, value), provider)
    assert refused.value.place == f"rules[0].{place}"
    assert f"cannot be written for provider {provider.name}: " in str(refused.value)


def test_what_only_some_ranges_send_is_refused_in_the_others() -> None:
    """A threshold of 0, and a sensitivity of a category: provider 5 alone has them."""
    zero = changed("action_parameters.overrides.rules.0.score_threshold", 0)
    level = changed("action_parameters.overrides.categories.0.sensitivity_level", "low")
    for sent in (zero, level):
        for name in ("3.35", "4"):
            with pytest.raises(Unwritable):
                written(sent, RANGES[name])
        for found in read(written(sent, RANGES["5"]), RANGES["5"]):
            assert plain(found) == plain(sent)


def test_an_unknown_key_of_the_body_is_refused() -> None:
    """So is a rule that is no object."""
    with pytest.raises(Unwritable, match=r"^kind "):
        written({**body(OFF), "kind": "zone"}, RANGES["4"])
    with pytest.raises(Unwritable, match="it is not an object"):
        written({"name": "n", "rules": ["x"]}, RANGES["4"])


UNSEEN = ["\u115f", "\u3164", "\u2800", "\ufff9", "\ue000"]


@pytest.mark.parametrize("hidden", ["\x1b[2K", "\x9b", "\u202e", "\u200b", "\ufeff", "\U000e0041", *UNSEEN])
def test_what_a_terminal_would_obey_is_written_by_its_number(hidden: str) -> None:
    """Whoever looks at the file sees it, and Terraform reads what was there."""
    text = quoted(f"a{hidden}b")
    assert text.isascii() and text.isprintable()
    assert json.loads(re.sub(r"\\U([0-9a-f]{8})", _as_pair, text)) == f"a{hidden}b"


def _as_pair(found: re.Match[str]) -> str:
    """JSON has a pair of numbers in place of a long one."""
    return json.dumps(chr(int(found[1], 16)))[1:-1]
