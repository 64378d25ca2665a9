"""Support cases of the WAF migration: recognising the service's refusal, and the ticket (docs/service.md
§7). Pure.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence

from edgeshift.areas.ticket import AFTERWARDS
from edgeshift.areas.waf.answers import Reading
from edgeshift.areas.waf.reading import Assessment, assess
from edgeshift.model.fleet import Zone
from edgeshift.model.reason_texts import kilobytes
from edgeshift.model.reasons import ReasonCode
from edgeshift.profiles import ServiceProfile


def _words(*alternatives: str) -> re.Pattern[str]:
    return re.compile("|".join(alternatives), re.IGNORECASE)


# What the caller wrote comes back in quotes: whatever stands there is not the service's complaint.
_QUOTED = _words(r"'.*' is not a valid value", r"`[^`]*`", r'"[^"]*"', r"(?<!\w)'[^']*'(?!\w)")
_OTHER_CALLS = (
    r"\brat(?:e|ing)[\s-]?limit",
    r"\brequest rate\b",
    r"too many requests",
    r"\brequests? per\b",
    r"\bper (?:second|minute|hour|day|\w+ (?:second|minute|hour)s?)\b",
    r"\bthrottl",
    r"\bentitle",
    r"\bpermissions?\b",
    r"\bun(?:authori[sz]ed|authenticated)\b",
    r"\bauthenticat",
    r"\bforbidden\b",
    r"\b(?:api )?(?:token|credential)s?\b",
)
_PLAN = r"\b(?:your|current|zone's) plan\b"
_OTHER_THINGS = (
    _PLAN,
    r"\bno longer\b(?! than)",
    r"\bnest(?:ed|ing)\b",
    r"\b(?:page|transform|redirect|origin|cache|configuration) rules?\b",
)
_OTHER_MATTER, _OTHER_CALL = _words(*_OTHER_CALLS, *_OTHER_THINGS), _words(*_OTHER_CALLS)
_CLAUSES = re.compile(r"[;()\[\]]|\.(?=\s|$)")
_LEFT_ALONE = _words(
    r"\bun(?:affected|changed|touched)\b",
    r"(?:\bnot|n't) (?:be )?(?:affected|changed|touched|counted|included|count)\b",
)
_MORE_OF_A_PLAN = _words(r"\b(?:upgrad|allow|permit|includ|rais|increas|entitle|higher|larger|chang|switch)")
_RULE = _words(r"\brules?\b")
_CONDITION = _words(r"\bexpressions?\b", r"\bfilters?\b")
_SIZE = _words(
    r"\b4[\s-]?k\b",
    r"\b\d[\d.,]*[\s-]?k(?:i?b|ilobytes?)\b",
    r"\b4[,. ]?096\b",
    r"\b4000\b",
    r"(?<![.\w])(?:kilobytes?|bytes?|characters?|chars|length|size)\b",
    r"\b(?:too|overly) (?:long|large|big)\b",
    r"\b(?:long|larg|bigg)er\b",
    r"\boversized?\b",
)
_OTHER_PART = _words(r"\b(?:descriptions?|names?|refs?|titles?|positions?|depth)\b")
# Not "failed to": that is said of a try, and with a word for another cause it may be one, too.
_CANNOT_MIGRATE = (
    r"^(?!.*\b(?:internal|errors?|retry|again|later|time[ds]?[\s-]?out|unavailable|locked|invalid)\b)"
    r".*\b(?:unable to|not able to|cannot|can't|can not) (?:\w+ ){0,2}(?:migrate|convert)"
    r" (?:[2-9]\d\d|\d{4,}|\d{1,3}[,. ]\d{3}) (?:\w+[\s-]){0,4}rules?\b"
)
_LIMIT = _words(
    _CANNOT_MIGRATE,
    r"\b(?:too|overly)\b",
    r"\bexceed",
    r"\b(?:over|above|beyond|past|oversized?)\b",
    r"\blimit",
    r"\b(?:max\b|maxim)",
    r"\b(?:more|longer|larger|bigger|greater|higher) than\b",
    r"\b(?:cap|capped|ceiling|threshold|largest|greatest|highest|because of)\b",
    r"\b(?:409[7-9]|4[1-9]\d\d|[5-9]\d{3}|\d{5,}) (?:bytes|characters|chars)\b",
    r"\b(?:at most|up to|only)\b",
    r"\b(?:allowed|permitted|surpass\w*)\b",
    r"\b(?:bytes|characters|kb) long\b",
    r"[<>]|\d\+",
)
_COUNT = _words(
    _CANNOT_MIGRATE,
    r"\b(?:200|201|two hundred)\b",
    r"\btoo many (?:\w+[\s-]){0,4}rules?\b",
    r"\bnumber of (?:\w+[\s-]){0,4}rules?\b",
    r"\brules? (?:count|quota|limit)\b",
    r"\brules? exceed",
    r"\brules?\b\W+(?:\w+\W+){0,3}too many\b",
    r"\bmax(?:imum)? (?:\w+[\s-]){0,3}rules\b",
    r"\b(?:count|quota|limit|maximum) (?:of|for|on) (?:\w+[\s-]){0,4}rules?\b",
    r"\b(?:more than|over|at most|up to|maximum|only) \d+ (?:\w+[\s-]){0,4}rules?\b",
    r"\b(?:has|have|holds?|contains?|found|with) \d[\d,. ]*(?:\w+[\s-]){0,4}rules?\b",
)
_ASKS_FOR_SUPPORT = _words(
    r"\b(?:contact\w*|reach\w* out to|get\w* in touch with|speak\w* (?:to|with)|talk\w* to|ask\w*|e-?mail)"
    r"\s+(?:[\w-]+\s+){0,4}(?:support|account (?:team|manager|executive)|customer success)\b",
    r"\bsupport (?:team|ticket|request|case|engineer)",
    r"\b(?:customer|technical|enterprise) support\b",
    r"\b(?:help|assistance|intervention) (?:of|from|by) (?:[\w-]+\s+){0,3}support\b",
    r"\bsupport (?:must|has to|needs to|can|will|intervention|assistance)\b",
)


def support_cause(messages: Iterable[str]) -> ReasonCode | None:
    """Which support case the service's refusal is, in whatever words and with or without a code, or None.

    The words are not documented (docs/service.md §7), so each message is searched for a subject and for a
    complaint about it, wherever they stand; what it quotes of the caller's own input does not count.
    """
    said = [_QUOTED.sub("…", message).replace("_", " ") for message in messages]
    causes = [cause for message in said if (cause := _limit_passed(message))]
    if causes:
        return causes[0]
    plain = [_without(message, _left_alone) for message in said]
    rest = " ".join(message for message in plain if not _OTHER_MATTER.search(message))
    return ReasonCode.SUPPORT_REFUSAL if _ASKS_FOR_SUPPORT.search(rest) else None


def _without(message: str, aside: Callable[[str], bool]) -> str:
    """The message without the clauses that name another matter by the way alone. Who calls, and how often, is
    never by the way.
    """
    clauses = _CLAUSES.split(message)
    kept = [
        clause
        for clause in clauses
        if not _OTHER_MATTER.search(clause) or _OTHER_CALL.search(clause) or not aside(clause)
    ]
    return message if len(kept) == len(clauses) else "; ".join(kept)


def _left_alone(clause: str) -> bool:
    return bool(_LEFT_ALONE.search(clause)) and not re.search(_PLAN, clause, re.IGNORECASE)


def _by_the_way(clause: str) -> bool:
    """Of a limit: what it leaves alone, and whom to ask, if not for more of a plan."""
    asks = _ASKS_FOR_SUPPORT.search(clause) and not _MORE_OF_A_PLAN.search(clause)
    return _left_alone(clause) or bool(asks)


def _limit_passed(message: str) -> ReasonCode | None:
    message = _without(message, _by_the_way)
    if _OTHER_MATTER.search(message) or not _LIMIT.search(message):
        return None
    sized, counted = bool(_SIZE.search(message)), bool(_COUNT.search(message))
    if sized and _CONDITION.search(message):
        return ReasonCode.EXPRESSION_TOO_LONG
    if counted and (_RULE.search(message) or _CONDITION.search(message)):
        return ReasonCode.TOO_MANY_RULES
    of_rule = sized and _RULE.search(message) and not _OTHER_PART.search(message)
    return ReasonCode.EXPRESSION_TOO_LONG if of_rule else None


def ticket_text(
    zone: Zone, cause: ReasonCode, assessment: Assessment, refusal: Sequence[str], profile: ServiceProfile
) -> tuple[str, str]:
    """The title and the Markdown body of a support ticket: rule identifiers and byte lengths, never
    expressions.
    """
    titles = {
        ReasonCode.TOO_MANY_RULES: (
            f"more than {profile.most_firewall_rules} firewall rules to migrate on {zone.name}"
        ),
        ReasonCode.EXPRESSION_TOO_LONG: (
            f"firewall rule expression over {kilobytes(profile.longest_expression)} on {zone.name}"
        ),
    }
    title = "WAF migration: " + titles.get(cause, f"the service asks to contact support for {zone.name}")
    lines = [
        f"Zone `{zone.name}` (`{zone.id}`), account `{zone.account}`, plan {zone.plan.value}, cannot be"
        " migrated to WAF Managed Rules without the provider's support.",
        "",
        *(f"- {reason}" for reason in assessment.reasons),
        *(f"- the service answered: {' '.join(message.split())[:200]}" for message in refusal),
    ]
    listed = [
        (identifier, size)
        for identifier, size in assessment.rules
        if cause is not ReasonCode.EXPRESSION_TOO_LONG or size > profile.longest_expression
    ]
    if listed:
        lines += ["", "| firewall rule | expression, bytes |", "| --- | ---: |"]
        lines += [f"| `{identifier}` | {size:,} |" for identifier, size in listed]
    lines += ["", AFTERWARDS]
    return title, "\n".join(lines) + "\n"


def ticket_of(
    zone: Zone, cause: ReasonCode, reading: Reading, refusal: Sequence[str], profile: ServiceProfile
) -> tuple[str, str]:
    """The same by what was read of the zone."""
    return ticket_text(zone, cause, assess(reading, profile), refusal, profile)
