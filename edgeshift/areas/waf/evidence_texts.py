"""Evidence of a validation window in lines for people. Pure."""

from __future__ import annotations

from collections import Counter

from edgeshift.areas.evidence import EvidenceVerdict
from edgeshift.areas.waf.evidence_terms import (
    ClientLine,
    Evidence,
    EvidenceCause,
    Finding,
    Kind,
)
from edgeshift.areas.waf.names import Names, named
from edgeshift.model.counts import agreed, counted

MOST_RULES = 5
"""Rules that one finding names of a side."""

KINDS = {
    Kind.FALSE_POSITIVE: "false positive",
    Kind.GAP: "gap",
    Kind.UNSEEN: "not seen",
    Kind.AGREED: "judged alike",
}
"""What a finding is called."""

SAID = {
    "block": "blocks",
    "challenge": "challenges",
    "would_stop": "would stop",
    "log": "logs",
    "none": "lets through",
    "unseen": "was not asked",
}
"""What a WAF does to a request, by the words of Agreement."""

LOG_ONLY = "only log mode was tested: the rules first block after the commit"
CONSENT = "to test blocking before the commit, set consents.enforce_validation and modes: [shadow, enforce]"


CAUSES = {
    EvidenceCause.FALSE_POSITIVES: "the new WAF alone stops requests",
    EvidenceCause.GAPS: "the previous WAF alone stops requests",
    EvidenceCause.UNSEEN: "the new WAF stopped requests of which the previous one was not asked",
    EvidenceCause.CUT_OFF: "the service holds more events than it gives",
    EvidenceCause.FEW_EVENTS: "too few events were seen",
    EvidenceCause.SMALL_SAMPLE: "too small a sample was seen",
    EvidenceCause.NOT_VALIDATING: "the zone was not in validation any more",
    EvidenceCause.OTHER_RULES: "the zone was in validation with other rules",
    EvidenceCause.OTHER_MODE: "the zone was in validation in another mode than the campaign's last",
}
"""Why evidence did not pass."""

_OF_RULES = {
    EvidenceCause.FALSE_POSITIVES: Kind.FALSE_POSITIVE,
    EvidenceCause.GAPS: Kind.GAP,
    EvidenceCause.UNSEEN: Kind.UNSEEN,
}


def rules_of_cause(found: Evidence) -> tuple[str, ...]:
    """The identifiers of the rules for which evidence did not pass, sorted; none where no rule is why."""
    kind = _OF_RULES.get(found.cause) if found.cause else None
    against = (one for one in found.findings if one.verdict is not EvidenceVerdict.PASS)
    return tuple(sorted({one.rule for one in against if one.kind is kind}))


def cause_text(found: Evidence, names: Names | None = None) -> str:
    """Why evidence did not pass, in words that are the same for every zone of which it is true. ``names``: of
    rules.
    """
    if found.cause is None:
        return f"the evidence is: {found.verdict.value}"
    rules = rules_of_cause(found)
    known = {**found.names, **(names or {})}
    return f"{CAUSES[found.cause]}: {_rules(rules, known)}" if rules else CAUSES[found.cause]


def sample_line(found: Evidence) -> str:
    """How much was seen, of how much, and when."""
    text = (
        f"{counted(found.compared, 'event')} of the two WAFs,"
        f" {counted(found.requests, 'request')} stopped by one of them"
        f" from {counted(found.clients, 'client')}"
    )
    if found.stands_for > found.requests:
        text += f"; a sample, which stands for about {counted(found.stands_for, 'request')}"
    if found.since and found.until:
        text += f"; from {found.since:%Y-%m-%d %H:%M:%S} to {found.until:%Y-%m-%d %H:%M:%S} UTC"
    if found.outside:
        are = agreed(found.outside, "is", "are")
        text += f"; {counted(found.outside, 'request')} at the edges of the window {are} not counted"
    return text


def matrix_lines(found: Evidence) -> list[str]:
    """How many requests got which pair of verdicts."""
    return [
        f"previous WAF {SAID.get(cell.old, cell.old)}, new WAF {SAID.get(cell.new, cell.new)}:"
        f" {counted(cell.requests, 'request')}"
        for cell in found.matrix
    ]


def finding_line(finding: Finding, names: Names | None = None, rules: int = MOST_RULES) -> str:
    """One finding: kind, rule, path, counts, clients, and its own verdict. ``names``: of rules; ``rules``:
    how many it names of a side.
    """
    known = names or {}
    text = (
        f"{KINDS[finding.kind]}: rule {named(finding.rule, known)} on {finding.path},"
        f" {counted(finding.requests, 'request')} from {counted(finding.clients, 'client')}"
    )
    if finding.verdict is not None:
        text += f": {finding.verdict.value}"
    if finding.also:
        text += f"; also {_rules(finding.also, known, rules)}"
    if finding.other:
        text += f"; the other WAF had {_rules(finding.other, known, rules)}"
    return text


def _rules(rules: tuple[str, ...], names: Names, most: int = MOST_RULES) -> str:
    shown = [named(rule, names) for rule in rules[:most]]
    more = f" and {len(rules) - most} more" if len(rules) > most else ""
    return f"{agreed(len(rules), 'rule')} {', '.join(shown)}{more}"


def clients_line(lines: tuple[ClientLine, ...]) -> str:
    """The clients with the most requests, each network once; empty where the events named none."""
    networks: Counter[str] = Counter()
    for line in lines:
        networks[line.network] += line.requests
    ranked = sorted(networks.items(), key=lambda item: -item[1])
    return ", ".join(f"{network} ({requests:,})" for network, requests in ranked)


def rule_lines(
    found: Evidence, most: int, names: Names | None = None, where: str = "in the archive"
) -> list[str]:
    """What each rule of both WAFs stopped, with its numbers: those that stopped something alone first."""
    known = {**found.names, **(names or {})}
    lines = []
    for one in found.rules[:most]:
        numbers = [f"{one.alone:,} alone", f"{one.alike:,} with the other WAF"]
        numbers += [f"{one.unseen:,} not seen by it"] if one.unseen else []
        lines.append(f"{one.waf} WAF, rule {named(one.rule, known)} stopped {', '.join(numbers)}")
    if len(found.rules) > most:
        lines.append(f"and {counted(len(found.rules) - most, 'more rule')}: {where}")
    return lines


def limits_lines(found: Evidence) -> list[str]:
    """What this evidence cannot say."""
    lines = []
    if found.cannot_see:
        lines.append(f"cannot see: {found.cannot_see}")
    if found.as_before:
        lines.append(
            f"{counted(found.as_before, 'request')} {agreed(found.as_before, 'was', 'were')} stopped by rules"
            " that, in the shadow window before, stopped nothing but what the previous WAF stopped too"
        )
    if not found.whole:
        lines.append("the service holds more events of this window than it gives; the rest was not judged")
    if found.stands_for > found.requests:
        lines.append("rare requests may be missing: the service samples events")
    if found.mode == "shadow":
        lines += [LOG_ONLY, CONSENT]
    return lines


def evidence_lines(
    found: Evidence,
    most: int = 10,
    names: Names | None = None,
    *,
    rules: int = MOST_RULES,
    where: str = "in the archive",
) -> list[str]:
    """Everything that a person should know of it, the most important first; ``most`` findings of a kind.
    ``names``: of rules, beside those that the evidence has; ``rules``: how many a finding names of a side;
    ``where``: what shows the findings and rules that these lines leave out.
    """
    known = {**found.names, **(names or {})}
    shown = [finding for finding in found.findings if finding.kind is not Kind.UNSEEN][:most]
    shown += [finding for finding in found.findings if finding.kind is Kind.UNSEEN][:most]
    left = len(found.findings) - len(shown)
    lines = [f"{found.mode}: {sample_line(found)}"]
    for finding in shown:
        lines.append(finding_line(finding, known, rules))
        if finding.top_clients:
            lines.append(f"  most from {clients_line(finding.top_clients)}")
    if left:
        lines.append(f"and {counted(left, 'more finding')} of a rule on a path: {where}")
    if more := found.findings_left_out:
        lines.append(
            f"and {counted(more, 'finding')} of a rule on a path that the evidence counts and does not keep"
        )
    return [*lines, *rule_lines(found, most, known, where), *matrix_lines(found), *limits_lines(found)]
