"""The area log-fields as one object: custom fields in request logs."""

from __future__ import annotations

from edgeshift.areas.area import AreaDefinition, OwnSection, Phrases
from edgeshift.areas.log_fields.terms import LogFieldsSpec
from edgeshift.model.fleet import Area
from edgeshift.model.reasons import ReasonCode

DEFINITION = AreaDefinition(
    name=Area.LOG_FIELDS,
    title="custom fields in request logs",
    workflow="LogFieldsZone",
    reversible=True,
    enterprise_only=True,
    unverified=frozenset({ReasonCode.FIELDS_KEPT_UNVERIFIED, ReasonCode.FIELDS_NOT_VERIFIED}),
    section=OwnSection(
        key="log_fields",
        model=LogFieldsSpec,
        meaning="Which fields are logged; names of headers are in lower case.",
    ),
    # A zone without rules and log job of its own, whose fields are seen at the first look: its rules and jobs
    # are read twice before they are written, and once written; then each write and its proof of ownership
    # (docs/service.md §4.2, §7). Counted in tests/orchestration/test_forecasts.py.
    calls=23,
    waits="besides sign-offs, the wait for log entries and the service's own time",
    needs="name, targets, area and log_fields",
    promise="nothing is written without a sign-off",
    words={
        "waiting": "waiting for log entries",
        "settled": "fields written",
        "already_settled": "fields were there",
        "commit": "write the fields",
        "committing": "writing the fields",
        "roll_back": "take the fields back",
        "rolling_back": "taking the fields back",
        "watching": "waiting for log entries",
    },
    sent={
        "commit": "the custom fields",
        "roll_back": "what takes the custom fields back",
    },
    phrases=Phrases(
        changed="the custom fields of {} were written",
        undone="the custom fields of {} were taken back",
        change="the write of the custom fields",
        shows="the service shows the custom fields",
        shows_undone="the service shows the fields taken back",
        done="fields written, or there before",
    ),
    parts={
        "campaign_file": "edgeshift.campaign_file.areas.log_fields:PART",
        "cli": "edgeshift.cli.areas.log_fields:PART",
        "demo": "edgeshift.testbed.demo.areas.log_fields:PART",
        "doctor": "edgeshift.doctor.areas.log_fields:PART",
        "documents": "edgeshift.stores.documents.areas.log_fields:PART",
        "proposals": "edgeshift.operations.areas.log_fields:PART",
        "stack": "edgeshift.testbed.stack.areas.log_fields:PART",
        "views": "edgeshift.views.areas.log_fields:PART",
        "worker": "worker.areas.log_fields:PART",
    },
)
