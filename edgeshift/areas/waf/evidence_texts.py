"""Evidence of a validation window in lines for people. Pure."""

from __future__ import annotations

from edgeshift.areas.waf.evidence_terms import ClientLine, Evidence, Finding, Kind
from edgeshift.model.counts import agreed, counted

KINDS = {
    Kind.FALSE_POSITIVE: "false positive",
    Kind.GAP: "gap",
    Kind.UNSEEN: "not seen",
    Kind.AGREED: "judged alike",
}
"""What a finding is called."""

MEANINGS = {
    Kind.FALSE_POSITIVE: "only the new WAF stops it",
    Kind.GAP: "only the previous WAF stops it",
    Kind.UNSEEN: "the new WAF stopped it; the previous one was not asked",
    Kind.AGREED: "both stop it",
}

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


def finding_line(finding: Finding) -> str:
    """One finding: kind, rule, path, counts, clients, and its own verdict."""
    text = (
        f"{KINDS[finding.kind]}: rule {finding.rule} on {finding.path},"
        f" {counted(finding.requests, 'request')} from {counted(finding.clients, 'client')}"
    )
    if finding.verdict is not None:
        text += f": {finding.verdict.value}"
    if finding.also:
        text += f"; also {_rules(finding.also)}"
    if finding.other:
        text += f"; the other WAF had {_rules(finding.other)}"
    return text


def _rules(names: tuple[str, ...]) -> str:
    shown = names[:5]
    return f"{agreed(len(shown), 'rule')} {', '.join(shown)}"


def clients_line(lines: tuple[ClientLine, ...]) -> str:
    """The clients with the most requests, by their networks; empty where the events named none."""
    return ", ".join(f"{line.network} ({line.requests})" for line in lines)


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


def evidence_lines(found: Evidence, most: int = 10) -> list[str]:
    """Everything that a person should know of it, the most important first; ``most`` findings of a kind."""
    shown = [finding for finding in found.findings if finding.kind is not Kind.UNSEEN][:most]
    shown += [finding for finding in found.findings if finding.kind is Kind.UNSEEN][:most]
    left = len(found.findings) + found.findings_left_out - len(shown)
    lines = [f"{found.mode}: {sample_line(found)}"]
    for finding in shown:
        lines.append(finding_line(finding))
        if finding.top_clients:
            lines.append(f"  most from {clients_line(finding.top_clients)}")
    if left:
        lines.append(f"and {counted(left, 'more finding')} of a rule on a path, in the archive")
    return [*lines, *matrix_lines(found), *limits_lines(found)]
