"""Rules of the new WAF that a zone has already, and that a change would replace."""

from __future__ import annotations

from typing import Any

from edgeshift.areas.waf import MANAGED_RULESET, OWASP_RULESET, replaced, shadow
from edgeshift.model.digests import Body

UPLOAD = {
    "action": "skip",
    "action_parameters": {"ruleset": "current"},
    "expression": 'http.request.uri.path eq "/upload"',
    "description": "uploads",
    "enabled": True,
}
TUNED = {
    "action": "execute",
    "expression": "true",
    "action_parameters": {
        "id": MANAGED_RULESET,
        "overrides": {"rules": [{"id": "100008", "action": "log", "enabled": True}]},
    },
}


def execute(ruleset: str = MANAGED_RULESET, **more: Any) -> dict[str, Any]:
    """A rule that runs a managed ruleset."""
    parameters = {"id": ruleset, **more}
    return {"action": "execute", "expression": "true", "action_parameters": parameters, "enabled": True}


def body(*rules: dict[str, Any]) -> Body:
    """A ruleset body."""
    return {"name": "default", "rules": list(rules)}


def test_what_a_body_does_not_have_is_replaced_by_it() -> None:
    """Each rule by its place, what it does and what it is called; no expression is told."""
    stored = body(UPLOAD, execute(OWASP_RULESET), TUNED)
    assert replaced(stored, body(execute(), execute(OWASP_RULESET))) == (
        "rule 1 of the new WAF as it is: skip (uploads)",
        f"rule 3 of the new WAF as it is: execute the managed ruleset ({MANAGED_RULESET})",
    )


def test_what_was_sent_before_is_no_rule_of_others() -> None:
    """Also in the form that only logs, with what the service assigns, and the versions that it gives."""
    ours = body(execute(), execute(OWASP_RULESET))
    given = [
        {**rule, "id": "a" * 32, "ref": "b" * 32, "version": "3", "last_updated": "2026-11-28T00:00:00Z"}
        for rule in ours["rules"]
    ]
    numbered = body(execute(version="57"), execute(OWASP_RULESET, version="latest"))
    for stored in (None, body(), ours, shadow(ours), body(*given), numbered, body(execute(OWASP_RULESET))):
        assert replaced(stored, ours) == ()
    before = body(UPLOAD, execute())
    assert len(replaced(before, ours)) == 1
    assert replaced(before, ours, before) == replaced(shadow(before), ours, before) == ()
    assert len(replaced(numbered, body(execute(version="56"), execute(OWASP_RULESET)))) == 1


def test_a_rule_that_cannot_be_read_is_told_as_it_is() -> None:
    """Nobody can say that it is one of ours."""
    assert replaced({"rules": ["odd", {**execute(), "action_parameters": 7}]}, body(execute())) == (
        "rule 1 of the new WAF as it is: odd",
        "rule 2 of the new WAF as it is: execute",
    )
    assert len(replaced({"rules": "odd"}, body(execute()))) == 1
