"""What people do after a zone has moved (docs/service.md §3.2): Terraform, custom rules for gaps, the
review. Pure.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel

from edgeshift.areas.waf.evidence_terms import Evidence, Kind
from edgeshift.areas.waf.redacted import HIDDEN, LONGEST_PATH
from edgeshift.model.counts import counted
from edgeshift.model.digests import Body
from edgeshift.model.fleet import Zone

LEAST_OF_A_PATH = 3
"""Characters of a path that must be left when its secret parts are."""


class Aftercare(BaseModel):
    """Findings for aftercare of one zone. ``terraform``: HCL. ``state_rm``: commands, in their order."""

    terraform: str
    state_rm: tuple[str, ...]
    custom_rules: tuple[dict[str, Any], ...] = ()
    review: tuple[str, ...] = ()


def aftercare(
    zone: Zone, body: Body, losses: tuple[str, ...], evidence: Evidence | None, *, ruleset: str = ""
) -> Aftercare:
    """What is left to do by hand for a zone whose signed ``body`` is now in force, as the entry point
    ``ruleset``: its identifier.
    """
    name = re.sub(r"[^\w-]+", "_", zone.name)
    if not name[:1].isalpha():
        name = f"zone_{name}"
    review = [f"re-create by hand: {loss}" for loss in losses]
    if evidence is None:
        review += [
            "review the security events: set a wrongly blocking rule to log with an adjusted entry point",
            "add custom rules for traffic that should be blocked and no longer is",
        ]
    else:
        review += [
            f"rule {item.rule} stopped {counted(item.requests, 'request')} on {item.path}"
            " that the previous WAF let through"
            for item in evidence.findings
            if item.kind is Kind.FALSE_POSITIVE
        ]
        review += [
            f"rule {item.rule} stopped {counted(item.requests, 'request')} on {item.path};"
            " whether the previous WAF would have was not seen"
            for item in evidence.findings
            if item.kind is Kind.UNSEEN
        ]
        review += [
            f"only the previous WAF stopped {counted(item.requests, 'request')} on {item.path}"
            f" (rule {item.rule}): too little is known of the path for a custom rule"
            for item in evidence.findings
            if item.kind is Kind.GAP and not _on_path(item.path)
        ]
    gaps = [item for item in evidence.findings if item.kind is Kind.GAP] if evidence else []
    return Aftercare(
        terraform=terraform(zone, name, body, ruleset or "<RULESET_ID>"),
        state_rm=(
            "# first take the legacy resources out of the configuration: their API is gone",
            "terraform state rm 'cloudflare_waf_rule.<name>'",
            "terraform state rm 'cloudflare_waf_group.<name>'",
            "terraform state rm 'cloudflare_waf_package.<name>'",
            "terraform state rm 'cloudflare_waf_override.<name>'",
            "terraform apply   # the import block takes the ruleset over",
        ),
        custom_rules=tuple(
            {
                "action": "managed_challenge",
                "expression": _on_path(item.path),
                "description": f"Only the previous WAF stopped this (rule {item.rule},"
                f" {counted(item.requests, 'request')})",
                "enabled": False,
            }
            for item in gaps
            if _on_path(item.path)
        ),
        review=tuple(review),
    )


def _on_path(path: str) -> str:
    """An expression for a finding's path, which is cut when it is long and may lack parts; empty where so
    little is left of it that the expression would be about nearly everything.
    """
    quoted = path.replace("\\", "\\\\").replace('"', '\\"')
    if HIDDEN in path:
        if len(path.replace(HIDDEN, "").strip("/")) < LEAST_OF_A_PATH:
            return ""
        return f'(http.request.uri.path wildcard "{quoted.replace(HIDDEN, "*")}")'
    if len(path) < LONGEST_PATH:
        return f'(http.request.uri.path eq "{quoted}")'
    return f'(starts_with(http.request.uri.path, "{quoted}"))'


def terraform(zone: Zone, name: str, body: Mapping[str, Any], ruleset: str) -> str:
    """The zone's entry point as a ``cloudflare_ruleset`` resource with its import block. ``ruleset``: the
    entry point's identifier.
    """
    lines = [
        "import {",
        f"  to = cloudflare_ruleset.{name}_waf_managed",
        f'  id = "zone/{zone.id}/{ruleset}"',
        "}",
        "",
        f'resource "cloudflare_ruleset" "{name}_waf_managed" {{',
        f"  zone_id = {json.dumps(zone.id)}",
        f"  name    = {_quoted(body.get('name', 'default'))}",
        '  kind    = "zone"',
        '  phase   = "http_request_firewall_managed"',
    ]
    for rule in body["rules"]:
        lines += ["", "  rules {"]
        for key in ("action", "expression", "description", "enabled"):
            if key in rule:
                lines.append(f"    {key} = {_quoted(rule[key])}")
        if rule.get("action_parameters"):
            lines += ["    action_parameters {", *_block(rule["action_parameters"], 6), "    }"]
        lines.append("  }")
    return "\n".join([*lines, "}", ""])


def _block(value: Mapping[str, Any], indent: int) -> list[str]:
    pad = " " * indent
    lines: list[str] = []
    for key, item in value.items():
        if isinstance(item, Mapping):
            lines += [f"{pad}{key} {{", *_block(item, indent + 2), f"{pad}}}"]
        elif isinstance(item, list) and item and all(isinstance(part, Mapping) for part in item):
            for part in item:
                lines += [f"{pad}{key} {{", *_block(part, indent + 2), f"{pad}}}"]
        else:
            lines.append(f"{pad}{key} = {_quoted(item)}")
    return lines


def _quoted(value: object) -> str:
    """A JSON value as HCL; ``${`` and ``%{`` would begin a template there."""
    return json.dumps(value, ensure_ascii=False).replace("${", "$${").replace("%{", "%%{")
