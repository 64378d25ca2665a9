"""What the skip rules of the returned configuration except, beside the page rules that come first."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from edgeshift.areas.waf import Reading, propose
from edgeshift.profiles import PUBLIC_2025_04, SPECIFICATION, ServiceProfile
from edgeshift.testbed.simulator.equivalent import equivalent_configuration, url_expression
from edgeshift.testbed.simulator.expressions import compile_expression
from edgeshift.testbed.simulator.verdicts import PreviousWaf
from tests.kit.zones import fleet_zone
from tests.service.test_url_patterns import (
    as_read,
    close_patterns,
    close_requests,
    has_url,
    page_rule,
    said_whole,
    skipping,
    some_pages,
)


def proposed(
    config: list[dict[str, Any]], pages: list[dict[str, Any]], profile: ServiceProfile = PUBLIC_2025_04
) -> list[str]:
    """The expressions of the skip rules that are proposed."""
    rules: dict[str, Any] = {"name": "default", "rules": config}
    read = Reading(check={}, config=rules, page_rules=[as_read(page) for page in pages])
    found = propose(read, (), profile)
    assert not found.unwritable
    again = propose(read.model_copy(update={"config": found.body}), (), profile)
    assert again.body == found.body and again.additions == ()
    return [rule["expression"] for rule in found.body["rules"] if rule["action"] == "skip"]


any_pages = st.lists(
    st.builds(page_rule, close_patterns, st.sampled_from(["off", "on", "bypass"]), st.integers(1, 3)),
    max_size=5,
)


@settings(deadline=None)
@given(st.one_of(any_pages, some_pages), st.sampled_from([SPECIFICATION, PUBLIC_2025_04]))
def test_what_the_simulated_service_excepts_is_known(
    pages: list[dict[str, Any]], profile: ServiceProfile
) -> None:
    """Its skip rules stand for their page rules, however both are worded: nothing is added."""
    config = equivalent_configuration(fleet_zone(page_rules=pages), profile)["rules"]
    skips = [rule["expression"] for rule in config if rule["action"] == "skip"]
    assert proposed(config, pages, profile) == skips


@settings(deadline=None)
@given(some_pages, said_whole, st.lists(st.one_of(said_whole, close_patterns), max_size=2), st.booleans())
def test_a_skip_rule_that_excepts_more_is_not_relied_on(
    pages: list[dict[str, Any]], about: str, excepted: list[str], wildcard: bool
) -> None:
    """Wherever the previous WAF was off, the new one is."""
    whole = url_expression([about], wildcard=wildcard)
    but = url_expression(excepted, wildcard=wildcard)
    skips = proposed(skipping(f"({whole}) and not ({but})" if excepted else whole), pages)
    previous = PreviousWaf(fleet_zone(page_rules=pages))
    tests = [compile_expression(text) for text in skips]
    for request in close_requests:
        if not has_url(request) and not previous._runs(request):
            assert any(test(request) for test in tests), (request, skips)


@pytest.mark.parametrize(
    ("excepted", "relied_on"),
    [
        ('http.host eq "shop.example" and starts_with(http.request.uri.path, "/api/")', True),
        ('(ssl and http.host eq "shop.example" and starts_with(http.request.uri, "/api/"))', True),
        ('http.host eq "shop.example" and starts_with(http.request.uri, "/api")', False),
        ('starts_with(http.request.uri, "/api/")', False),
        ('http.host eq "shop.example" and http.request.uri.path eq "/x"', False),
        ('http.host eq "shop.example" and http.request.uri eq "/x"', True),
        ('http.host eq "shop.example" and not http.request.uri eq "/x"', False),
        ('http.host eq "shop.example" and http.request.uri eq "/x" and not ssl', True),
        ('http.host eq "shop.example" and starts_with(http.request.uri, "/safe/")', False),
        ('ssl and http.host eq "shop.example" and starts_with(http.request.uri, "/safe/")', True),
        ('http.request.uri contains "/api/" and http.request.uri contains "/x"', False),
        ('ip.src eq 192.0.2.1 and http.host eq "shop.example"', False),
    ],
)
def test_an_exception_is_one_of_an_earlier_page_rule(excepted: str, relied_on: bool) -> None:
    """Or a part of one; in doubt there is one skip rule more."""
    pages = [
        page_rule("shop.example/*", "off", 1),
        page_rule("shop.example/api/*", "bypass", 2),
        page_rule("shop.example/x", "on", 2),
        page_rule("https://shop.example/safe/*", "on", 2),
        page_rule("shop.example/late/*", "on", 0),
    ]
    config = skipping(f'(http.host eq "shop.example") and not ({excepted})')
    assert (len(proposed(config, pages)) == 1) is relied_on
