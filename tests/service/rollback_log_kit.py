"""Records of log-fields in the archive: of one zone, by a commit under the permit ``p-1``."""

from __future__ import annotations

from types import SimpleNamespace
from typing import cast

from activities.log_fields.rollback_log import RollbackLog
from edgeshift.messages import ZoneStart
from edgeshift.model.digests import sha256
from edgeshift.model.fleet import Area
from edgeshift.service_api import LogJob
from edgeshift.stores.documents import intent_key
from tests.service.records_kit import ZONE, Kept

RUN = f"before/{ZONE.id}/log-fields/{sha256(b'run')[:16]}"
BEFORE = f"{RUN}/p-1"
PUT = intent_key(ZONE, Area.LOG_FIELDS, "p-1-rules-1")
RULE = {"ref": "evil", "expression": "true"}
JOB = LogJob.model_validate({"id": 7, "logpull_options": "fields=RayID"})


def log_of(kept: Kept, back: bool = False, run: str = "run") -> RollbackLog:
    said = {"target": SimpleNamespace(zone=ZONE), "area": Area.LOG_FIELDS, "campaign": "mine"}
    start = cast(ZoneStart, SimpleNamespace(**said, origin=run, spec="s"))
    return RollbackLog(kept.connections, start, back=back)
