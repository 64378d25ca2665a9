"""What the area log-fields keeps in the archive of its own: the outcome of each zone, and what a campaign has
written to a zone's ruleset of log fields and its log jobs.

The latter are records under ``before/<zone>/log-fields/<run>/<trail>/``, where ``<run>`` are the first 16
digits of the SHA-256 of the campaign's first run, and ``<trail>`` is the permit of the commit that began it,
which found nothing of the campaign left in the zone; each commit's intent names it, as ``<run>/<trail>``
where that lies with the records of another run than its own. Where an intent names none, they are under
``<run>/``. Written by activities/log_fields/rollback_log.py before each request, read by it to take exactly
the campaign's own out again.
"""

from __future__ import annotations

from typing import Any, ClassVar

from edgeshift.areas.log_fields.entries import Judgement
from edgeshift.model.fleet import Zone
from edgeshift.stores.documents.codec import Document, Moment
from edgeshift.stores.documents.records import DocumentsPart, WatchedRecord


class RulesBefore(Document):
    """``<ruleset>/base``: the version that was read before the first write to a ruleset, with its rules."""

    verbatim: ClassVar[frozenset[str]] = frozenset({"rules"})

    version: int
    rules: list[dict[str, Any]]


class RulesSent(Document):
    """``<ruleset>/put-<over>-<digits>``: a write of the rules that is about to be sent, ``over`` a version.
    ``<digits>`` are the first 12 of the record's own SHA-256.
    """

    verbatim: ClassVar[frozenset[str]] = frozenset({"rules"})

    over: int
    rules: list[dict[str, Any]]


class JobBefore(Document):
    """``job-<id>``: what a log job listed before its first change: its parameter string, null where it had
    none, and its ``output_options``, where it had some.
    """

    verbatim: ClassVar[frozenset[str]] = frozenset({"output_options"})
    optional: ClassVar[frozenset[str]] = frozenset({"output_options"})

    logpull_options: str | None
    output_options: dict[str, Any] | None = None

    @property
    def options(self) -> dict[str, Any]:
        """Both, as a log job has them."""
        return {"logpull_options": self.logpull_options, "output_options": self.output_options}


class JobCreated(Document):
    """``new-job``: the name of the log job that is about to be created, or turned on again."""

    name: str


class StepWritten(Document):
    """An object: what one step did to a zone, written by ``change_zone`` and named by its result as
    ``found``. Read by the watch, for when it was made, and by history.

    ``service_time``: by the service's clock. ``versions``: of the ruleset, that the step wrote;
    ``overwritten``: those of others that it replaced and put back. ``jobs``: log jobs that it wrote.
    ``created_job``: the name of a new one, or empty. ``notes``: what others changed meanwhile.
    """

    zone: Zone
    step: str
    permit: str
    service_time: Moment
    ruleset: str = ""
    created_ruleset: bool = False
    versions: tuple[int, ...] = ()
    overwritten: tuple[int, ...] = ()
    jobs: tuple[int, ...] = ()
    created_job: str = ""
    notes: tuple[str, ...] = ()
    sent: bool = False


class LogFieldsRecord(WatchedRecord):
    """An object: a zone with the fields in its logs, or out again, written by ``watch_log_fields_zone``. Its
    evidence is a ``Judgement``. ``found``: digest of the step's ``StepWritten``, or empty.
    """

    found: str


PART = DocumentsPart(LogFieldsRecord, Judgement)
