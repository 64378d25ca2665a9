"""The one place where a reason becomes a sentence: one entry for each code. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from edgeshift.model.counts import agreed, counted
from edgeshift.model.fleet import Plan
from edgeshift.model.reasons import Reason, ReasonCode

LOOK = "a person has to look at it"


def text_of(*why: Reason) -> str:
    """The reasons as people read them, one after the other; empty for none."""
    return "; ".join(filter(None, (reason.words or _made(reason) for reason in why)))


def _made(reason: Reason) -> str:
    # A code of an installed area comes with its words; without them, it says more than nothing.
    text = TEXTS.get(reason.code)
    return text(reason) if text else reason.code.value


def _joined(*parts: str) -> str:
    return "; ".join(filter(None, parts))


def _because(why: Reason, *more: str) -> str:
    return _joined(text_of(*why.because), *more)


def _words(why: Reason) -> str:
    return why.said


def _failed(why: Reason) -> str:
    """Of one that was tried until its time was over, which one it was: the server does not say what went
    wrong last.
    """
    if not why.tried:
        return why.said
    said = f": {why.said}" if why.said else ""
    return f"{why.tried.replace('_', ' ')} did not succeed in time, however often it was tried{said}"


def _refuses(why: Reason) -> str:
    # What it said of a reading, which is asked for again once support has acted.
    return f"the service refuses: {why.said}"


def _not_entitled(why: Reason) -> str:
    said = f"; the service says: {why.said}" if why.said else ""
    if not why.plan:
        return f"Edge Side Code is for some enterprise customers, and the service lets it have none{said}"
    plan = f"this zone is {why.plan}"
    if why.plan == Plan.OTHER:
        plan = "the service does not say what plan this zone has, or names one that is not known"
    return f"log jobs and custom log fields are for Enterprise zones; {plan}{said}"


def _no_log_job(why: Reason) -> str:
    what = "it has no log job of http_requests"
    if why.count:
        jobs = counted(why.count, "log job")
        what = f"its {jobs} of http_requests {agreed(why.count, 'is', 'are')} disabled"
    return f"{what}: enable one, or name one for such zones under log_fields.job"


def _too_many_fields(why: Reason) -> str:
    over = (why.count or 0) - (why.limit or 0)
    return (
        f"the zone has {why.of} custom fields and would have {why.count}: it takes {why.limit} at most;"
        f" take {over} out of its rules, or of the campaign"
    )


def _kilobytes(size: int | None) -> str:
    return f"{(size or 0) / 1024:.1f} KB"


def kilobytes(size: int) -> str:
    """A limit in kilobytes: ``4 KB``."""
    return f"{size / 1024:.0f} KB"


def _room(why: Reason) -> str:
    return kilobytes(why.limit or 0)


def _stored_rules_differ(why: Reason) -> str:
    logs = agreed(len(why.names), "logs", "log")
    weaker = f": {'; '.join(why.names)[:120]} only {logs} now" if why.names else ""
    return f"migrated, but the stored rules differ from the signed body{weaker}"


def _migrated(why: Reason) -> str:
    before = f"it was sent before: {text_of(*why.because)}" if why.because else ""
    return _joined("new WAF on, previous one off, stored rules as signed", before)


def _rolled_back(why: Reason) -> str:
    after = f": {text_of(*why.then)}" if why.then else ""
    return f"{text_of(*why.because)}; rolled back in {why.seconds or 0:.1f} s{after}"


def _not_rolled_back(why: Reason) -> str:
    return (
        f"{text_of(*why.because)}; and it could not be rolled back: {text_of(*why.then)};"
        " a person has to do it now"
    )


def _held_by_another(why: Reason) -> str:
    return f"already in {why.by}{f', with all of {why.names[0]}' if why.names else ''}"


def _hosts_unmarked(why: Reason) -> str:
    hosts = why.count or 0
    more = f" and {hosts - len(why.names)} more" if hosts > len(why.names) else ""
    named = f": {', '.join(why.names)}{more}" if why.names else ""
    answer = agreed(hosts, "answers", "answer")
    return f"{counted(hosts, 'host')} {answer} without the mark of the edge (CF-Ray){named}"


def _urls_answer(why: Reason) -> str:
    return f"{counted(why.count or 0, 'URL')} {agreed(why.count or 0, 'answers', 'answer')}"


def _stay(why: Reason) -> str:
    differences = counted(why.of or 0, "difference")
    return f"{why.count} of {differences} to before {agreed(why.count or 0, 'stays', 'stay')}"


def _seen_of(why: Reason) -> str:
    entries = counted(why.size or 0, "log entry", "log entries")
    return f"{why.count} of {counted(why.of or 0, 'field')} seen in {entries}"


def _fields_seen(why: Reason) -> str:
    return "; ".join([_seen_of(why), *why.names])


def _workflow_ended(why: Reason) -> str:
    if not why.state:
        return f"its workflow was ended: {why.said}"
    return f"workflow {why.state}; {why.said}"


def _plan_unknown(why: Reason) -> str:
    if why.plan in ("", None, Plan.OTHER):
        return (
            "the service does not say what plan it has, or names one that is not known: it may be an"
            " Enterprise zone, which is validated before its commit; have the provider say its plan, then"
            " retry it"
        )
    return (
        f"its plan was not known when the campaign's list was made, and is {why.plan} now: put it into"
        " another campaign, which lists it as it is"
    )


def _page_rule_pattern(why: Reason) -> str:
    count = why.count or 0
    what = why.said or (
        "a star in the middle, which no rule of the new WAF says without the operator wildcard, and by its"
        " profile the service does not know that"
    )
    return (
        f"{counted(count, 'URL pattern')} of page rules that turn the WAF off, or come before one that does,"
        f" {agreed(count, 'has', 'have')} {what}"
        f" ({', '.join(why.names)}{', …' if count > len(why.names) else ''})"
    )


_C = ReasonCode

TEXTS: Mapping[ReasonCode, Callable[[Reason], str]] = {
    _C.OTHER: _words,
    # What reading tells.
    _C.ALREADY_MIGRATED: lambda why: (
        f"the migration is over: the previous WAF is off; the status of the new one is {why.state}"
        if why.state
        else "the new WAF is on, the previous one off"
    ),
    _C.ALREADY_IN_VALIDATION: lambda why: "the zone is already in validation mode",
    _C.TOO_MANY_RULES: lambda why: (
        f"{why.count} firewall rules to migrate; the service migrates at most {why.limit}"
    ),
    _C.EXPRESSION_TOO_LONG: lambda why: (
        f"{counted(why.count or 0, 'firewall rule expression')} over {why.limit or 0:,} bytes,"
        f" the longest {why.size or 0:,}"
    ),
    _C.SUPPORT_REFUSAL: _refuses,
    _C.URI_OVERRIDES: lambda why: (
        f"{counted(why.count or 0, 'URI-based WAF override')} must be deleted before the zone is eligible"
        f" ({', '.join(why.names)}{', …' if (why.count or 0) > len(why.names) else ''})"
    ),
    _C.NOT_COMPATIBLE: lambda why: (
        "the service says that the zone is not compatible in its current configuration"
    ),
    _C.EMPTY_CONFIGURATION: lambda why: (
        "the service returns a new configuration without any rule: sent, it would protect nothing"
    ),
    _C.LOG_ONLY: lambda why: "its configuration would only log, and such a body is never committed",
    _C.UNPROTECTED: lambda why: (
        "its new configuration runs no managed rule on any request, and the previous WAF is on; name the zone"
        " under consents.unprotected to let it move all the same"
    ),
    _C.RULES_REPLACED: lambda why: (
        f"the change would replace {counted(why.count or 0, 'rule')} that edgeshift did not write"
        f" ({'; '.join(why.names)}{'; …' if (why.count or 0) > len(why.names) else ''}); name the zone under"
        " consents.replaced_rules to let it move without what it has"
    ),
    _C.PAGE_RULE_PATTERN: _page_rule_pattern,
    _C.OTHER_PLAN: lambda why: (
        f"its plan is {why.plan} now, and enterprise in the campaign's list:"
        " it has no validation window any more"
    ),
    _C.PLAN_UNKNOWN: _plan_unknown,
    _C.ESC_OFF_ALREADY: lambda why: "Edge Side Code is off for all requests already",
    _C.REMOVED: lambda why: (
        f"Edge Side Code was removed on {why.day}, and the service says it is {why.at}:"
        " there is nothing left to turn off"
    ),
    _C.SECRET_NOT_SENDABLE: lambda why: (
        "its secret cannot be sent as a cookie, so that nothing can be probed:"
        f" up to {why.limit or 0:,} ASCII letters, digits and signs are right, but no spaces, quotes, commas,"
        " semicolons and backslashes; set another secret"
    ),
    _C.ACCOUNT_ZONES_HELD: lambda why: (
        f"zones of the account are worked on by others: {'; '.join(why.names)}"
    ),
    _C.FIELDS_IN_PLACE: lambda why: "every field is logged, and every log job lists what it needs",
    _C.WRONG_NAMES: _words,
    _C.NOT_ENTITLED: _not_entitled,
    _C.TOO_MANY_FIELDS: _too_many_fields,
    _C.NO_LOG_JOB: _no_log_job,
    _C.ODD_LOG_JOB: lambda why: f"log job {', '.join(why.names)}: {why.said}",
    _C.ODD_RULES: lambda why: f"{why.said}: somebody else's rules are sent back as they are, or not at all",
    _C.FIELDS_OFTEN_CUT_OFF: lambda why: (
        f"at the 95th percentile of {why.of} sampled requests these fields take"
        f" {_kilobytes(why.size)} of {_room(why)}: what comes last is cut off"
    ),
    _C.FIELDS_CUT_OFF: lambda why: (
        f"in {why.count} of {why.of} sampled requests these fields take more than {_room(why)}"
        f" (up to {_kilobytes(why.size)}): what comes last is cut off"
    ),
    _C.FIELDS_NEARLY_FULL: lambda why: (
        f"in sampled requests these fields take up to {_kilobytes(why.size)} of {_room(why)}:"
        " there is little room left"
    ),
    _C.FIELD_NAMES_UNKNOWN: lambda why: (
        f"whether the service has the log fields of the new job is not known ({why.said}): it may leave out"
        " those that it does not have, without a word"
    ),
    _C.FIELDS_SIZE_UNKNOWN: lambda why: (
        f"how much custom field data its requests have is not known: {why.said}"
    ),
    # What a target waits for.
    _C.VALIDATION_ADOPTED: lambda why: "in validation already, window counts from adoption",
    _C.VALIDATION_WINDOW: lambda why: f"validation window ({why.state})",
    _C.WATCHED: lambda why: f"watched for {why.said}",
    _C.EARLIER_CHANGE_AWAITED: lambda why: "what was sent before is waited for",
    _C.NO_ROOM_BY_ROOTS: _words,
    _C.CREDENTIAL_REFUSED: _failed,
    _C.CREDENTIAL_MISSING: _failed,
    _C.SERVICE_OUTAGE: _words,
    # What people decided, or did not.
    _C.REJECTED: lambda why: f"rejected by {why.by}: {why.said or 'no reason given'}",
    _C.REJECTED_BEFORE: lambda why: (
        "rejected before the campaign was started again, and proposed unchanged; reopen restarts it"
    ),
    _C.WAY_BACK_TAKEN_UP: lambda why: "its rollback had been sent when its workflow was reset",
    _C.REJECTION_NOT_RECORDED: lambda why: (
        f"not recorded for when the campaign is started again: {text_of(*why.because)}"
    ),
    _C.NOT_SIGNED: lambda why: f"not sent, by the worker's roots of authority: {why.said}",
    _C.SIGN_OFF_NOT_COUNTED: lambda why: (
        f"not sent, for its sign-off does not count by the worker's roots: {why.said};"
        " reopen it, then sign it off again"
    ),
    _C.NOT_SIGNED_IN_TIME: lambda why: "sign-off expired; reopen it to wait for a sign-off again",
    _C.CAMPAIGN_ABORTED: lambda why: f"campaign aborted by {why.by}: {why.said or 'no reason'}",
    _C.CANCELLED: lambda why: f"ended by {why.by}",
    _C.ATTEMPT_OVER: lambda why: f"ended by {why.by}",
    _C.CAMPAIGN_OVER: lambda why: f"ended by {why.by}",
    _C.WORKFLOW_ENDED: _workflow_ended,
    _C.NOT_ON_RECORD: lambda why: f"told as {why.state}, which no worker has signed: {why.said}",
    _C.HELD_BY_ANOTHER: _held_by_another,
    _C.EARLIER_ATTEMPT_OPEN: lambda why: "its previous attempt does not close",
    # What the service was asked, and did not do.
    _C.CHANGE_REFUSED: lambda why: f"the service refused it: {why.said}",
    _C.EDITED_SINCE: lambda why: f"it was not sent: {why.said}",
    _C.DELETION_REFUSED: lambda why: f"deleting the URI overrides was refused: {why.said}",
    _C.SECRET_REFUSED: lambda why: f"the service refused the test secret: {why.said}",
    _C.GIVEN_UP: lambda why: f"given up after {why.count} tries: {why.said}",
    # What was seen of a change.
    _C.MIGRATED_AS_SIGNED: _migrated,
    _C.STORED_RULES_DIFFER: _stored_rules_differ,
    _C.STATUS_SHOWS: lambda why: f"the status shows {why.state}",
    _C.STATUS_CHANGED: lambda why: f"the status has changed to {why.state!r}",
    _C.STATUS_STAYED: lambda why: f"the status stayed {why.state!r} for as long as a migration may take",
    _C.STATUS_UNREADABLE: lambda why: f"the status could not be read to the end: {why.said}",
    _C.VALIDATION_NOT_SHOWN: lambda why: (
        f"the validation was sent but does not show: {text_of(*why.because)}"
    ),
    _C.ESC_OFF: lambda why: "esc is off",
    _C.ESC_ON: lambda why: "esc is on",
    _C.ESC_STAYED_ON: lambda why: "esc stayed on for as long as a change may take",
    _C.ESC_STAYED_OFF: lambda why: "esc stayed off for as long as a change may take",
    _C.ESC_OFF_BY_URLS: lambda why: "esc is off, by what the URLs answer",
    _C.ESC_ON_BY_URLS: lambda why: "the service shows the secret alone, and the URLs esc on",
    _C.ESC_TURNED_ON: lambda why: "somebody turned esc on again meanwhile",
    _C.SECRET_ALONE: lambda why: "the service shows the secret alone",
    _C.NO_URL_TELLS: lambda why: "the service shows the secret alone, and no URL tells for certain",
    _C.NOT_SHOWN_AND_WORSE: lambda why: f"it does not show, and {'; '.join(why.names)}"[:200],
    _C.SETTING_UNREADABLE: lambda why: f"the setting could not be read to the end: {why.said}",
    _C.HOSTS_UNMARKED: _hosts_unmarked,
    _C.URLS_CHANGED: lambda why: (
        f"the URLs answer differently than before it was sent, and the setting does not show it; {LOOK}"
    ),
    _C.URLS_CONTRADICT: lambda why: "the service shows esc off, and the URLs answer as if it were on",
    _C.URLS_WORSE: lambda why: "; ".join(why.names)[:200],
    _C.URLS_AS_AGREED: lambda why: f"esc off, {_urls_answer(why)} as was agreed",
    _C.URLS_AS_BEFORE: lambda why: f"{_urls_answer(why)} as before",
    _C.URLS_NOT_AS_BEFORE: lambda why: f"esc is on again, and yet: {'; '.join(why.names)}"[:200],
    _C.ACCOUNT_OFF: lambda why: (
        "the zone's own setting has esc on again, and its account's has it off for all its zones:"
        f" {_stay(why)}"
    ),
    _C.DIFFERENCES_STAY: _stay,
    _C.SECRET_DROPPED: lambda why: "the service has dropped the scope's own secret, set it again",
    _C.HELD_AFTER_TURNED_OFF: lambda why: _because(why, "it was turned off before", LOOK),
    _C.FIELDS_LOGGED: lambda why: "the fields are logged",
    _C.FIELDS_OUT: lambda why: "the fields are out again",
    _C.FIELDS_LACKING: lambda why: why.said[:200],
    _C.FIELDS_STAY: lambda why: why.said[:200],
    _C.FIELDS_TAKEN_OUT: lambda why: "rules and log jobs are without the campaign's fields",
    _C.FIELDS_CHANGED_BY_OTHERS: lambda why: f"somebody has changed it meanwhile: {why.said}"[:200],
    _C.WRITE_LOST: _words,
    _C.FIELDS_OF_OTHERS_STOPPED: lambda why: (
        "fields of others' rules stopped coming when the campaign's came: the service seems to log the fields"
        f" of one rule alone ({', '.join(why.names)})"
    )[:400],
    _C.FIELDS_NOT_VERIFIED: lambda why: f"not verified: {why.said}"[:200],
    _C.FIELDS_KEPT_UNVERIFIED: lambda why: f"written, but not verified: {why.said}",
    _C.FIELDS_SEEN: _fields_seen,
    _C.ZONE_UNREADABLE: lambda why: f"the zone could not be read to the end: {why.said}",
    # What became of a change, in every area.
    _C.NOT_SEEN: lambda why: _because(why, text_of(*why.then), LOOK),
    _C.NEVER_SHOWED: lambda why: _joined(why.said or "sent", text_of(*why.because), "retry it by hand"),
    _C.EARLIER_CHANGE_UNCLEAR: lambda why: _because(
        why, f"a change that was sent before may be in force: {text_of(*why.then)}", LOOK
    ),
    _C.PART_MAY_BE_LEFT: lambda why: _because(
        why, f"whether a part of the change is left cannot be said: {text_of(*why.then)}", LOOK
    ),
    _C.ROLLED_BACK: _rolled_back,
    _C.NOT_ROLLED_BACK: _not_rolled_back,
    _C.ROLLBACK_NOT_MADE: _words,
    _C.NOT_WATCHED: lambda why: f"it could not be watched: {text_of(*why.because)}"[:200],
    _C.NOT_LOOKED_AT_AGAIN: lambda why: f"it could not be looked at again: {text_of(*why.because)}"[:200],
    _C.NOT_READ_BACK: lambda why: f"the service could not be read: {text_of(*why.because)}"[:200],
    # Why nothing is signed of a look at a change, in every area.
    _C.CHANGE_NOT_SIGNED: lambda why: "no worker has signed that this campaign made the change",
    _C.WATCHED_TOO_SHORT: lambda why: "it has not been watched for as long as it is to be",
    _C.MADE_BY_OTHERS: lambda why: "what the campaign sent never showed: somebody else has made the change",
    _C.MAY_STILL_SHOW: lambda why: "a change that was sent may still come to show",
    _C.SEEN_TO_ITS_END: lambda why: why.said or "it was seen to its end before",
    # Why an activity failed.
    **dict.fromkeys(
        (
            _C.NOT_PERMITTED,
            _C.NOT_THERE,
            _C.SERVICE_REFUSED,
            _C.SERVICE_FAILED,
            _C.SERVICE_HELD,
            _C.ARCHIVE_DAMAGED,
            _C.ARCHIVE_GONE,
            _C.ARCHIVE_UNAVAILABLE,
            _C.TICKETS_UNAVAILABLE,
            _C.BAD_INPUT,
            _C.NOT_IN_TIME,
            _C.FAILED,
        ),
        _failed,
    ),
}
"""The sentence of each code, from its facts."""
