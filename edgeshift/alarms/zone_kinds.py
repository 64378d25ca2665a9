"""Alarms of single zones: those that wait for support, and those whose outcome is not final. Pure."""

from __future__ import annotations

from edgeshift.alarms.kinds import DOCTOR, DOCTOR_FILE, HISTORY, REOPEN, RETRY, ZONE_STATUS, Kind, Severity

_LOOK = (ZONE_STATUS, HISTORY)
_FIXED = 'edgeshift support-resolved CAMPAIGN --zone ZONE --reason "REASON"'

SUPPORT = (
    Kind(
        "support-too-many-rules",
        Severity.WARNING,
        "more firewall rules would migrate than the service takes: the provider's support has to act,"
        " a ticket is open",
        _LOOK,
        (_FIXED,),
    ),
    Kind(
        "support-long-expression",
        Severity.WARNING,
        "an expression of a migrating rule is longer than the service takes: the provider's support has to"
        " act, a ticket is open",
        _LOOK,
        (_FIXED,),
    ),
    Kind(
        "support-refusal",
        Severity.WARNING,
        "the zone waits for the provider's support: the service refused it, or it could not be asked why",
        _LOOK,
        (_FIXED,),
    ),
    Kind(
        "needs-support",
        Severity.WARNING,
        "nobody said in time that support has fixed the zone: it ended as needs support",
        _LOOK,
        (RETRY,),
    ),
)

BLOCKED = (
    Kind(
        "blocked-overrides",
        Severity.WARNING,
        "URI-based WAF overrides keep the zone from migrating",
        _LOOK,
        (RETRY,),
    ),
    Kind(
        "blocked-not-compatible",
        Severity.WARNING,
        "the service says that the zone is not compatible in its current configuration",
        _LOOK,
        (RETRY,),
    ),
    Kind(
        "blocked-log-only",
        Severity.WARNING,
        "the new configuration would only log, or has no rule, which would leave the zone without a WAF",
        _LOOK,
        (RETRY,),
    ),
    Kind(
        "blocked-unprotected",
        Severity.WARNING,
        "the new configuration runs no managed rule, and the previous WAF protects the zone",
        _LOOK,
        (RETRY,),
    ),
    Kind(
        "blocked-own-rules",
        Severity.WARNING,
        "the zone has rules of the new WAF already, which the change would replace",
        _LOOK,
        (RETRY,),
    ),
    Kind(
        "blocked-page-rule",
        Severity.WARNING,
        "a page rule's URL pattern has a star in its middle, which no rule of this service's new WAF can say",
        _LOOK,
        (RETRY,),
    ),
    Kind(
        "blocked-removal-date",
        Severity.NOTICE,
        "Edge Side Code was removed before this scope's turn came: there is nothing left to turn off",
        _LOOK,
    ),
    Kind(
        "blocked-account",
        Severity.WARNING,
        "other campaigns work on zones of the account",
        _LOOK,
        (RETRY,),
    ),
    Kind(
        "blocked-plan",
        Severity.WARNING,
        "log jobs, custom log fields and the validation window are for Enterprise zones, Edge Side Code for"
        " some of them, and the service does not let this zone have them, or does not say what plan it has",
        _LOOK,
        (RETRY,),
    ),
    Kind(
        "blocked-fields",
        Severity.WARNING,
        "the zone would have more custom fields than the service takes, or one with a name that it refuses",
        _LOOK,
        (RETRY,),
    ),
    Kind(
        "blocked-log-job",
        Severity.WARNING,
        "the zone has no log job that could push the fields, or one with options that nobody understands",
        _LOOK,
        (RETRY,),
    ),
    Kind(
        "blocked-rules",
        Severity.WARNING,
        "somebody else's rules in the ruleset could not be sent back as they are",
        _LOOK,
        (RETRY,),
    ),
    Kind(
        "blocked",
        Severity.WARNING,
        "the zone is not eligible, for the reason that its status has",
        _LOOK,
        (RETRY,),
    ),
)

OUTCOMES = (
    Kind(
        "rejected",
        Severity.NOTICE,
        "an approver said no",
        _LOOK,
        (REOPEN,),
    ),
    Kind(
        "on-hold",
        Severity.WARNING,
        "its sign-off expired: nobody signed it in time",
        _LOOK,
        (REOPEN,),
    ),
    Kind(
        "on-hold-uncounted",
        Severity.WARNING,
        "it was signed off, and that does not count by the workers' roots: it is to be signed off again",
        _LOOK,
        (REOPEN,),
    ),
    Kind(
        "on-hold-unsigned",
        Severity.WARNING,
        "what it needs besides its sign-off was not signed, or does not count by the workers' roots",
        (*_LOOK, DOCTOR),
        ("edgeshift start FILE --again",),
    ),
    Kind(
        "aborted",
        Severity.NOTICE,
        "its campaign was aborted before the zone was done: its history says what had been sent by then",
        _LOOK,
        ("edgeshift start FILE --again",),
    ),
    Kind(
        "excluded",
        Severity.WARNING,
        "something else holds the zone, such as another campaign: it was left out",
        (ZONE_STATUS, "edgeshift status"),
        (RETRY,),
    ),
    Kind(
        "rolled-back",
        Severity.WARNING,
        "it got worse than was agreed, or could not be finished, and was rolled back",
        _LOOK,
        (REOPEN,),
    ),
    Kind(
        "fields-unverified",
        Severity.NOTICE,
        "what was written is kept, and nothing was read that could show that it works",
        (ZONE_STATUS, HISTORY, DOCTOR_FILE),
    ),
    Kind(
        "failed-way-back",
        Severity.CRITICAL,
        "a change had to be undone and could not be: it is in force now",
        _LOOK,
        (RETRY,),
    ),
    Kind(
        "failed-differs",
        Severity.CRITICAL,
        "the zone was migrated, and the rules that it has are not those that were signed",
        _LOOK,
        (RETRY,),
    ),
    Kind(
        "failed-edited",
        Severity.WARNING,
        "somebody has changed its rules of the new WAF since they were validated: nothing was sent over them",
        _LOOK,
        (RETRY,),
    ),
    Kind(
        "failed-refused",
        Severity.WARNING,
        "the service refused the change: nothing of it happened",
        _LOOK,
        (RETRY,),
    ),
    Kind(
        "failed-tries",
        Severity.WARNING,
        "a step failed 20 times: nothing of it happened",
        _LOOK,
        (RETRY,),
    ),
    Kind(
        "failed-credential",
        Severity.CRITICAL,
        "the service does not take the credential, or not for this zone, or the secret is not there",
        (ZONE_STATUS, HISTORY, DOCTOR_FILE),
        (RETRY,),
    ),
    Kind(
        "failed-archive",
        Severity.CRITICAL,
        "what the archive holds for the zone is damaged or gone",
        (ZONE_STATUS, HISTORY, "edgeshift doctor"),
        (RETRY,),
    ),
    Kind(
        "failed-reading",
        Severity.WARNING,
        "the zone could not be read or archived for as long as the campaign tries: nothing was sent",
        (ZONE_STATUS, HISTORY, DOCTOR_FILE),
        (RETRY,),
    ),
    Kind(
        "failed",
        Severity.WARNING,
        "the zone failed, for the reason that its status has; its history says what was sent",
        _LOOK,
        (RETRY,),
    ),
    Kind(
        "unknown-commit",
        Severity.CRITICAL,
        "a commit may have happened, and the status did not tell in time",
        _LOOK,
        (RETRY,),
    ),
    Kind(
        "unknown-validation",
        Severity.WARNING,
        "a validation was sent and does not show: the zone may be in validation mode",
        _LOOK,
        (RETRY,),
    ),
    Kind(
        "unknown-change",
        Severity.CRITICAL,
        "a change that can be undone was sent, and neither the service nor what was seen outside tells what"
        " became of it",
        _LOOK,
        (RETRY,),
    ),
    Kind(
        "zone-ended",
        Severity.WARNING,
        "somebody ended the zone's workflow from outside; the campaign read the service to say what became of"
        " it",
        _LOOK,
        (RETRY,),
    ),
)

ZONES = (*SUPPORT, *BLOCKED, *OUTCOMES)
"""Every kind of alarm that a zone's place and reason tell of."""
