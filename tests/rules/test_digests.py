"""Digests name what is sent and nothing else; fingerprints name it for every zone that is alike."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from edgeshift.model.digests import (
    SERVICE_ASSIGNED,
    Body,
    NotCanonical,
    canonical_bytes,
    digest,
    essence,
    fingerprint,
    sha256,
)
from edgeshift.testbed.invariants.digests import body_digest, body_fingerprint
from tests.kit.zones import model_zone

LABEL = st.from_regex(r"[a-z][a-z0-9]{0,5}", fullmatch=True)
HOST = st.lists(LABEL, min_size=2, max_size=3).map(".".join)
IDENTIFIER = st.from_regex(r"[0-9a-f]{32}", fullmatch=True)
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
SCALAR = st.one_of(st.none(), st.booleans(), st.integers(-(2**53) + 1, 2**53 - 1), TEXT)
JSON = st.recursive(
    SCALAR, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3), max_leaves=6
)
ASSIGNED = st.fixed_dictionaries({}, optional={key: TEXT for key in sorted(SERVICE_ASSIGNED)})
RULE = st.fixed_dictionaries(
    {"action": st.sampled_from(["execute", "skip"]), "expression": TEXT, "enabled": st.booleans()},
    optional={"description": TEXT, "action_parameters": st.dictionaries(TEXT, JSON, max_size=3)},
)
BODY = st.fixed_dictionaries({"name": TEXT, "rules": st.lists(RULE, min_size=1, max_size=3)})


def about(text: str) -> Body:
    """A body whose only rule has this expression."""
    return {"name": "default", "rules": [{"action": "skip", "expression": text, "enabled": True}]}


def shuffled(value: Any) -> Any:
    """The same JSON with the keys of each object the other way round."""
    if isinstance(value, dict):
        return {key: shuffled(value[key]) for key in reversed(value)}
    return [shuffled(item) for item in value] if isinstance(value, list) else value


@given(BODY)
def test_the_order_of_keys_does_not_matter(body: Body) -> None:
    """RFC 8785 orders keys, at every depth."""
    assert digest(body) == digest(shuffled(body))


@given(BODY, ASSIGNED)
def test_what_the_service_assigns_to_a_rule_does_not_matter(body: Body, assigned: dict[str, str]) -> None:
    """``id``, ``version``, ``ref`` and ``last_updated`` may be empty, omitted or anything (docs/service.md
    §4.3).
    """
    stored = {**body, "rules": [{**rule, **assigned} for rule in body["rules"]]}
    assert digest(stored) == digest(body)
    assert essence(stored) == body


def test_what_the_service_assigns_to_the_ruleset_does_not_matter() -> None:
    """A stored entry point has more keys than what was sent; they are not part of the body."""
    stored = about("true") | {"id": "1", "version": "7", "kind": "zone", "phase": "x", "last_updated": "now"}
    assert digest(stored) == digest(about("true"))


@pytest.mark.parametrize("key", sorted(SERVICE_ASSIGNED))
def test_identifiers_inside_action_parameters_do_matter(key: str) -> None:
    """There they name managed rulesets and rules: another one is another body, at every depth."""

    def body(value: str, inner: str) -> Body:
        parameters = {key: value, "overrides": {"rules": [{key: inner, "action": "log"}]}}
        return {"name": "default", "rules": [{"action": "execute", "action_parameters": parameters}]}

    found = {digest(body(value, inner)) for value in ("a", "b") for inner in ("a", "b")}
    assert len(found) == 4


@given(BODY, BODY)
def test_digests_are_equal_only_for_equal_bodies(first: Body, second: Body) -> None:
    """Equal canonical JSON, equal digest; anything else differs (true is not 1)."""
    assert (digest(first) == digest(second)) == (canonical_bytes(first) == canonical_bytes(second))


@given(BODY)
def test_the_order_of_rules_matters(body: Body) -> None:
    """Rules run in their order."""
    other = {**body, "rules": body["rules"][::-1]}
    assume(other["rules"] != body["rules"])
    assert digest(other) != digest(body)


def test_a_digest_is_the_sha256_of_the_canonical_json() -> None:
    """Anybody can compute it with a JSON and a SHA-256 tool."""
    body = about("é > 1")
    text = json.dumps(body, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    assert digest(body) == sha256(text.encode())


@pytest.mark.parametrize("value", [2**53 + 1, float("inf"), float("nan"), "\ud800", {1: 2}])
def test_what_has_no_canonical_json_is_refused(value: object) -> None:
    """A named error, not a digest that another implementation would not find; and not the value itself."""
    with pytest.raises(NotCanonical, match="no canonical JSON") as raised:
        digest({"name": "default", "rules": [{"action": "skip", "x": value}]})
    assert "ud800" not in str(raised.value)


@pytest.mark.parametrize("rules", [[1], "all", None, {"a": {}}, [{}, None]])
def test_a_body_whose_rules_are_no_objects_has_no_digest(rules: object) -> None:
    """A named error, which whoever reads the archive expects: anybody may have laid it there."""
    body = {"name": "default", "rules": rules}
    for make in (digest, lambda body: fingerprint(body, model_zone("a"))):
        with pytest.raises(NotCanonical, match="no list of objects"):
            make(body)


# --- fingerprints

AROUND = st.sampled_from(
    [
        'http.host eq "{n}"',
        'http.host wildcard "*.{n}"',
        "https://{n}/a?b={n}",
        "{i}",
        "zone/{i}/x",
        "({n})",
        "x",
    ]
)
TEMPLATES = st.lists(AROUND, min_size=1, max_size=4).map(" or ".join)


def filled(template: str, name: str, identifier: str) -> str:
    return template.replace("{n}", name).replace("{i}", identifier)


@given(TEMPLATES, HOST, HOST, IDENTIFIER, IDENTIFIER)
def test_zones_that_differ_in_name_and_id_alone_share_a_fingerprint(
    template: str, name: str, other: str, one: str, two: str
) -> None:
    """The same rules around another name and another identifier are the same shape."""
    first = fingerprint(about(filled(template, name, one)), model_zone(name, one))
    assert first == fingerprint(about(filled(template, other, two)), model_zone(other, two))


@given(TEMPLATES, TEMPLATES, HOST, HOST, IDENTIFIER, IDENTIFIER)
def test_other_rules_never_share_a_fingerprint(
    template: str, different: str, name: str, other: str, one: str, two: str
) -> None:
    """Whatever the zones are called."""
    assume(template != different and name != other and one != two)
    first = fingerprint(about(filled(template, name, one)), model_zone(name, one))
    assert first != fingerprint(about(filled(different, other, two)), model_zone(other, two))


@given(BODY, BODY, HOST, IDENTIFIER)
def test_of_one_zone_fingerprints_are_equal_only_where_digests_are(
    first: Body, second: Body, name: str, identifier: str
) -> None:
    """Leaving the name out never makes two bodies of one zone alike."""
    same = fingerprint(first, model_zone(name, identifier)) == fingerprint(
        second, model_zone(name, identifier)
    )
    assert same == (digest(first) == digest(second))


@given(
    st.lists(
        st.sampled_from(["{n}", "{i}", "\x00", "\x00@\x00", "\x00#\x00", "@", "#", ".", "-", "a"]), max_size=6
    )
)
def test_a_placeholder_cannot_be_forged(parts: list[str]) -> None:
    """A body that carries NULs, or the placeholders themselves, is not taken for one that names the zone."""
    here, text = model_zone("shop.example"), "".join(parts)
    sent = about(filled(text, here.name, here.id))
    for other in ("\x00@\x00", "\x00#\x00", here.name, here.id, "\x00\x00@\x00\x00"):
        same = fingerprint(sent, here) == fingerprint(about(other), here)
        assert same == (digest(sent) == digest(about(other)))


@pytest.mark.parametrize(
    "host",
    [
        "myshop.example",
        "shop.example.org",
        "shop-example",
        "x-shop.example",
        "shop.example-x",
        "shop_example",
        "_shop.example",
        "shopXexample",
        "SHOP.example",
    ],
)
def test_another_host_that_contains_the_name_is_not_the_name(host: str) -> None:
    """A rule about another host stays about that host: it is another shape than one about the zone's own."""
    here = model_zone("shop.example")
    assert fingerprint(about(f'http.host eq "{host}"'), here) == digest(about(f'http.host eq "{host}"'))
    assert fingerprint(about('http.host eq "shop.example"'), here) != digest(
        about('http.host eq "shop.example"')
    )


@pytest.mark.parametrize(
    "around", ["www.{n}", "*.{n}", "*{n}/*", "https://{n}/", "{n}:8443", "{n}.", "({n})", '"{n}"']
)
def test_the_name_is_found_as_a_host_and_as_the_parent_of_one(around: str) -> None:
    """Subdomains, wildcards, URLs and ports around the name make no difference between two zones."""
    one, two = model_zone("shop.example"), model_zone("a-b.example.org", "b" * 32)
    assert fingerprint(about(filled(around, one.name, "")), one) == fingerprint(
        about(filled(around, two.name, "")), two
    )


def test_a_zone_below_another_zone_is_not_confused_with_it() -> None:
    """``shop.example`` and its child zone ``eu.shop.example``: a rule about one host is another rule for
    each.
    """
    parent, child = model_zone("shop.example"), model_zone("eu.shop.example", "b" * 32)
    text = about('http.host eq "eu.shop.example"')
    assert fingerprint(text, parent) != fingerprint(text, child)
    assert fingerprint(text, child) == fingerprint(about('http.host eq "shop.example"'), parent)


def test_name_and_identifier_do_not_stand_for_each_other() -> None:
    """A rule about the zone's identifier is not one about its name."""
    here = model_zone("shop.example")
    assert fingerprint(about(here.id), here) != fingerprint(about(here.name), here)
    keyed: Body = {"name": "x", "rules": [{"action": "skip", "x": {here.id: 1, here.name: 2}}]}
    turned: Body = {"name": "x", "rules": [{"action": "skip", "x": {here.id: 2, here.name: 1}}]}
    assert fingerprint(keyed, here) != fingerprint(turned, here)


@given(BODY, TEMPLATES, HOST, IDENTIFIER)
def test_the_checker_finds_the_same(body: Body, template: str, name: str, identifier: str) -> None:
    """Two separate computations agree, so that neither hides the other's mistake."""
    body = {**body, "rules": [*body["rules"], *about(filled(template, name, identifier))["rules"]]}
    assert body_digest(body) == digest(body)
    assert body_fingerprint(body, identifier, name) == fingerprint(body, model_zone(name, identifier))
