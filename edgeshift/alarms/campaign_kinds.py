"""Alarms of the surroundings, of a campaign as a whole, and of sign-offs. Pure."""

from __future__ import annotations

from edgeshift.alarms.kinds import (
    DOCTOR,
    DOCTOR_FILE,
    HISTORY,
    RESUME,
    RETRY,
    SHOW,
    STATUS,
    ZONE_STATUS,
    Kind,
    Severity,
)

_THERE = "--workflow-id WORKFLOW --namespace NAMESPACE --address ADDRESS"
_SHOW = f"temporal workflow show {_THERE}"
_DESCRIBE = f"temporal workflow describe {_THERE}"
_APPROVE = 'edgeshift sign-off approve CAMPAIGN --fingerprint FINGERPRINT --reason "REASON"'
_CAUSES = "edgeshift sign-off causes CAMPAIGN"
_REJECT_ZONE = 'edgeshift sign-off reject CAMPAIGN --zone ZONE --reason "REASON"'

OTHER_CHECK = "check-failed"
"""The code of a failed check that has no alarm of its own."""

SURROUNDINGS = (
    Kind(
        "temporal-unreachable",
        Severity.CRITICAL,
        "Temporal does not answer: every campaign stands still, and nothing is lost",
        ("edgeshift doctor --address ADDRESS --namespace NAMESPACE",),
        ("edgeshift alarms --address ADDRESS --namespace NAMESPACE",),
    ),
    Kind(
        "no-worker",
        Severity.CRITICAL,
        "no worker is connected: campaigns stand still, and what was sent is not verified",
        (DOCTOR,),
        ("edgeshift worker",),
    ),
    Kind(
        "search-attributes",
        Severity.WARNING,
        "search attributes are missing or of another type: zones of a campaign cannot be found",
        (DOCTOR,),
        ("edgeshift worker",),
    ),
    Kind(
        "retention",
        Severity.WARNING,
        "histories are deleted too soon after their end: they say who agreed to what",
        (DOCTOR,),
        ("temporal operator namespace update --namespace NAMESPACE --retention 90d --address ADDRESS",),
    ),
    Kind(
        "clock",
        Severity.WARNING,
        "two clocks disagree: moments in records are wrong, and permits may be refused as expired",
        (DOCTOR_FILE,),
    ),
    Kind(
        "archive",
        Severity.CRITICAL,
        "the archive cannot be used from here: nothing is sent without it",
        (DOCTOR,),
        ("edgeshift doctor --archive ARCHIVE",),
    ),
    Kind(
        "archive-damaged",
        Severity.CRITICAL,
        "an object that the campaign stands on is damaged in the archive, or gone",
        (DOCTOR, STATUS),
    ),
    Kind(
        "archive-unsigned",
        Severity.WARNING,
        "records of the archive do not count, for no worker has signed them: somebody has planted or changed"
        " them, or a worker's key was revoked",
        (DOCTOR,),
    ),
    Kind(
        "tickets",
        Severity.WARNING,
        "support tickets cannot be opened: zones that need one are retried, and fail after a while",
        (DOCTOR_FILE,),
    ),
    Kind(
        "rate-limited",
        Severity.NOTICE,
        "the service refuses every call of a user for a while: all of that user's zones wait",
        (f"temporal workflow query --type book {_THERE}",),
    ),
    Kind(
        "workflow-stuck",
        Severity.CRITICAL,
        "the task of a workflow fails again and again: the workflow stands still",
        (_DESCRIBE, _SHOW),
        (
            "edgeshift worker",
            'edgeshift repair WORKFLOW --reason "REASON"',
            f'temporal workflow terminate --reason "REASON" {_THERE}',
        ),
    ),
    Kind(
        OTHER_CHECK,
        Severity.WARNING,
        "a check of `edgeshift doctor` failed that has no alarm of its own, such as one of an installed area",
        (DOCTOR, DOCTOR_FILE),
    ),
)
"""What is wrong with what every campaign stands on."""

OF_SERVICE = (
    Kind(
        "service",
        Severity.CRITICAL,
        "the service does not answer from here",
        (DOCTOR_FILE,),
    ),
    Kind(
        "credential",
        Severity.CRITICAL,
        "the service does not take a credential, or it is not where its reference points",
        (DOCTOR_FILE,),
        (RESUME,),
    ),
    Kind(
        "permissions",
        Severity.WARNING,
        "a credential works, but may not read what the campaign needs",
        (DOCTOR_FILE,),
    ),
    Kind(
        "removal-date",
        Severity.WARNING,
        "Edge Side Code is removed in less than two weeks by the service's clock, or is gone",
        ("edgeshift plan FILE", STATUS),
        ('edgeshift abort CAMPAIGN --reason "REASON"',),
    ),
    Kind(
        "probe",
        Severity.WARNING,
        "nobody answers where the probe is to ask",
        (DOCTOR_FILE,),
    ),
    Kind(
        "log-entries",
        Severity.WARNING,
        "log entries cannot be read: that fields arrive will not be verified",
        (DOCTOR_FILE,),
    ),
    Kind(
        "log-destination",
        Severity.WARNING,
        "the destination of new log jobs is not where its reference points",
        (DOCTOR_FILE,),
    ),
)
"""What --service finds, by what the doctor checks of a campaign file."""

CAMPAIGN = (
    Kind(
        "campaign-silent",
        Severity.CRITICAL,
        "nobody answers for the campaign: no worker runs it, or its workflow is stuck",
        (DOCTOR, "edgeshift status"),
        ("edgeshift worker",),
    ),
    Kind(
        "campaign-ended",
        Severity.CRITICAL,
        "somebody ended the campaign's workflow from outside: its zones get no permits",
        ("edgeshift status", _DESCRIBE),
        ("edgeshift start FILE --again",),
    ),
    Kind(
        "halted",
        Severity.WARNING,
        "more zones failed than the campaign allows: sending has stopped until a person resumes it",
        (STATUS, "edgeshift status CAMPAIGN --phase failed"),
        ('edgeshift retry CAMPAIGN --reason "REASON"', RESUME),
    ),
    Kind(
        "paused",
        Severity.NOTICE,
        "a person paused the campaign: no new step begins",
        (STATUS,),
        (RESUME,),
    ),
    Kind(
        "credential-refused",
        Severity.CRITICAL,
        "calls stopped, and zones wait: the service refuses a credential",
        (STATUS, DOCTOR_FILE),
        (RESUME,),
    ),
    Kind(
        "credential-missing",
        Severity.CRITICAL,
        "calls stopped, and zones wait: the worker does not find a credential where its reference points",
        (STATUS, DOCTOR_FILE),
        (RESUME,),
    ),
    Kind(
        "service-outage",
        Severity.CRITICAL,
        "calls stopped, and zones wait: the service does not answer as it should",
        (STATUS, DOCTOR_FILE),
        (RESUME,),
    ),
    Kind(
        "pausing-lasts",
        Severity.WARNING,
        "pause or abort has not answered for longer than a permit can last",
        (STATUS, "edgeshift status CAMPAIGN --phase permitted", DOCTOR),
    ),
    Kind(
        "batch-fails",
        Severity.CRITICAL,
        "a part of the campaign's own work fails, and is retried at growing intervals",
        (STATUS, DOCTOR),
    ),
    Kind(
        "told-wrong",
        Severity.CRITICAL,
        "a zone was told to have an outcome that no worker has signed, or that the service does not show",
        (STATUS, "edgeshift check CAMPAIGN --all", HISTORY, DOCTOR),
        (RETRY,),
    ),
    Kind(
        "zone-stuck",
        Severity.WARNING,
        "zones have been at one step for longer than it may take",
        (ZONE_STATUS, HISTORY, DOCTOR_FILE),
    ),
)
"""What a campaign as a whole asks for."""

# No approval with --yes, and none of a single zone, whose own evidence may speak against it: a person reads
# it first. A decision on a fingerprint does not reach those zones.
SIGN_OFFS = (
    Kind(
        "sign-off-waits",
        Severity.NOTICE,
        "zones wait for a sign-off of their fingerprint",
        (STATUS, ZONE_STATUS, SHOW),
        (_APPROVE, _REJECT_ZONE),
    ),
    Kind(
        "sign-off-alone",
        Severity.NOTICE,
        "zones wait for a sign-off of their own: their evidence did not pass, or each zone is signed alone",
        (_CAUSES, ZONE_STATUS, SHOW, HISTORY),
        (_REJECT_ZONE,),
    ),
    Kind(
        "sign-off-again",
        Severity.NOTICE,
        "the configuration changed between sign-off and commit: nothing was sent, the new proposal waits",
        (ZONE_STATUS, SHOW, HISTORY),
        (_REJECT_ZONE,),
    ),
    Kind(
        "sign-off-expires",
        Severity.WARNING,
        "zones have waited for most of the time that the campaign lets them: they go on hold soon",
        (ZONE_STATUS, SHOW, HISTORY),
        (_REJECT_ZONE,),
    ),
    Kind(
        "log-entry-size",
        Severity.NOTICE,
        "sampled log entries say that the fields do not fit into an entry: what comes last is cut off",
        (ZONE_STATUS, SHOW, HISTORY),
        (_REJECT_ZONE,),
    ),
)
"""What waits for approvers."""

OF_SIGN_OFFS = frozenset(kind.code for kind in SIGN_OFFS)

BEGUN_UNSIGNED = "nobody has signed the campaign's start with a key that counts, and so no sign-off counts"

BEGIN_SIGNED = ('edgeshift abort CAMPAIGN --reason "REASON"', "edgeshift start FILE --again")
"""What to do before anything of such a campaign can be signed: it is started again, with a key."""
