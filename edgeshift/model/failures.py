"""The one table of failures: what is known to have happened, how often it may be tried, what to exit with.

A failure is known by the name of its class, which is also the type of a failed activity. The client of the
service, the boundary of activities, retry policies, operations and the command line all ask here. Pure.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from edgeshift.model.exit_codes import ExitCode
from edgeshift.model.reason_codes import ReasonCode


class Happened(StrEnum):
    """What is known of the effect of a mutating call that failed (docs/service.md §7).

    ``NOTHING``: it is proved that it had none. ``NOTHING_IF_SAID``: so it is where the service itself says
    that it refused it. ``UNKNOWN``: it may have had one.
    """

    NOTHING = "nothing"
    NOTHING_IF_SAID = "nothing_if_said"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class Failure:
    """One kind of failure. ``tries``: after how many tries in a row that failed so it is final: 1 where
    trying again cannot help, None where it is tried for as long as there is patience. ``named``: the type
    under which an activity fails by it, where that is another kind's.
    """

    happened: Happened
    exit: ExitCode
    reason: ReasonCode
    tries: int | None = None
    named: str = ""


MOST_REFUSALS = 5
"""How often the service is asked again for what it refuses in words that nobody knows."""

_NOTHING, _IF_SAID, _UNKNOWN = Happened.NOTHING, Happened.NOTHING_IF_SAID, Happened.UNKNOWN
_SERVICE, _FAILED = ExitCode.SERVICE, ExitCode.FAILED

OF_SERVICE: Mapping[str, Failure] = {
    "InvalidCredential": Failure(_IF_SAID, _SERVICE, ReasonCode.CREDENTIAL_REFUSED, tries=1),
    "Unauthorized": Failure(
        _IF_SAID, _SERVICE, ReasonCode.CREDENTIAL_REFUSED, tries=1, named="InvalidCredential"
    ),
    "ServiceCircuitOpen": Failure(_NOTHING, _SERVICE, ReasonCode.SERVICE_HELD, tries=1),
    "CredentialMissing": Failure(_NOTHING, _SERVICE, ReasonCode.CREDENTIAL_MISSING, tries=1),
    "Forbidden": Failure(_IF_SAID, _SERVICE, ReasonCode.NOT_PERMITTED, tries=1),
    "NotFound": Failure(_IF_SAID, _SERVICE, ReasonCode.NOT_THERE, tries=1),
    "SecretUnresolved": Failure(_NOTHING, _SERVICE, ReasonCode.CREDENTIAL_MISSING, tries=1),
    "SecretRefError": Failure(
        _NOTHING, _SERVICE, ReasonCode.CREDENTIAL_MISSING, tries=1, named="SecretUnresolved"
    ),
    "InvalidIdentifier": Failure(_NOTHING, _SERVICE, ReasonCode.BAD_INPUT, tries=1, named="BadInput"),
    "Misconfigured": Failure(_NOTHING, _SERVICE, ReasonCode.BAD_INPUT, tries=1, named="BadInput"),
    "NotLet": Failure(_NOTHING, _SERVICE, ReasonCode.BAD_INPUT, tries=1),
    # Somebody is replacing them, perhaps.
    "RootsUnread": Failure(_NOTHING, _SERVICE, ReasonCode.BAD_INPUT),
    # A plain refusal may pass, as that of a zone that is busy; one that stays is the service's last word.
    "Refused": Failure(_IF_SAID, _SERVICE, ReasonCode.SERVICE_REFUSED, tries=MOST_REFUSALS),
    "Gone": Failure(_IF_SAID, _SERVICE, ReasonCode.SERVICE_REFUSED),
    "RateLimited": Failure(_NOTHING, _SERVICE, ReasonCode.SERVICE_REFUSED),
    "NoTurn": Failure(_NOTHING, _SERVICE, ReasonCode.SERVICE_FAILED),
    "ConnectionRefused": Failure(_NOTHING, _SERVICE, ReasonCode.SERVICE_FAILED),
    "SecretNotShown": Failure(_NOTHING, _SERVICE, ReasonCode.SERVICE_FAILED),
    "Conflict": Failure(_UNKNOWN, _SERVICE, ReasonCode.SERVICE_REFUSED),
    "ConnectionLost": Failure(_UNKNOWN, _SERVICE, ReasonCode.SERVICE_FAILED),
    "GatewayError": Failure(_UNKNOWN, _SERVICE, ReasonCode.SERVICE_FAILED),
    "NotUnderstood": Failure(_UNKNOWN, _SERVICE, ReasonCode.SERVICE_FAILED),
    "OddPages": Failure(_UNKNOWN, _SERVICE, ReasonCode.SERVICE_FAILED, named="NotUnderstood"),
    "QueryFailed": Failure(_UNKNOWN, _SERVICE, ReasonCode.SERVICE_FAILED),
    "Redirected": Failure(_UNKNOWN, _SERVICE, ReasonCode.SERVICE_FAILED),
    "ServerError": Failure(_UNKNOWN, _SERVICE, ReasonCode.SERVICE_FAILED),
    "ServiceError": Failure(_UNKNOWN, _SERVICE, ReasonCode.SERVICE_FAILED),
    "TimedOut": Failure(_UNKNOWN, _SERVICE, ReasonCode.SERVICE_FAILED),
    "Unsuccessful": Failure(_UNKNOWN, _SERVICE, ReasonCode.SERVICE_FAILED),
}
"""Failures of calls to the service, and of what they need."""

OF_STORES: Mapping[str, Failure] = {
    "ArchiveCorrupt": Failure(_NOTHING, _FAILED, ReasonCode.ARCHIVE_DAMAGED, tries=1),
    "ArchiveMissing": Failure(_NOTHING, _FAILED, ReasonCode.ARCHIVE_GONE),
    "ArchiveUnavailable": Failure(_UNKNOWN, _FAILED, ReasonCode.ARCHIVE_UNAVAILABLE),
    "ArchiveMisconfigured": Failure(_NOTHING, _FAILED, ReasonCode.ARCHIVE_UNAVAILABLE),
    "ArchiveError": Failure(_UNKNOWN, _FAILED, ReasonCode.ARCHIVE_UNAVAILABLE),
    "TicketsUnavailable": Failure(_UNKNOWN, _FAILED, ReasonCode.TICKETS_UNAVAILABLE),
    "TicketsRefused": Failure(_NOTHING, _FAILED, ReasonCode.TICKETS_UNAVAILABLE),
    "TicketsMisconfigured": Failure(_NOTHING, _FAILED, ReasonCode.TICKETS_UNAVAILABLE),
    "TicketError": Failure(_UNKNOWN, _FAILED, ReasonCode.TICKETS_UNAVAILABLE),
    "BadInput": Failure(_NOTHING, ExitCode.BAD_INPUT, ReasonCode.BAD_INPUT, tries=1),
}
"""Failures of the archive, of tickets, and of what a file or a message says."""

OF_CAMPAIGNS: Mapping[str, Failure] = {
    "SignOffRefused": Failure(_NOTHING, ExitCode.REFUSED, ReasonCode.FAILED, tries=1),
    "CampaignOver": Failure(_NOTHING, ExitCode.REFUSED, ReasonCode.FAILED, tries=1),
    "NothingToDo": Failure(_NOTHING, ExitCode.NOTHING, ReasonCode.FAILED, tries=1),
    "WorkerStops": Failure(_NOTHING, _FAILED, ReasonCode.FAILED),
    # Another worker may find the secret: that is why it is no CredentialMissing, which is final.
    "WorkerLacks": Failure(_NOTHING, _SERVICE, ReasonCode.CREDENTIAL_MISSING),
    "CampaignGone": Failure(_NOTHING, _FAILED, ReasonCode.FAILED, tries=1),
    "CampaignClosed": Failure(_NOTHING, _FAILED, ReasonCode.FAILED, tries=1),
}
"""What campaigns and their zones refuse, and that they are not there."""

OF_PROCESSES: Mapping[str, Failure] = {
    "ValidationError": Failure(_NOTHING, ExitCode.BAD_INPUT, ReasonCode.BAD_INPUT, tries=1, named="BadInput"),
    "CampaignFileError": Failure(_NOTHING, ExitCode.BAD_INPUT, ReasonCode.BAD_INPUT, tries=1),
    "FleetFileError": Failure(_NOTHING, ExitCode.BAD_INPUT, ReasonCode.BAD_INPUT, tries=1),
    "SettingsError": Failure(_NOTHING, ExitCode.BAD_INPUT, ReasonCode.BAD_INPUT, tries=1),
    "RootsError": Failure(_NOTHING, ExitCode.BAD_INPUT, ReasonCode.BAD_INPUT, tries=1),
    "SigningFailed": Failure(_NOTHING, ExitCode.REFUSED, ReasonCode.FAILED, tries=1),
    "BadStatement": Failure(_NOTHING, ExitCode.BAD_INPUT, ReasonCode.BAD_INPUT, tries=1),
    "TemporalError": Failure(_UNKNOWN, ExitCode.TEMPORAL, ReasonCode.FAILED),
    "RPCError": Failure(_UNKNOWN, ExitCode.TEMPORAL, ReasonCode.FAILED),
    "AreaNotLoaded": Failure(_NOTHING, _FAILED, ReasonCode.FAILED),
    "BinaryError": Failure(_NOTHING, _FAILED, ReasonCode.FAILED),
    "StackError": Failure(_NOTHING, _FAILED, ReasonCode.FAILED),
}
"""What fails in the process of whoever asks."""

FAILURES: Mapping[str, Failure] = {**OF_SERVICE, **OF_STORES, **OF_CAMPAIGNS, **OF_PROCESSES}
"""Every kind of failure that edgeshift expects, by the name of its class."""

PERMANENT = tuple(
    dict.fromkeys(
        failure.named or kind for kind, failure in {**OF_SERVICE, **OF_STORES}.items() if failure.tries == 1
    )
)
"""Types of failed activities that trying again cannot fix."""

HELD = ("ServiceCircuitOpen", "InvalidCredential", "CredentialMissing")
"""Types of failed activities that are no fault of the target: it waits until the service may be called
again.
"""

KEPT_BY_ROOTS = ("NotLet", "RootsUnread")
"""Types of failed activities that say nothing of the target: the worker's roots keep it from asking."""

_CHECK_ROOTS = "docs/authority.md says what roots hold; `edgeshift doctor FILE` compares them with the file"
_CHECK_SERVICE = "`edgeshift doctor FILE` checks the service and each credential"
_CHECK_ADDRESS = (
    "service.base_url is https://HOST/client/v4, or a gateway's; `edgeshift doctor FILE` checks it; where it"
    " is right, try again later"
)
_CHECK_ARCHIVE = "check --archive or EDGESHIFT_ARCHIVE_URL, and its permissions; `edgeshift doctor` uses it"
_CHECK_TICKETS = "correct `tickets` in the campaign file; `edgeshift doctor FILE` checks it"
_CHECK_REFERENCE = "set the variable, or write the file, that the reference names (env:NAME or file:PATH)"
_NEW_CREDENTIAL = "put a valid credential where the reference points; `edgeshift doctor FILE` checks it"

HINTS: Mapping[str, str] = {
    **{kind: _CHECK_SERVICE for kind, failure in OF_SERVICE.items() if failure.exit is _SERVICE},
    "InvalidCredential": _NEW_CREDENTIAL,
    "Unauthorized": _NEW_CREDENTIAL,
    "CredentialMissing": _CHECK_REFERENCE,
    "WorkerLacks": _CHECK_REFERENCE,
    "SecretUnresolved": _CHECK_REFERENCE,
    "SecretRefError": _CHECK_REFERENCE,
    "Forbidden": "give the credential the permissions that docs/operators.md lists",
    "NotUnderstood": _CHECK_ADDRESS,
    "Misconfigured": "correct `service` in the campaign file",
    "NotLet": _CHECK_ROOTS,
    "RootsUnread": _CHECK_ROOTS,
    "InvalidIdentifier": "name zones and accounts as the service does",
    "ArchiveCorrupt": "docs/runbook.md, archive-damaged, says what to do",
    "ArchiveMissing": "use the archive that the worker uses: --archive URL or EDGESHIFT_ARCHIVE_URL",
    "ArchiveUnavailable": _CHECK_ARCHIVE,
    "ArchiveMisconfigured": _CHECK_ARCHIVE,
    "ArchiveError": _CHECK_ARCHIVE,
    "TicketsUnavailable": _CHECK_TICKETS,
    "TicketsRefused": _CHECK_TICKETS,
    "TicketsMisconfigured": _CHECK_TICKETS,
    "TicketError": _CHECK_TICKETS,
    "SignOffRefused": "`edgeshift status CAMPAIGN` shows what waits for a sign-off, and from whom",
    "CampaignOver": "`edgeshift status CAMPAIGN` shows how the campaign ended",
    "NothingToDo": "`edgeshift status CAMPAIGN` shows where its zones are",
    "CampaignFileError": "docs/campaign-file.md describes every field",
    "FleetFileError": "docs/fleet-format.md describes the file",
    "SettingsError": "correct the setting; docs/operators.md lists all of them",
    "RootsError": "correct the roots file, or name another with --roots; docs/authority.md describes it",
    "SigningFailed": "`edgeshift keys test` tries your key; docs/authority.md says how keys are made",
    "AreaNotLoaded": "install the version of that distribution that fits this edgeshift, or uninstall it;"
    " without it, campaigns of its area cannot go on (docs/adding-an-area.md)",
    "BadStatement": "print and sign it once more: docs/authority.md says how",
    "TemporalError": "`edgeshift doctor` checks Temporal",
    "RPCError": "`edgeshift doctor` checks Temporal",
}
"""What a person can do about a failure, by its kind, where the failure itself says nothing better."""

NO_CAMPAIGN = ("CampaignGone", "CampaignClosed")
"""Types of failed activities that have nobody to tell a word to."""

_OF_ACTIVITIES: Mapping[str, Failure] = {**OF_SERVICE, **OF_STORES, **OF_CAMPAIGNS}


def kind_of(failure: type[BaseException]) -> str | None:
    """The kind of a failure by its class, or by the nearest of its bases; None where nobody expects it."""
    return next((base.__name__ for base in failure.__mro__ if base.__name__ in FAILURES), None)


def of_activity(kind: str | None) -> Failure | None:
    """The failure of an activity or an update that failed with this type; None where nobody expects it."""
    return _OF_ACTIVITIES.get(kind or "")


def hint_of(kind: str | None) -> str:
    """What a person can do about a failure of this kind; empty where that is not known."""
    return HINTS.get(kind or "", "")


def reason_of(kind: str | None) -> ReasonCode:
    """Why something failed whose activity failed with this type."""
    found = of_activity(kind)
    return found.reason if found else ReasonCode.FAILED
