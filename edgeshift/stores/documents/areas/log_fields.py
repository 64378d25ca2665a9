"""What the area log-fields keeps in the archive of its own, beside what it has written to rulesets and jobs
(edgeshift/stores/documents/log_fields.py).
"""

from __future__ import annotations

from edgeshift.areas.log_fields.entries import Judgement
from edgeshift.stores.documents.records import DocumentsPart, WatchedRecord


class LogFieldsRecord(WatchedRecord):
    """An object: a zone with the fields in its logs, or out again, written by ``watch_log_fields_zone``. Its
    evidence is a ``Judgement``. ``found``: digest of the step's ``StepWritten``, or empty.
    """

    found: str


PART = DocumentsPart(LogFieldsRecord, Judgement)
