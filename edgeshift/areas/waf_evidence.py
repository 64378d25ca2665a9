"""Evidence of a validation window: the old verdicts against the new ones, request by request. Pure.

The new WAF runs first (docs/service.md §3.2). Events of one request share a ray name. A block by the new
WAF is a false-positive candidate; a block by the previous one without a terminating event of the new one is
a gap. While the new rules only log (shadow), both verdicts of each request are seen; when they enforce, a
block by the new WAF hides what the previous one would have said.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from enum import StrEnum
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

TERMINATING = frozenset(
    {"block", "challenge", "managed_challenge", "jschallenge", "js_challenge", "drop", "connection_close"}
)
OLD_SOURCE = "waf"
NEW_SOURCE = "firewallmanaged"
MOST_SAMPLES = 5
MOST_FINDINGS = 50
LONGEST_PATH = 200
CANNOT_SEE = "when the new WAF blocks, the previous one never judges the request"


class EvidenceVerdict(StrEnum):
    """What the window's evidence says. It may block a sign-off, it never approves."""

    PASS = "pass"
    FAIL = "fail"
    INCONCLUSIVE = "inconclusive"


class Kind(StrEnum):
    """What a finding is about."""

    FALSE_POSITIVE = "false_positive"
    GAP = "gap"
    AGREED = "agreed"


class EvidencePolicy(BaseModel):
    """How much evidence is enough and how much disagreement is too much.

    ``enough``: events that must have been seen for a pass. ``false_positives``, ``gaps``: the most
    disagreeing requests of each kind that still pass.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    enough: int = Field(default=20, ge=0)
    false_positives: int = Field(default=0, ge=0)
    gaps: int = Field(default=0, ge=0)


class Finding(BaseModel):
    """One kind of disagreement by rule and path: how many requests, from how many clients, and a few samples.

    ``rule``: the rule that decided. ``clients``: 0 where the events do not name them. Samples have no query
    string values.
    """

    kind: Kind
    rule: str
    path: str
    requests: int
    clients: int
    samples: tuple[str, ...]


class Evidence(BaseModel):
    """What a validation window saw. ``requests``: distinct rays with a verdict; ``events``: all events read;
    ``compared``: those of them that the two WAFs made.
    """

    mode: str
    verdict: EvidenceVerdict
    why: str
    events: int
    compared: int = 0
    requests: int
    agreed: int
    false_positives: int
    gaps: int
    cannot_see: str = ""
    findings: tuple[Finding, ...] = ()


def _never(ruleset: str, rule: str) -> bool:
    return False


def judge(
    events: Iterable[Mapping[str, Any]],
    rulesets: frozenset[str],
    mode: str,
    policy: EvidencePolicy,
    logs_anyway: Callable[[str, str], bool] = _never,
) -> Evidence:
    """Group the events by ray and compare the verdicts.

    ``events`` have the fields of the service's security events (docs/service.md §4.3, observed).
    ``rulesets``: the managed rulesets of the proposal; events of the new source from other rulesets are
    other products and do not count. In shadow mode an event of the new WAF with action ``log`` stands for
    the block that it would have been, unless ``logs_anyway`` says of its ruleset and rule that the proposal
    itself lets it only log.
    """
    old: dict[str, Mapping[str, Any]] = {}
    new: dict[str, Mapping[str, Any]] = {}
    total = compared = 0
    # In a fixed order, so that of several rules that stop one request the same one is named every time.
    for event in sorted(events, key=_order):
        total += 1
        source, ruleset = str(event.get("source") or "").lower(), str(event.get("rulesetId") or "")
        ray, action = str(event.get("rayName") or ""), str(event.get("action") or "").lower()
        if not ray or not (source == OLD_SOURCE or (source == NEW_SOURCE and ruleset in rulesets)):
            continue
        compared += 1
        if source == OLD_SOURCE:
            if action in TERMINATING:
                old.setdefault(ray, event)
        elif action in TERMINATING or (
            mode == "shadow" and action == "log" and not logs_anyway(ruleset, str(event.get("ruleId") or ""))
        ):
            new.setdefault(ray, event)
    groups: dict[tuple[Kind, str, str], list[Mapping[str, Any]]] = defaultdict(list)
    counts: Counter[Kind] = Counter()
    for ray in old.keys() | new.keys():
        kind = Kind.AGREED if ray in old and ray in new else Kind.FALSE_POSITIVE if ray in new else Kind.GAP
        # An enforcing new WAF that blocks hides the old verdict: a candidate, never agreement.
        event = new.get(ray) or old[ray]
        counts[kind] += 1
        groups[kind, str(event.get("ruleId") or ""), _path(event)].append(event)
    findings = [_finding(*key, found) for key, found in groups.items() if key[0] is not Kind.AGREED]
    findings.sort(key=lambda finding: (-finding.requests, finding.kind, finding.rule, finding.path))
    verdict, why = _verdict(counts, compared, policy)
    return Evidence(
        mode=mode,
        verdict=verdict,
        why=why,
        events=total,
        compared=compared,
        requests=sum(counts.values()),
        agreed=counts[Kind.AGREED],
        false_positives=counts[Kind.FALSE_POSITIVE],
        gaps=counts[Kind.GAP],
        cannot_see="" if mode == "shadow" else CANNOT_SEE,
        findings=tuple(findings[:MOST_FINDINGS]),
    )


def _verdict(counts: Counter[Kind], compared: int, policy: EvidencePolicy) -> tuple[EvidenceVerdict, str]:
    wrong = counts[Kind.FALSE_POSITIVE]
    missed = counts[Kind.GAP]
    if wrong > policy.false_positives:
        why = f"{wrong} request(s) that only the new WAF stops; at most {policy.false_positives} agreed"
        return EvidenceVerdict.FAIL, why
    if missed > policy.gaps:
        why = f"{missed} request(s) that only the previous WAF stops; at most {policy.gaps} agreed"
        return EvidenceVerdict.FAIL, why
    if compared < policy.enough:
        why = f"{compared} event(s) of the two WAFs seen; {policy.enough} are needed to say anything"
        return EvidenceVerdict.INCONCLUSIVE, why
    why = f"{counts[Kind.AGREED]} request(s) judged alike, nothing beyond what was agreed"
    return EvidenceVerdict.PASS, why


def _finding(kind: Kind, rule: str, path: str, events: list[Mapping[str, Any]]) -> Finding:
    return Finding(
        kind=kind,
        rule=rule,
        path=path[:LONGEST_PATH],
        requests=len(events),
        clients=len({event["clientIP"] for event in events if event.get("clientIP")}),
        samples=tuple(sorted(_sample(event) for event in events)[:MOST_SAMPLES]),
    )


def _sample(event: Mapping[str, Any]) -> str:
    query = str(event.get("clientRequestQuery") or "").removeprefix("?")
    # A part without a name is all value.
    names = "&".join(
        f"{part.partition('=')[0]}=…" if "=" in part else "…" for part in query.split("&") if part
    )
    return (
        f"{event.get('datetime', '')} {event.get('clientRequestHTTPMethodName', '')} "
        f"{event.get('clientRequestHTTPHost', '')}{_path(event)}{'?' + names if names else ''}"
        f" ray {event.get('rayName', '')}"
    )[:300]


def _path(event: Mapping[str, Any]) -> str:
    return str(event.get("clientRequestPath") or "").partition("?")[0]


def _order(event: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(
        str(event.get(key) or "") for key in ("rayName", "datetime", "ruleId", "action", "clientRequestPath")
    )
