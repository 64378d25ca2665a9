"""Rules and behaviours of the edge that cannot be: each is refused when it is given, with the reason."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from edgeshift.testbed.simulator.fleet_edge import EDGE_FEATURES, EscBehaviour
from tests.service.edge_kit import BEHAVIOURS, ESC_KINDS, edge
from tests.service.simulated import Json


@pytest.mark.parametrize(
    ("phase", "rule", "pointer"),
    [
        ("http_request_dynamic_redirect", {"action": "rewrite"}, "/rules/0/action"),
        ("http_request_dynamic_redirect", {"action": "redirect"}, "/rules/0/action_parameters"),
        (
            "http_request_dynamic_redirect",
            {
                "action": "redirect",
                "action_parameters": {"from_value": {"target_url": {"value": "/"}, "status_code": 200}},
            },
            "/rules/0/action_parameters/from_value/status_code",
        ),
        (
            "http_request_transform",
            {"action": "rewrite", "action_parameters": {"uri": {"path": {"expression": "sum(1)"}}}},
            "/rules/0/action_parameters/uri/path/expression",
        ),
        (
            "http_request_late_transform",
            {"action": "rewrite", "action_parameters": {"headers": {"a": {"operation": "add"}}}},
            "/rules/0/action_parameters/headers/a/operation",
        ),
        (
            "http_response_headers_transform",
            {
                "action": "rewrite",
                "action_parameters": {"headers": {"a": {"operation": "set", "value": "x\r\ny"}}},
            },
            "/rules/0/action_parameters/headers/a/value",
        ),
        (
            "http_custom_errors",
            {"action": "serve_error", "action_parameters": {"status_code": 200}},
            "/rules/0/action_parameters/status_code",
        ),
        (
            "http_config_settings",
            {"action": "set_config", "action_parameters": {"rocket_loader": "off"}},
            "/rules/0/action_parameters/rocket_loader",
        ),
        (
            "http_request_origin",
            {"action": "route", "action_parameters": {"sni": "a.example"}},
            "/rules/0/action_parameters/sni",
        ),
        (
            "http_request_origin",
            {"action": "route", "expression": "http.nothing eq 1", "action_parameters": {}},
            "/rules/0/expression",
        ),
    ],
)
async def test_a_wrong_rule_of_the_edge_is_refused(
    tmp_path: Path, phase: str, rule: Json, pointer: str
) -> None:
    """With the place of what is wrong."""
    async with edge(tmp_path) as at:
        entry = f"shop:/rulesets/phases/{phase}/entrypoint"
        errors = await at.call.refused(400, "PUT", entry, {"rules": [{"expression": "true", **rule}]})
        assert [one["source"]["pointer"] for one in errors] == [pointer]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"kind": "redirect"}, "redirect needs to"),
        ({"kind": "redirect", "to": "/", "status": 200}, "301, 302"),
        ({"kind": "tls_sni", "to": "a.example", "query": "x"}, "takes no query"),
        ({"kind": "url_rewrite"}, "to, query or both"),
        ({"kind": "url_rewrite", "to": "page"}, "begins with /"),
        ({"kind": "request_header", "name": "a", "operation": "add"}, "set or removed"),
        ({"kind": "response_header", "name": "a b"}, "name"),
        ({"kind": "feature_exception", "feature": "none"}, "feature"),
        ({"kind": "teleport"}, "kind"),
        ({"kind": "redirect", "to": "/", "path": "old"}, "path"),
    ],
)
def test_a_behaviour_that_fits_no_kind_is_refused(given: dict[str, Any], said: str) -> None:
    """The text names what is missing or too much."""
    with pytest.raises(ValidationError, match=said):
        EscBehaviour.model_validate(given)


def test_a_behaviour_survives_being_written_whole() -> None:
    """With all its fields spelt out, defaults too, each is the same behaviour again."""
    for one in BEHAVIOURS.values():
        made = EscBehaviour.model_validate(one)
        assert EscBehaviour.model_validate(made.model_dump(mode="json")) == made
    assert set(BEHAVIOURS) == set(ESC_KINDS) == {one["kind"] for one in BEHAVIOURS.values()}
    assert len(EDGE_FEATURES) == 3
