"""What is told of a proposal that is other than the one that was signed."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from edgeshift.model.body_changes import changes
from edgeshift.model.digests import digest


def rule(expression: str, action: str = "skip", **more: Any) -> dict[str, Any]:
    return {"action": action, "expression": expression, "enabled": True, **more}


def body(*rules: dict[str, Any]) -> dict[str, Any]:
    return {"name": "default", "rules": list(rules)}


def test_rules_that_came_went_or_changed_are_named_by_their_place() -> None:
    """A rule of which one thing changed is told by that thing; what the service assigns is no change."""
    first, second = rule("a", description="first"), rule("b")
    assert changes(body(first, second), body(second)) == ("removed: rule 1, skip on a (first)",)
    assert changes(body(first), body(first, second)) == ("added: rule 2, skip on b",)
    off = {**first, "enabled": False}
    assert changes(body(first), body(off)) == ("changed: rule 1, enabled: true → false",)
    other = rule("c", "execute")
    assert changes(body(first), body(other)) == ("changed: rule 1, skip on a (first) → execute on c",)
    assert changes(body({**first, "id": "1"}), body({**first, "version": "2"})) == ()


def test_bodies_of_other_areas_are_told_by_their_keys() -> None:
    """A key that is missing is nothing; long values are cut."""
    before = {"name": "log_fields", "fields": {"cookies": ["a"]}, "jobs": {"list": ["Cookies"]}}
    after = {"name": "log_fields", "fields": {"cookies": ["a", "b"]}, "probe": "x" * 500}
    first, second, third = changes(before, after)
    assert first == "fields.cookies: with b"
    assert second == 'jobs: {"list":["Cookies"]} → nothing'
    assert third.startswith("probe: nothing → xxx") and third.endswith("…") and len(third) < 160


def test_a_difference_far_inside_is_told_where_it_is() -> None:
    """Of a long expression the part that differs; of overrides the one that does."""
    long = rule("x" * 3000 + ' eq "/a"'), rule("x" * 3000 + ' eq "/b"')
    (said,) = changes(body(long[0]), body(long[1]))
    assert '"/a"' in said and '"/b"' in said and len(said) < 150

    def execute(action: str) -> dict[str, Any]:
        listed = [{"id": "1" * 32, "action": "log"}, {"id": "2" * 32, "action": action}]
        return rule("true", "execute", action_parameters={"id": "m", "overrides": {"rules": listed}})

    assert changes(body(execute("log")), body(execute("block"))) == (
        "changed: rule 1, action_parameters.overrides.rules[1].action: log → block",
    )


def test_deletions_of_overrides_are_told_by_their_urls() -> None:
    """They have neither expression nor description."""

    def delete(identifier: str, url: str) -> dict[str, Any]:
        return {"action": "delete_override", "override": {"id": identifier, "urls": [url]}}

    one, other = delete("a", "x/*"), delete("b", "y/*")
    assert changes(body(one), body(one, other)) == ('added: rule 2, delete_override b ["y/*"]',)
    assert changes(body(one), body(delete("a", "z/*"))) == ("changed: rule 1, override.urls[0]: x/* → z/*",)


RULES = st.lists(st.builds(rule, st.sampled_from("abc"), st.sampled_from(("skip", "execute"))), max_size=5)


@given(RULES, RULES)
def test_there_is_a_line_exactly_where_the_digests_differ(old: list[Any], new: list[Any]) -> None:
    """Nobody is told that nothing changed where something did, nor the other way round."""
    assert bool(changes(body(*old), body(*new))) == (digest(body(*old)) != digest(body(*new)))
