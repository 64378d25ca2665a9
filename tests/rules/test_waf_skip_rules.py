"""Skip rules that a proposal adds for page rules: what they say, and where none can say it."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import pytest

from edgeshift.areas.waf import NeedsWildcard, Reading, propose, skip_rule
from edgeshift.profiles import PUBLIC_2025_04, SPECIFICATION
from tests.rules.test_waf_proposal import body, execute, page, skipping


def test_proposing_again_from_what_was_proposed_adds_nothing() -> None:
    """A skip rule that stands there already covers its page rule."""
    patterns = ("*shop.example/*", "https://shop.example/a*b", "shop.example", "*", "http://Shop.example/A")
    more = ("*shop*/api/*", "shop.example/Login?next=https://*", 'shop.example/"')
    for pages in ([page(pattern)] for pattern in (*patterns, *more)):
        first = propose(Reading(check={}, config=body(execute()), page_rules=pages), (), PUBLIC_2025_04)
        assert len(first.additions) == 1 and first.unwritable == ()
        again = propose(Reading(check={}, config=first.body, page_rules=pages), (), PUBLIC_2025_04)
        assert again.body == first.body and again.additions == ()


def test_a_star_in_the_middle_takes_an_operator_that_the_service_may_not_know() -> None:
    """Without it no rule is made that would say less or more, also where such a pattern is what is excepted;
    with it, or where the service has its own skip rule, nothing is missing.
    """
    odd = page("shop.example/a*b")
    found = propose(Reading(check={}, config=body(execute()), page_rules=[odd]))
    assert (found.body, found.additions, found.unwritable) == (body(execute()), (), ("shop.example/a*b",))
    found = propose(Reading(check={}, config=body(execute()), page_rules=[odd]), (), PUBLIC_2025_04)
    expression = '(lower(http.host) eq "shop.example") and (http.request.uri wildcard "/a*b")'
    assert found.body["rules"][0]["expression"] == expression and not found.unwritable
    on = {**page("s*p.example/*", {"id": "waf", "value": "on"}), "priority": 9}
    found = propose(Reading(check={}, config=body(execute()), page_rules=[page("shop.example/*"), on]))
    assert (found.body, found.unwritable) == (body(execute()), ("s*p.example/*",))
    theirs = skipping('http.request.full_uri wildcard "http*://shop.example/a*b"')
    config = body(theirs, execute())
    found = propose(Reading(check={}, config=config, page_rules=[odd]))
    assert found.body == config and not found.unwritable
    for pattern in ("a*z.example/*", "a.example/*/feed", "a.example/*/*", "a.example/*a*b"):
        with pytest.raises(NeedsWildcard, match="star in its middle"):
            skip_rule(pattern, "")


def test_more_than_an_expression_holds_is_not_written() -> None:
    """Many patterns that are excepted, or one with many stars in its host: of each of these the expression
    says where it may end. The service would refuse what was signed.
    """
    off, waf_on = page("*shop.example/*"), {"id": "waf", "value": "on"}
    many = [
        {**page(f"*shop.example/section{number}/page*", waf_on), "priority": 9, "id": f"on-{number}"}
        for number in range(40)
    ]
    for profile in (SPECIFICATION, PUBLIC_2025_04):
        few = propose(Reading(check={}, config=body(execute()), page_rules=[off, *many[:5]]), (), profile)
        assert len(few.additions) == 1 and not few.unwritable
        found = propose(Reading(check={}, config=body(execute()), page_rules=[off, *many]), (), profile)
        assert found.body == body(execute())
        assert found.too_long == found.unwritable == ("*shop.example/*",)
    starred = {**page(f"{'a*' * 60}.example/x", waf_on), "priority": 9}
    read = Reading(check={}, config=body(execute()), page_rules=[off, starred])
    assert propose(read, (), PUBLIC_2025_04).too_long == (f"{'a*' * 60}.example/x",)


def test_a_port_is_in_no_field_that_a_rule_tests() -> None:
    """A rule about one never holds: the zone is blocked, also where such a pattern is what is excepted."""
    odd = page("https://shop.example:8443/*")
    for profile in (SPECIFICATION, PUBLIC_2025_04):
        found = propose(Reading(check={}, config=body(execute()), page_rules=[odd]), (), profile)
        assert (found.body, found.unwritable) == (body(execute()), ("https://shop.example:8443/*",))
    on = {**page("shop.example:8443/*", {"id": "waf", "value": "on"}), "priority": 9}
    found = propose(Reading(check={}, config=body(execute()), page_rules=[page("shop.example/*"), on]))
    assert (found.body, found.unwritable) == (body(execute()), ("shop.example:8443/*",))
    assert propose(Reading(check={}, config=body(execute()), page_rules=[page("a/b:8*")])).additions


CACHE = {"id": "cache_level", "value": "bypass"}


def earlier(pattern: str, *actions: dict[str, Any], status: str = "active") -> dict[str, Any]:
    """A page rule that comes before any without a priority."""
    return {**page(pattern, *(actions or (CACHE,)), status=status), "priority": 2}


def test_a_page_rule_about_something_else_that_comes_first_leaves_the_waf_on_there() -> None:
    """Only the first page rule that fits a URL takes effect, whatever it is about: there the one that turns
    the WAF off does not, and its skip rule is not to.
    """
    off = page("shop.example/*")

    def proposed(*others: dict[str, Any]) -> list[str]:
        found = propose(Reading(check={}, config=body(execute()), page_rules=[off, *others]))
        assert not found.unwritable
        again = propose(Reading(check={}, config=found.body, page_rules=[off, *others]))
        assert again.additions == () and again.body == found.body
        return [rule["expression"] for rule in found.body["rules"] if rule["action"] == "skip"]

    whole = '(lower(http.host) eq "shop.example")'
    excepted = f'not ({whole} and (starts_with(lower(http.request.uri), "/api/")))'
    assert proposed(earlier("shop.example/api/*")) == [f"{whole} and {excepted}"]
    assert proposed(earlier("shop.example/api/*", {"id": "waf", "value": "later"})) == [
        f"{whole} and {excepted}"
    ]
    assert proposed(earlier("*")) == proposed(earlier("*/*")) == []
    assert proposed(earlier("shop.example/api/*", status="disabled")) == [whole]
    assert proposed(earlier("*", status="disabled")) == [whole]
    assert proposed({**earlier("shop.example/api/*"), "priority": -1}) == [whole]
    assert whole in proposed(earlier("*shop.example/api/*", {"id": "disable_security"}))


@pytest.mark.parametrize("order", list(permutations(range(3))))
def test_what_the_skip_rule_of_a_later_page_rule_excepts_an_earlier_one_may_turn_off(
    order: tuple[int, ...],
) -> None:
    """Two page rules of one pattern, and between them one that leaves the WAF on for a part of it: it does
    nothing, since the first turns the WAF off there. In whatever order they are listed.
    """
    off = page("shop.example/*")
    pages = [{**off, "priority": 3}, earlier("shop.example/api/*"), {**off, "priority": 1}]
    read = Reading(check={}, config=body(execute()), page_rules=[pages[place] for place in order])
    found = propose(read)
    assert [rule.get("expression") for rule in found.body["rules"]] == [
        '(lower(http.host) eq "shop.example")',
        "true",
    ]
    again = propose(read.model_copy(update={"config": found.body}))
    assert again.body == found.body and again.additions == ()


def test_one_that_comes_first_and_that_no_rule_can_say_blocks_the_zone() -> None:
    """Its URLs could not be excepted, whatever it is about."""
    for pattern in ("shop.example/a*b", "shop.example:8443/*"):
        read = Reading(
            check={}, config=body(execute()), page_rules=[page("shop.example/*"), earlier(pattern)]
        )
        found = propose(read)
        assert (found.body, found.unwritable) == (body(execute()), (pattern,))


def test_one_that_comes_first_and_fits_none_of_its_urls_is_no_matter() -> None:
    """Neither where no rule can say it, nor where its URLs could be excepted."""
    apart = ("other.example/a*b", "shop.example/blog/*/x", "other.example:8443/*", "other.example/*")
    pages = [page("shop.example/api/*"), *map(earlier, apart)]
    found = propose(Reading(check={}, config=body(execute()), page_rules=pages))
    assert not found.unwritable and len(found.additions) == 1
    assert found.body["rules"][0]["expression"] == (
        '(lower(http.host) eq "shop.example") and (starts_with(lower(http.request.uri), "/api/"))'
    )
    # Of a page rule with two patterns, one alone may be in doubt.
    pages[0]["targets"] += page("other.example/*")["targets"]
    found = propose(Reading(check={}, config=body(execute()), page_rules=pages[:2]))
    assert found.unwritable == ("other.example/a*b",) and len(found.additions) == 1
