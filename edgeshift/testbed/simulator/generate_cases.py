"""The settings that generated zones have, as data: common shapes, which repeat, and rare cases.

A shape names its zone only by the zone's name, so that all zones of one shape get one fingerprint.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from edgeshift.profiles import SPECIFICATION

Settings = dict[str, Any]

MOST_RULES = SPECIFICATION.most_firewall_rules
MOST_BYTES = SPECIFICATION.longest_expression


@dataclass(frozen=True)
class Case:
    """One way to set up a zone. `settings` takes the zone's name; `plan` where the case needs one."""

    key: str
    settings: Callable[[str], Settings]
    plan: str | None = None
    weight: int = 1


def _waf(sensitivity: str = "high", action_mode: str = "challenge", **more: Any) -> Settings:
    return {"previous_waf": {"owasp": {"sensitivity": sensitivity, "action_mode": action_mode}, **more}}


def _bypass(expression: str, description: str, *products: str) -> Settings:
    return {"expression": expression, "products": list(products or ("waf",)), "description": description}


def _page(pattern: str, setting: str, value: str | None = None, priority: int = 1) -> Settings:
    action = {"id": setting} if value is None else {"id": setting, "value": value}
    return {"targets": [pattern], "actions": [action], "priority": priority}


OFFICE = _bypass("ip.src in {192.0.2.0/24}", "Office network")
WEBHOOK = _bypass(
    'http.request.uri.path eq "/webhooks/payment" and http.request.method eq "POST"', "Payment webhook"
)
MONITOR = _bypass('http.user_agent eq "uptime-check/1.4"', "Availability checks", "waf", "uaBlock")
RATE = _bypass('starts_with(http.request.uri.path, "/api/")', "Partners are not limited", "rateLimit")
BLOCK = {
    "expression": 'http.request.uri.path contains "/xmlrpc.php"',
    "action": "block",
    "description": "No XML-RPC",
}


def many_rules(count: int, *products: str) -> list[Settings]:
    """So many bypassing rules, each for one path of a large application."""
    return [
        _bypass(
            f'http.request.uri.path eq "/app/module-{number:03d}/upload"', f"Module {number:03d}", *products
        )
        for number in range(1, count + 1)
    ]


def expression_of(size: int, character: str = "x") -> str:
    """A valid expression of exactly `size` bytes of UTF-8 (at least 40), padded with `character`."""
    start, end = 'http.request.uri.path contains "/', '"'
    left = size - len(start) - len(end)
    wide = len(character.encode())
    return start + "a" * (left % wide) + character * (left // wide) + end


def _common(key: str, settings: Callable[[str], Settings], weight: int) -> Case:
    return Case(key, settings, weight=weight)


COMMON: tuple[Case, ...] = (
    _common("defaults", lambda _: {}, 24),
    _common("medium_block", lambda _: _waf("medium", "block"), 14),
    _common("low_challenge", lambda _: _waf("low"), 10),
    _common("core_off", lambda _: _waf("off"), 10),
    _common("office_bypass", lambda _: {"firewall_rules": [OFFICE, BLOCK]}, 9),
    _common("three_bypasses", lambda _: {"firewall_rules": [OFFICE, WEBHOOK, MONITOR, RATE]}, 6),
    _common("page_rule_off", lambda name: {"page_rules": [_page(f"*{name}/api/*", "waf", "off")]}, 5),
    _common(
        "page_rule_security",
        lambda name: {"page_rules": [_page(f"{name}/webhooks/*", "disable_security")]},
        4,
    ),
    _common("waf_off", lambda _: {"previous_waf": {"enabled": False}}, 5),
    _common(
        "tuned",
        lambda _: {
            "previous_waf": {
                "owasp": {"sensitivity": "medium", "rules": {"981138": "off", "950921": "off"}},
                "managed": {"groups": {"Managed WordPress": "off"}, "rules": {"PHP100011": "simulate"}},
            }
        },
        5,
    ),
)

RARE: tuple[Case, ...] = (
    Case("simulate", lambda _: _waf("high", "simulate"), weight=6),
    Case(
        "uri_override",
        lambda name: {"uri_overrides": [{"urls": [f"{name}/wp-admin/*"], "rules": {"WP0001": "disable"}}]},
        weight=12,
    ),
    Case(
        "two_uri_overrides",
        lambda name: {
            "uri_overrides": [
                {"urls": [f"{name}/api/*"], "rules": {"100008": "simulate"}},
                {
                    "urls": [f"{name}/admin/*", f"www.{name}/admin/*"],
                    "groups": {"Managed Php": "disable"},
                    "priority": 2,
                },
            ]
        },
        weight=3,
    ),
    Case("too_many_rules", lambda _: {"firewall_rules": many_rules(MOST_RULES + 1)}),
    Case("far_too_many_rules", lambda _: {"firewall_rules": [*many_rules(MOST_RULES + 60), RATE, BLOCK]}),
    Case("most_rules", lambda _: {"firewall_rules": [*many_rules(MOST_RULES), RATE, BLOCK]}),
    Case(
        "many_other_rules", lambda _: {"firewall_rules": [*many_rules(MOST_RULES + 30, "rateLimit"), OFFICE]}
    ),
    Case(
        "expression_too_long",
        lambda _: {"firewall_rules": [_bypass(expression_of(MOST_BYTES + 1), "Long path")]},
    ),
    Case(
        "expression_too_long_in_bytes",
        lambda _: {
            "firewall_rules": [OFFICE, _bypass(expression_of(MOST_BYTES + 2, "ü"), "Long path with umlauts")]
        },
    ),
    Case(
        "longest_expression",
        lambda _: {"firewall_rules": [_bypass(expression_of(MOST_BYTES, "語"), "Longest path")]},
    ),
    Case(
        "both_limits",
        lambda _: {
            "firewall_rules": [
                *many_rules(MOST_RULES + 5),
                _bypass(expression_of(MOST_BYTES + 300), "Long path"),
            ]
        },
    ),
    Case("migrated", lambda _: {"migration": {"state": "complete"}}, weight=10),
    Case("always_new", lambda _: {"migration": {"state": "default"}}, weight=3),
    Case("in_validation", lambda _: {"migration": {"state": "validation"}}, plan="enterprise", weight=4),
    Case(
        "in_validation_logging",
        lambda _: {"migration": {"state": "validation", "entry_point": "log_only"}},
        plan="enterprise",
        weight=4,
    ),
    Case(
        "false_positives",
        lambda _: {
            "traffic": {"false_positives": [{"kind": "rich_text", "path": "/editor/save", "per_hour": 4}]}
        },
        plan="enterprise",
        weight=6,
    ),
    Case(
        "false_positives_many",
        lambda _: {
            **_waf("medium", "block"),
            "traffic": {
                "false_positives": [
                    {"kind": "sql_in_text", "path": "/blog/admin/posts", "per_hour": 3},
                    {"kind": "template_editor", "path": "/settings/theme", "per_hour": 2},
                    {"kind": "shell_in_text", "path": "/docs/edit", "per_hour": 1},
                ]
            },
        },
        plan="enterprise",
        weight=3,
    ),
    Case(
        "false_positives_unseen",
        lambda _: {
            "traffic": {"false_positives": [{"kind": "rich_text", "path": "/cms/page", "per_hour": 5}]}
        },
        plan="business",
        weight=4,
    ),
    Case(
        "gaps",
        lambda _: {"traffic": {"gaps": [{"kind": "cms_plugin_probe", "per_hour": 3}]}},
        plan="enterprise",
        weight=5,
    ),
    Case(
        "gaps_many",
        lambda _: {
            "traffic": {
                "gaps": [{"kind": "comment_spam"}, {"kind": "email_harvester"}, {"kind": "legacy_cgi"}]
            }
        },
        plan="enterprise",
        weight=2,
    ),
    Case(
        "lost_rule_setting",
        lambda _: {
            "previous_waf": {"managed": {"rules": {"100045": "disable"}}},
            "migration": {"managed_settings": "lost"},
        },
        plan="enterprise",
        weight=3,
    ),
    Case("silent", lambda _: {"traffic": {"requests_per_minute": 0}}, plan="enterprise", weight=2),
    Case("managed_off", lambda _: {"previous_waf": {"managed": {"enabled": False}}}, weight=3),
    Case(
        "page_rule_on",
        lambda name: {
            "previous_waf": {"enabled": False},
            "page_rules": [_page(f"{name}/login*", "waf", "on")],
        },
        weight=3,
    ),
    Case(
        "page_rules_overlapping",
        lambda name: {
            "page_rules": [
                _page(f"*{name}/api/login*", "waf", "on", 3),
                _page(f"*{name}/api/*", "waf", "off", 2),
                _page(f"*{name}/images/*", "cache_level", "cache_everything", 1),
            ]
        },
        weight=3,
    ),
    Case("paused_zone", lambda _: {"paused": True}, weight=2),
    Case("pending_zone", lambda _: {"status": "pending"}, weight=2),
)

_COMMON_BY_PLAN = tuple(
    Case(case.key, case.settings, plan)
    for place, case in enumerate(COMMON)
    for plan in (
        ("pro", "business", "enterprise")[place % 3 :] + ("pro", "business", "enterprise")[: place % 3]
    )[:2]
)

CASES: tuple[Case, ...] = (
    Case("defaults", lambda _: {}, "pro"),
    Case("defaults", lambda _: {}, "enterprise"),
    Case("defaults", lambda _: {}, "business"),
    Case("defaults", lambda _: {}, "free"),
    *RARE,
    Case("migrated", lambda _: {"migration": {"state": "complete"}}, "enterprise"),
    Case("page_rule_off", COMMON[6].settings, "enterprise"),
    Case("three_bypasses", COMMON[5].settings, "enterprise"),
    *_COMMON_BY_PLAN,
)
"""Every case at least once, the telling ones first: what a small fleet begins with."""
