"""The commented campaign file that ``edgeshift init`` writes: every option with its default and what it
means. Pure.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from datetime import timedelta
from enum import StrEnum
from typing import Any

from pydantic import BaseModel

from edgeshift.campaign_mistakes import model_in
from edgeshift.campaign_spec import CampaignSpec, TargetSpec
from edgeshift.durations import say_duration

MEANINGS: dict[str, str] = {
    "name": "Names the campaign: lower-case letters, digits and hyphens. One name is one campaign.",
    "targets": "Which zones. Zones and accounts are named by name or by identifier.",
    "targets.all": "Every zone that the credentials can see.",
    "targets.include": "These zones.",
    "targets.exclude": "Never these zones, whatever else is said.",
    "targets.accounts": "Every zone of these accounts.",
    "targets.plans": "Only zones of these plans: free, pro, business, enterprise, other. Empty: of any plan.",
    "area": "What is changed. waf: from the previous WAF managed rules to WAF Managed Rules.",
    "service": "Where the service is, and how it is called.",
    "service.base_url": "Its address with the path prefix /client/v4. This is the simulator's.",
    "service.credentials": "Credentials. A secret is never written here, only where the worker finds it.",
    "service.credentials.user": "Whose rate limit it counts against; several credentials may share one.",
    "service.credentials.token": "An API token: env:NAME or file:PATH.",
    "service.credentials.key": "In place of a token an API key (env:NAME or file:PATH), together with email.",
    "service.credentials.email": "The e-mail address that goes with key.",
    "service.credentials.accounts": "The accounts it is for. Empty: all that no other credential names.",
    "service.proxy": "A proxy, such as http://proxy.example:3128, without user or password.",
    "service.ca_file": "A file with the certificate authorities to trust, in place of the usual ones.",
    "service.request_limit": "How long one request may take as a whole.",
    "service.patience": "How long readings are tried again before a zone is given up as failed.",
    "service.rate": "The service's rate limit of each user.",
    "service.rate.requests": "So many requests …",
    "service.rate.per": "… in this time.",
    "service.rate.people": "The share that is left to people and other programs: 0.1 is a tenth.",
    "waves": "Waves in order, each with zones (a number) or percent (of all); the rest comes last.",
    "waves.name": "What the wave is called; empty: wave 1, wave 2 …",
    "waves.zones": "How many zones it takes.",
    "waves.percent": "Or which percentage of all targets.",
    "advance": "When the next wave begins.",
    "advance.percent": "As soon as so many percent of the zones so far have an outcome …",
    "advance.failures": "… unless more than so many of them failed or are unknown.",
    "window": "How many zones work at a time. Those that wait do not count.",
    "sign_off": "Who signs. Nothing irreversible happens without it.",
    "sign_off.approvers": "Who may sign, by name. Empty: anybody who can reach Temporal.",
    "sign_off.required": "How many of them must approve.",
    "sign_off.four_eyes": "Whoever started the campaign cannot approve.",
    "sign_off.expires_after": "How long a zone waits before it goes on hold (`reopen` begins it again).",
    "sign_off.valid_for": "How long an approval counts.",
    "validation": "The validation window, which only Enterprise zones have.",
    "validation.window": "How long old and new WAF are compared.",
    "validation.modes": "shadow: new rules only log. enforce: they act (needs a consent). Or both.",
    "validation.evidence": "When the window's evidence passes. It never approves.",
    "validation.evidence.enough": "Events that must have been seen.",
    "validation.evidence.false_positives": "Requests that only the new WAF stops, at most.",
    "validation.evidence.gaps": "Requests that only the previous WAF stops, at most.",
    "consents": "What the campaign may do beyond the ordinary.",
    "consents.delete_uri_overrides": "Delete URI overrides that block a zone; signed off first.",
    "consents.enforce_validation": "Let the new WAF block before anybody agreed to its rules.",
    "adjustments": "Changes to every proposal, beside what the service returns; they are signed off with it.",
    "adjustments.ruleset": "The managed ruleset that is adjusted.",
    "adjustments.rule": "One rule of it; leave it out for the ruleset as a whole.",
    "adjustments.action": "The action to take, such as log or block.",
    "adjustments.enabled": "Whether it is on.",
    "adjustments.score_threshold": "The anomaly score from which the OWASP score rule acts.",
    "commit": "How the irreversible step is made.",
    "commit.migration_limit": "How long the service may take to show the effect.",
    "commit.poll": "How often its status is read meanwhile.",
    "commit.lease": "How long a permit for one step counts.",
    "commit.send_window": "How long a step may take before it is sent: its turn, the fresh reading.",
    "commit.margin": "How long after that and the request's limit its worker is given up.",
    "commit.resend_unchanged": "How often a step of unknown outcome is sent again; 0: a person decides.",
    "tickets": "Where support tickets go. With nothing given: a folder beside the archive.",
    "tickets.folder": "A folder, for one Markdown file each.",
    "tickets.webhook": "Or a URL that gets a POST with an idempotency key.",
    "tickets.secret": "The webhook's secret: env:NAME or file:PATH.",
    "waits_for_support": "How long a zone waits for `support-resolved` before it ends as needs_support.",
    "sweep": "How often the campaign looks for zones that have been silent.",
    "silence": "How long a worker may say nothing of a piece of work before another takes it over.",
    "time_scale": "Divides every duration, for rehearsals. 1 in production.",
}
"""What each option means, by its path without indexes."""

EXAMPLES: dict[str, list[dict[str, Any]]] = {
    "waves": [{"name": "canary", "zones": 5}, {"name": "early", "percent": 10}],
    "adjustments": [
        {
            "ruleset": "efb7b8c949ac4650a09736fc376e9aee",
            "rule": "5de7edfa648c4d6891dc3e7f84534ffa",
            "action": "log",
        }
    ],
}
"""Lists that are empty by default, and what one could write."""

PLACEHOLDER = "www.shop.example"

_HEAD = """\
# A campaign of edgeshift. Every option is here with its default and may be left out,
# but for name and targets. Durations are written as 90s, 10m, 72h, 14d or 1h30m.
#
#   edgeshift plan FILE      reads every zone and shows what would happen; it changes nothing
#   edgeshift start FILE     starts the campaign; nothing irreversible happens without a sign-off
"""


def campaign_text(name: str) -> str:
    """A campaign file with every option at its default, and one zone of no meaning as its target."""
    spec = CampaignSpec(name=name, targets=TargetSpec(include=(PLACEHOLDER,)))
    lines = [_HEAD.replace("FILE", f"{name}.yaml").rstrip()]
    for key in CampaignSpec.model_fields:
        lines += ["", *_option(spec, key, "", 0)]
    return "\n".join(lines) + "\n"


def _mapping(model: BaseModel, path: str, depth: int) -> Iterator[str]:
    for key in type(model).model_fields:
        yield from _option(model, key, path, depth)


def _option(model: BaseModel, key: str, path: str, depth: int) -> Iterator[str]:
    pad = "  " * depth
    inner, value = f"{path}{key}", getattr(model, key)
    yield f"{pad}# {MEANINGS[inner]}"
    if isinstance(value, BaseModel):
        yield f"{pad}{key}:"
        yield from _mapping(value, f"{inner}.", depth + 1)
    elif model_in(type(model).model_fields[key].annotation) is None:
        yield f"{pad}{key}: {_plain(value)}"
    elif value:
        yield f"{pad}{key}:"
        for item in value:
            yield from _item(item, f"{inner}.", depth + 1)
    else:
        yield f"{pad}{key}: []"
        yield from _example(type(model), key, inner, pad)


def _item(model: BaseModel, path: str, depth: int) -> Iterator[str]:
    """One item of a list: its first line begins with a hyphen."""
    pad = "  " * depth
    first = True
    for line in _mapping(model, path, depth + 1):
        if first and not line.lstrip().startswith("#"):
            yield f"{pad}- {line.lstrip()}"
            first = False
        else:
            yield line


def _example(model: type[BaseModel], key: str, path: str, pad: str) -> Iterator[str]:
    """What an empty list could hold, as comments that become the real thing without their ``# ``."""
    inner = model_in(model.model_fields[key].annotation)
    assert inner is not None
    yield f"{pad}# For example, in place of the []; the keys of each are:"
    for field in inner.model_fields:
        yield f"{pad}#   {field}: {MEANINGS[f'{path}.{field}']}"
    for example in EXAMPLES[path]:
        yield f"{pad}# - {{{', '.join(f'{name}: {_plain(value)}' for name, value in example.items())}}}"


def _plain(value: object) -> str:
    """A value as YAML."""
    if isinstance(value, timedelta):
        return say_duration(value).replace(" ", "")
    if isinstance(value, StrEnum):
        return value.value
    if isinstance(value, (tuple, list)):
        return f"[{', '.join(map(_plain, value))}]"
    if isinstance(value, Mapping):
        return json.dumps(value)
    if value is None:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return f"{value:g}"
    if isinstance(value, str):
        # Words that are safe as they stand are easier to read without quotes.
        safe = value and all(char.isalnum() or char in "-_./:" for char in value) and not value.isdigit()
        return value if safe and not value.endswith(":") else json.dumps(value)
    return str(value)
