"""Support cases are recognised in whatever words, and nothing else is taken for one (docs/service.md §7)."""

from __future__ import annotations

import ast
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from edgeshift.areas import waf
from edgeshift.areas.waf import Reading, support_cause
from edgeshift.model.fleet import Plan, Zone
from edgeshift.model.reasons import ReasonCode
from edgeshift.profiles import SPECIFICATION
from edgeshift.runtime import redaction
from edgeshift.runtime.redaction import register_secret
from edgeshift.service_api import Refused

assess = partial(waf.assess, profile=SPECIFICATION)
ticket_text = partial(waf.ticket_text, profile=SPECIFICATION)

ZONE = Zone(id="a" * 32, name="shop.example", account="b" * 32, plan=Plan.PRO)

TOO_LONG = [
    "a firewall rule has an expression over 0.1 KB. Please contact support.",
    "a firewall rule expression is longer than 4 KB, please contact support",
    "Firewall rule expression longer than 4 KB",
    "The expression of rule 5f is too long",
    "expression too large",
    "Expression exceeds the maximum length of 4096 characters",
    "firewall rule expression exceeds 4KB limit. Contact support.",
    "filter expression size 5,120 bytes is over the limit of 4,096 bytes",
    "One of the firewall rules has an expression of more than 4 kilobytes",
    "Cannot migrate: filter too big",
    "expression length must be at most 4096",
    "The length of a rule's expression is limited to 4 KiB",
    "rule 12ab exceeds 4096 bytes",
    "migration.expression_size: maximum allowed size is 4096",
    "'http.host eq \"a\"' is not a valid value for Expression because the expression is too long",
    "An expression larger than 4kB was found",
    "Maximum expression length exceeded",
    "oversized expression in firewall rule",
    "The filter's expression is 4097 bytes long",
    "firewall rule 'abc' has a 4.2 KB expression; 4 KB are allowed",
    "expression_too_long",
    "expression must be no longer than 4KB",
    "An expression in one of your firewall rules has 5000 bytes, which is more than the 4096 allowed",
    "Rule 3: expression length 4097 > 4096",
    "filter expression: too long",
    "The firewall rule's expression surpasses 4 KB",
    "expressions over 4,096 bytes are not supported",
    "Expression is limited to 4096 characters",
    "max expression size is 4kb",
    "We do not migrate firewall rules whose expressions are bigger than four kilobytes",
    "Firewall rule expression exceeds the maximum size",
    "expression of 4.5 KB not permitted (max. 4 KB)",
    "rule expression length limit exceeded",
    "Your filter has an expression above the allowed length",
    "expression_length_exceeded",
    "4 KB limit for expressions exceeded by rule 7",
    "the expression of firewall rule 12ab has 6001 bytes",
    "expression is longer than 4 KB in rule 'abc' (page rules unaffected)",
    "A firewall rule's expression exceeds 4096 bytes. Your page rules are not affected.",
    "expression too long; ask support, or whoever administers your plan",
]
TOO_MANY = [
    "zone has 47 firewall rules, only 2 can be migrated automatically",
    "found 1,047 rules; 300 are allowed",
    "cannot migrate more than 200 firewall rules, please contact support",
    "More than 200 firewall rules to migrate",
    "too many firewall rules",
    "Too many rules to migrate (312). Please reach out to customer support.",
    "The number of firewall rules to migrate exceeds the limit",
    "zone has 201 firewall rules, the maximum is 200",
    "You have exceeded the maximum of 200 rules",
    "firewall rules limit exceeded: 250 > 200",
    "rule count over limit",
    "Only 200 firewall rules can be migrated",
    "migration supports up to 200 bypass rules; found 345",
    "Exceeded maximum number of rules for migration",
    "rule quota exceeded",
    "limit of 200 firewall rules reached",
    "firewall rules exceed the limit",
    "firewall_rules: too many",
    "Maximum firewall rules exceeded",
    "There are 350 firewall rules with Bypass WAF; only 200 can be migrated automatically.",
    "200 is the largest number of firewall rules this migration can handle; yours has 245",
    "This zone has 201 firewall rules. Migration handles at most 200.",
    "Migration aborted: 312 bypass rules found (limit: 200)",
    "rules.length must be <= 200",
    "Unable to convert your zone: firewall rule limit reached (200)",
    "The maximum number of firewall rules for the WAF migration is 200",
    "the number of WAF bypass rules (231) is higher than what can be migrated automatically (200)",
    "you have got too many firewall rules for an automatic migration",
    "No more than two hundred firewall rules can be migrated",
    "Exceeds 200-rule limit",
    "Zone not migratable because of its number of firewall rules",
    "We cannot migrate zones with 200+ firewall rules",
    "firewall rules: 245, allowed: 200",
    "maximum 200 rules, got 245",
    "There must not be more than 200 firewall rules",
    "rule count 245 greater than 200",
    "Rule limit (200) surpassed",
    "firewall_rules_limit_exceeded",
    "The quantity of firewall rules is above the threshold of 200",
    "cannot convert 201 rules, cap is 200",
    "Firewall rules exceed the migration limit; please contact Customer Support or your plan administrator",
    "unable to migrate 201 firewall rules",
    "Cannot automatically migrate 1,204 bypass rules.",
    "Too many firewall rules to migrate (page rules don't count)",
    "More than 200 firewall rules [transform rules do not count]. Contact support.",
]
ASKS_FOR_SUPPORT = [
    "This zone cannot be migrated. Please contact support.",
    "Contact Cloudflare Support to continue",
    "Migration not possible for this zone, contact our support team",
    "Please open a support ticket",
    "please reach out to your account team",
    "An internal condition prevents the update; get in touch with customer support",
    "Contacting enterprise support is required",
    "Please ask support to migrate this zone",
    "This needs the help of support",
    "This zone cannot be migrated (page rules are unaffected). Please contact support.",
]
NO_SUPPORT_CASE = [
    "The number of firewall rules exceeds the limit. To change your current plan contact support.",
    "could not route to /client/v4/zones, perhaps your object identifier is invalid?",
    "No route for that URI",
    "rate limited. Please wait and consider throttling your request speed",
    "More than 1200 requests per 300 seconds reached. Please wait and consider throttling your request speed",
    "Too many requests; rate limiting rules apply, at most 200 a minute",
    "rate limit of 200 rules API calls exceeded, contact support to raise it",
    "invalid expression",
    "'(http.host eq \"x\"' is not a valid value for Expression because the expression is invalid: eof",
    "'len(http.request.uri) > 4096 or longer than the limit' is not a valid value for Expression because"
    " the expression is invalid: parse error",
    "the expression is invalid: unknown field http.request.body.size",
    "this filter is no longer allowed",
    "expression: parse error at character 17",
    "Unauthorized to access requested resource",
    "Your account is not entitled to use rules of this phase",
    "not entitled to use the phase http_request_firewall_managed, the maximum of 0 rules is exceeded",
    "exceeded maximum number of zone rulesets for phase http_request_firewall_managed",
    "rule is invalid: status_code must be between 200 and 599",
    "waf_migration has an unsupported value",
    "this call does not support rules with this action",
    "Invalid request headers",
    "Invalid access token",
    "could not find entrypoint ruleset in the http_request_firewall_managed phase",
    "invalid action for rule: the action block is not supported",
    "zone is not eligible: delete its URI-based WAF overrides first",
    "Internal error",
    "",
    "Request was throttled: 200 calls per minute are allowed",
    "You have exceeded the limit of 1200 requests per five minutes. Contact support to raise it",
    "API quota of 200 requests exceeded",
    "Too many requests. At most 200 rules may be read per minute.",
    "request rate too high for rulesets, maximum 200 per minute",
    "actor does not have permission zone.firewall_rules.edit, contact support",
    "Authentication error",
    "You do not have permission to edit more than read firewall rules",
    "403 Forbidden: access to firewall rules not allowed",
    "token is not allowed to use this rule",
    "requires permission com.cloudflare.api.account.zone.rules.edit",
    "the token's scope does not allow firewall rules: contact your administrator",
    "invalid JSON: unexpected character at position 4096",
    "'rules[0].action' is not a valid value for action because only execute is allowed",
    "rule description must be at most 500 characters",
    "unknown field 'foo' in rule",
    "rule action_parameters.overrides exceeds maximum depth",
    "name must be at most 200 characters",
    "ref must be shorter than 64 characters",
    "the list of rules must not be empty",
    "cannot parse rule at position 200",
    "waf_migration must be one of pending, validation",
    "zone is locked by another operation, retry later",
    "ruleset kind zone exceeded maximum number of zone rulesets for phase",
    "request body is too large",
    "the request body must be smaller than 4 KB",
    "payload exceeds 4 KB",
    "request timeout exceeded",
    "your plan does not allow more than 5 firewall rules",
    "your account has reached the maximum of 125 page rules",
    "Too many requests; at most 200 rules at a time",
    "Rule limit of 200 exceeded (too many requests)",
    "Rule limit exceeded. Contact support to raise your rate limit",
    "The maximum of 5 rules is exceeded; you are not entitled to more, contact support",
    "Maximum firewall rules exceeded; your current plan allows 125",
    "Maximum number of rules exceeded; contact support to upgrade your plan",
    "firewall rule limit exceeded (your plan has 5)",
    "more rules are not included in your plan; maximum number of rules exceeded",
    "maximum number of rules exceeded (page rules)",
    "expression too long (transform rules)",
    "expression too long; you lack a permission, page rules are unaffected",
    "Your plan does not include this. Please contact support",
    "Your plan does not include this, contact support; page rules are unaffected",
    "failed to migrate 250 firewall rules",
    "unable to migrate 250 firewall rules: internal error",
    "zone is locked: unable to migrate 250 firewall rules",
    "unable to migrate 3 firewall rules",
    "cannot migrate 250 page rules",
    "cannot migrate rule 250",
]


@pytest.mark.parametrize("message", TOO_LONG)
def test_an_expression_that_is_too_long_is_recognised(message: str) -> None:
    """With and without the word support, the limit, or a unit."""
    assert support_cause([message]) is ReasonCode.EXPRESSION_TOO_LONG


@pytest.mark.parametrize("message", TOO_MANY)
def test_too_many_rules_are_recognised(message: str) -> None:
    """With and without the word support, the limit, or the number found."""
    assert support_cause([message]) is ReasonCode.TOO_MANY_RULES


@pytest.mark.parametrize("message", ASKS_FOR_SUPPORT)
def test_a_refusal_that_asks_for_support_is_a_case_of_its_own(message: str) -> None:
    """Whatever its cause is."""
    assert support_cause([message]) is ReasonCode.SUPPORT_REFUSAL


@pytest.mark.parametrize("message", NO_SUPPORT_CASE)
def test_other_refusals_are_no_support_case(message: str) -> None:
    """Routing, pace, permissions and plain mistakes open no ticket."""
    assert support_cause([message]) is None
    assert support_cause([message.upper()]) is None


@pytest.mark.parametrize(
    ("messages", "cause"), [(TOO_LONG, ReasonCode.EXPRESSION_TOO_LONG), (TOO_MANY, ReasonCode.TOO_MANY_RULES)]
)
@given(data=st.data())
def test_neither_case_nor_company_hides_the_cause(
    messages: list[str], cause: ReasonCode, data: st.DataObject
) -> None:
    """Upper case, and other messages before or after, make no difference."""
    message = data.draw(st.sampled_from(messages))
    others = data.draw(st.lists(st.sampled_from(NO_SUPPORT_CASE), max_size=2))
    for spoken in (message, message.upper(), message.lower()):
        assert support_cause([*others, spoken]) is cause
        assert support_cause([spoken, *others]) is cause


RULES = ("firewall rules", "firewall rules to migrate", "bypass rules", "rules")
EXPRESSIONS = ("expression", "firewall rule expression", "rule's filter expression")
COUNTS = (
    "more than 200 {0}",
    "the zone has 201 {0}, the maximum is 200",
    "{0}: 250, limit: 200",
    "at most 200 {0} can be migrated",
    "{0} exceed the limit of 200",
    "too many {0}",
)
LENGTHS = (
    "{0} longer than 4 KB",
    "{0} exceeds 4096 bytes",
    "{0} is too long",
    "the maximum {0} length is 4,096 characters",
    "{0} of 5000 bytes is over the limit of 4096",
    "4KB is the largest size of a {0}",
)
AROUND = ("{0}", "Error: {0}.", "cannot migrate: {0}", "{0}; please contact support", "[waf] {0} (ref 12ab)")


@given(
    st.sampled_from(
        [(COUNTS, RULES, ReasonCode.TOO_MANY_RULES), (LENGTHS, EXPRESSIONS, ReasonCode.EXPRESSION_TOO_LONG)]
    ),
    st.data(),
)
def test_words_that_nobody_has_seen_are_recognised(
    limit: tuple[tuple[str, ...], tuple[str, ...], ReasonCode], data: st.DataObject
) -> None:
    """A number or a complaint, what it is about, and anything harmless around it."""
    complaints, subjects, cause = limit
    said = data.draw(st.sampled_from(complaints)).format(data.draw(st.sampled_from(subjects)))
    assert support_cause([data.draw(st.sampled_from(AROUND)).format(said)]) is cause


@given(st.lists(st.sampled_from(NO_SUPPORT_CASE), max_size=4))
def test_harmless_messages_together_are_harmless(messages: list[str]) -> None:
    """The subject of one and the complaint of another do not make a case."""
    assert support_cause(messages) is None


@given(st.lists(st.text(max_size=60), max_size=3))
def test_any_text_is_judged(messages: list[str]) -> None:
    """Never an error."""
    assert support_cause(messages) in (None, *ReasonCode)


def bypass(number: int, size: int) -> dict[str, object]:
    return {"id": f"r{number}", "action": "bypass", "products": ["waf"], "filter": {"expression": "s" * size}}


def test_a_ticket_names_rules_and_lengths_and_never_an_expression() -> None:
    """For a long expression the long ones alone; for too many rules all of them."""
    rules = [bypass(1, 10), bypass(2, 5000), *(bypass(number, 20) for number in range(3, 210))]
    found = assess(Reading(check={}, firewall_rules=rules))
    title, text = ticket_text(ZONE, ReasonCode.EXPRESSION_TOO_LONG, found, ())
    assert "4 KB" in title and "shop.example" in title
    assert "| `r2` | 5,000 |" in text and "`r1`" not in text and "sssss" not in text
    title, text = ticket_text(ZONE, ReasonCode.TOO_MANY_RULES, found, ())
    assert "200" in title and text.count("| `r") == 209 and "sssss" not in text


def test_a_ticket_for_a_refusal_says_what_the_service_answered() -> None:
    """Shortened to one line, without a table where no rule is known to be the cause."""
    found = assess(Reading(check={"compatible": True}))
    title, text = ticket_text(ZONE, ReasonCode.SUPPORT_REFUSAL, found, ("contact\n\nsupport" + "x" * 500,))
    assert "contact support" in title
    assert "- the service answered: contact supportx" in text and "x" * 200 not in text
    assert "| firewall rule" not in text and ZONE.id in text and "pro" in text


def test_a_secret_that_is_a_word_hides_no_case(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever may edit one zone chooses its secret, which a worker hides from then on in what it tells."""
    monkeypatch.setattr(redaction, "_longest_first", [])
    said = "this zone has more than 200 firewall rules; please contact support"
    for secret in ("rules", "firewall rules", "more than 200"):
        register_secret(secret)
    refused = Refused("refused", call="waf.check", messages=(said,))
    assert support_cause(refused.unabridged) == support_cause((said,)) == ReasonCode.TOO_MANY_RULES
    assert "rules" not in str(refused)


def test_what_no_secret_is_hidden_in_is_read_to_recognise_alone() -> None:
    """Nothing else takes it, so that it is written nowhere."""
    root = Path(__file__).parents[2]
    found = {
        str(file.relative_to(root))
        for package in ("edgeshift", "activities", "workflows", "worker")
        for file in (root / package).rglob("*.py")
        if any(
            isinstance(node, ast.Attribute) and node.attr == "unabridged"
            for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        )
    }
    assert found == {
        "activities/change/judging.py",
        "edgeshift/service_api/errors.py",
        "edgeshift/service_api/esc.py",
    }
