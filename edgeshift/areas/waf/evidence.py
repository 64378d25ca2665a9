"""Evidence of a validation window: the old verdicts against the new ones, request by request. Pure.

The new WAF runs first (docs/service.md §3.2). Events of one request share a ray name. A block by the new
WAF is a false-positive candidate; a block by the previous one without a terminating event of the new one is
a gap. While the new rules only log (shadow), both verdicts of each request are seen; when they enforce, a
block by the new WAF hides what the previous one would have said.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from edgeshift.areas.evidence import EvidencePolicy, EvidenceVerdict
from edgeshift.areas.waf.evidence_terms import (
    MOST_CLIENTS,
    MOST_FINDINGS,
    MOST_RULES,
    MOST_SAMPLES,
    Agreement,
    ClientLine,
    Evidence,
    EvidenceCause,
    Finding,
    Kind,
    RuleLine,
)
from edgeshift.areas.waf.names import OWASP_SCORE_RULE
from edgeshift.areas.waf.redacted import redacted_network, redacted_request
from edgeshift.areas.waf.requests import (
    TERMINATING,
    LogsAnyway,
    Read,
    Request,
    Said,
    requests_of,
)
from edgeshift.model.counts import agreed, counted
from edgeshift.model.redacted_path import LONGEST_PATH, redacted_path


@dataclass(frozen=True)
class Window:
    """What is judged beside the events. ``since``, ``until``: requests that began outside are left out, for
    a part of their events may be missing. ``whole``: whether every event could be read. ``known``: rules of
    the new WAF that stopped nothing in an earlier shadow window but what the previous WAF stopped too
    (``agreed_rules``).
    """

    since: datetime | None = None
    until: datetime | None = None
    whole: bool = True
    known: frozenset[str] = frozenset()
    earlier: str = ""


def _never(ruleset: str, rule: str) -> bool:
    return False


def judge(
    events: Iterable[Mapping[str, Any]],
    rulesets: frozenset[str],
    mode: str,
    policy: EvidencePolicy,
    logs_anyway: LogsAnyway = _never,
    window: Window = Window(),
) -> Evidence:
    """Group the events by ray and compare the verdicts.

    ``events`` have the fields of the service's security events (docs/service.md §4.3, observed), in any
    order. ``rulesets``: the managed rulesets of the proposal; events of the new source from other rulesets
    are other products and do not count. In shadow mode an event of the new WAF with action ``log`` stands for
    the block that it would have been, unless ``logs_anyway`` says of its ruleset and rule that the proposal
    itself lets it only log.
    """
    shadow = mode == "shadow"
    read = requests_of(
        events,
        rulesets,
        shadow=shadow,
        logs_anyway=logs_anyway,
        since=window.since,
        until=window.until,
    )
    groups: dict[tuple[Kind, str, str], list[Request]] = defaultdict(list)
    counts: Counter[Kind] = Counter()
    as_before = 0
    for request in read.requests.values():
        kind = _kind(request)
        if kind is None:
            continue
        if kind is Kind.UNSEEN and _first(request.new.rules) in window.known:
            as_before += 1
        counts[kind] += 1
        side = request.new if request.new.said.stops else request.old
        path = redacted_path(request.event.get("clientRequestPath"))
        groups[kind, _first(side.rules), path].append(request)
    verdict, why, cause = _verdict(counts, as_before, read, policy, window)
    found = [
        _finding(*key, some, _verdict_of(key, counts, verdict, policy, window))
        for key, some in groups.items()
    ]
    found.sort(key=lambda finding: (-finding.requests, finding.kind, finding.rule, finding.path))
    apart = [finding for finding in found if finding.kind is not Kind.AGREED]
    alike = [finding for finding in found if finding.kind is Kind.AGREED]
    stopped = [request for request in read.requests.values() if _kind(request) is not None]
    moments = sorted(str(request.event.get("datetime") or "") for request in read.requests.values())
    lines = _rules(stopped)
    return Evidence(
        mode=mode,
        verdict=verdict,
        why=why,
        cause=cause,
        events=read.events,
        compared=read.compared,
        requests=sum(counts.values()),
        agreed=counts[Kind.AGREED],
        false_positives=counts[Kind.FALSE_POSITIVE],
        gaps=counts[Kind.GAP],
        unseen=counts[Kind.UNSEEN],
        as_before=as_before,
        stands_for=sum(request.stands_for for request in stopped),
        clients=len({request.client for request in stopped if request.client}),
        top_clients=_top_clients(stopped),
        since=window.since,
        until=window.until,
        first=moments[0] if moments else "",
        last=moments[-1] if moments else "",
        outside=read.left_out,
        whole=window.whole,
        matrix=_matrix(read),
        rules=lines,
        cannot_see="" if shadow and not counts[Kind.UNSEEN] else _cannot_see(counts[Kind.UNSEEN]),
        findings=tuple(apart[:MOST_FINDINGS]),
        alike=tuple(alike[:MOST_FINDINGS]),
        findings_left_out=max(0, len(apart) - MOST_FINDINGS),
        earlier=window.earlier,
        names={line.rule: read.names[line.rule] for line in lines if line.rule in read.names},
    )


def agreed_rules(evidence: Evidence) -> frozenset[str]:
    """Rules of the new WAF that, in this shadow window, stopped only what the previous WAF stopped too. The
    score rule is never one: it acts on the sum of other rules (docs/service.md §2.4), so that agreement on
    one request says nothing of the next.
    """
    if evidence.mode != "shadow" or evidence.verdict is not EvidenceVerdict.PASS:
        return frozenset()
    return frozenset(
        line.rule
        for line in evidence.rules
        if line.waf == "new" and line.alike and not line.alone and line.rule != OWASP_SCORE_RULE
    )


def _kind(request: Request) -> Kind | None:
    old, new = request.old.said, request.new.said
    if new.stops:
        if old is Said.UNSEEN:
            # An enforcing new WAF that blocks hides the old verdict: a candidate, never agreement.
            return Kind.UNSEEN
        return Kind.AGREED if old.stops else Kind.FALSE_POSITIVE
    return Kind.GAP if old.stops else None


def _cannot_see(stopped: int) -> str:
    return (
        "when the new WAF blocks, the previous one never judges the request: of"
        f" {counted(stopped, 'request')} that the new one stopped it is not seen"
        f" {agreed(stopped, 'whether it is a false positive', 'which are false positives')},"
        " nor what only the previous WAF would still stop once such a rule is set to log"
    )


def _verdict(
    counts: Counter[Kind], as_before: int, read: Read, policy: EvidencePolicy, window: Window
) -> tuple[EvidenceVerdict, str, EvidenceCause | None]:
    wrong = counts[Kind.FALSE_POSITIVE]
    missed = counts[Kind.GAP]
    unseen = counts[Kind.UNSEEN] - as_before
    if wrong > policy.false_positives:
        stops = f"{counted(wrong, 'request')} that only the new WAF stops"
        why = f"{stops}; at most {policy.false_positives} agreed"
        return EvidenceVerdict.FAIL, why, EvidenceCause.FALSE_POSITIVES
    if missed > policy.gaps:
        why = f"{counted(missed, 'request')} that only the previous WAF stops; at most {policy.gaps} agreed"
        return EvidenceVerdict.FAIL, why, EvidenceCause.GAPS
    if unseen > policy.false_positives:
        why = (
            f"{counted(unseen, 'request')} that the new WAF stopped, and what the previous one would have"
            " said of them is not seen"
        )
        return EvidenceVerdict.INCONCLUSIVE, why, EvidenceCause.UNSEEN
    if not window.whole:
        why = "the service holds more events of this window than it gives"
        return EvidenceVerdict.INCONCLUSIVE, why, EvidenceCause.CUT_OFF
    if read.compared < policy.enough:
        why = (
            f"{counted(read.compared, 'event')} of the two WAFs seen;"
            f" {policy.enough:,} {agreed(policy.enough, 'is', 'are')} needed to say anything"
        )
        return EvidenceVerdict.INCONCLUSIVE, why, EvidenceCause.FEW_EVENTS
    seen, stands_for = len(read.requests), sum(request.stands_for for request in read.requests.values())
    if seen < policy.share * stands_for:
        why = (
            f"a sample of {seen} out of about {stands_for} requests was seen;"
            f" {policy.share:.0%} of them are needed to say anything"
        )
        return EvidenceVerdict.INCONCLUSIVE, why, EvidenceCause.SMALL_SAMPLE
    why = f"{counted(counts[Kind.AGREED], 'request')} judged alike, nothing beyond what was agreed"
    if as_before:
        why += f"; {as_before} stopped by rules that agreed in the shadow window"
    return EvidenceVerdict.PASS, why, None


def _verdict_of(
    key: tuple[Kind, str, str],
    counts: Counter[Kind],
    whole: EvidenceVerdict,
    policy: EvidencePolicy,
    window: Window,
) -> EvidenceVerdict:
    """The verdict of one rule on one path: what is allowed is allowed over all of them together."""
    kind, rule, _ = key
    allowed = {Kind.FALSE_POSITIVE: policy.false_positives, Kind.GAP: policy.gaps}
    if kind in allowed and counts[kind] > allowed[kind]:
        return EvidenceVerdict.FAIL
    if kind is Kind.UNSEEN and rule not in window.known:
        return EvidenceVerdict.INCONCLUSIVE
    # What one rule on one path showed is as sound as the window, and no worse for what another rule did.
    return EvidenceVerdict.PASS if whole is EvidenceVerdict.FAIL else whole


def _finding(kind: Kind, rule: str, path: str, requests: list[Request], verdict: EvidenceVerdict) -> Finding:
    new_decided = kind is not Kind.GAP
    own = Counter(rule for one in requests for _, rule in (one.new if new_decided else one.old).rules)
    other = Counter(rule for one in requests for _, rule in (one.old if new_decided else one.new).rules)
    moments = sorted(str(request.event.get("datetime") or "") for request in requests)
    return Finding(
        kind=kind,
        rule=rule,
        path=path,
        requests=len(requests),
        clients=len({request.client for request in requests if request.client}),
        samples=tuple(sorted(redacted_request(request.event) for request in requests)[:MOST_SAMPLES]),
        verdict=verdict,
        stands_for=sum(request.stands_for for request in requests),
        also=tuple(sorted(own.keys() - {rule}))[:MOST_RULES],
        other=tuple(sorted(other))[:MOST_RULES],
        said=tuple(
            Agreement(old=old, new=new, requests=number)
            for (old, new), number in sorted(
                Counter((one.old.said.value, one.new.said.value) for one in requests).items()
            )
        ),
        top_clients=_top_clients(requests),
        first=moments[0],
        last=moments[-1],
    )


def _matrix(read: Read) -> tuple[Agreement, ...]:
    cells = Counter((one.old.said, one.new.said) for one in read.requests.values())
    order = list(Said)
    return tuple(
        Agreement(old=old.value, new=new.value, requests=number)
        for (old, new), number in sorted(
            cells.items(), key=lambda item: (order.index(item[0][0]), order.index(item[0][1]))
        )
    )


def _rules(requests: Iterable[Request]) -> tuple[RuleLine, ...]:
    """Every rule that stopped a request, or would have, on either side; one request may count for several."""
    lines: dict[tuple[str, str, str], Counter[str]] = defaultdict(Counter)
    for request in requests:
        kind = _kind(request)
        word = {Kind.AGREED: "alike", Kind.UNSEEN: "unseen"}.get(kind or Kind.AGREED, "alone")
        for waf, side in (("previous", request.old), ("new", request.new)):
            if side.said.stops:
                for ruleset, rule in side.rules:
                    lines[waf, ruleset, rule][word] += 1
    ranked = sorted(lines.items(), key=lambda item: (-item[1]["alone"], -item[1].total(), item[0]))
    return tuple(
        RuleLine(
            waf=waf,
            ruleset=ruleset,
            rule=rule,
            alike=words["alike"],
            alone=words["alone"],
            unseen=words["unseen"],
        )
        for (waf, ruleset, rule), words in ranked[:MOST_RULES]
    )


def _top_clients(requests: Iterable[Request]) -> tuple[ClientLine, ...]:
    """The clients with the most requests, each by its network alone."""
    counts = Counter(request.client for request in requests if request.client)
    ranked = sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:MOST_CLIENTS]
    return tuple(ClientLine(network=redacted_network(client), requests=number) for client, number in ranked)


def _first(rules: list[tuple[str, str]]) -> str:
    return rules[0][1] if rules else ""


__all__ = [
    "LONGEST_PATH",
    "MOST_FINDINGS",
    "MOST_SAMPLES",
    "TERMINATING",
    "Evidence",
    "EvidencePolicy",
    "Finding",
    "Kind",
    "Window",
    "agreed_rules",
    "judge",
]
