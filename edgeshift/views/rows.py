"""One line for each zone of a campaign, for lists and tables. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from difflib import get_close_matches
from functools import cache

from pydantic import BaseModel, Field, computed_field, field_serializer

from edgeshift.alarms.of_zones import ENDED
from edgeshift.areas import AREAS
from edgeshift.model.counts import counted
from edgeshift.model.fleet import DEFAULT_AREA, Area, ScopeKind, ZoneOutcome, workflow_id
from edgeshift.model.reasons import Reason
from edgeshift.model.zone_names import goes_by
from edgeshift.views.words import PLACES, Kind, Look, look, look_ended, unverified

LISTED = (
    "awaiting",
    "awaiting_separate",
    "support",
    "rolling_back",
    ZoneOutcome.NEEDS_SUPPORT,
    ZoneOutcome.FAILED,
    ZoneOutcome.UNKNOWN,
    ZoneOutcome.ROLLED_BACK,
    ZoneOutcome.BLOCKED,
    ZoneOutcome.REJECTED,
    ZoneOutcome.ON_HOLD,
    "excluded",
)
"""The places whose zones are listed by name, in this order: each asks something of a person."""


AS_PLACE = {
    "assessing": "working",
    "validating": "waiting",
    "awaiting_sign_off": "awaiting",
    "awaiting_permit": "ready",
    "awaiting_validation_permit": "ready_validate",
    "awaiting_first_permit": "ready_validate",
    "starting_validation": "permitted",
    "gathering_evidence": "working",
    "deleting_overrides": "permitted",
    "setting_secret": "permitted",
    "probing": "working",
    "committing": "permitted",
    "verifying": "permitted",
    "watching": "waiting",
    "waiting_for_service": "working",
}
"""What a zone calls its phase, as a place of its campaign's ledger: people may ask by either."""


class ZoneRow(BaseModel):
    """A target of a campaign. ``kind``: a zone, or an account for the zones that it ``covers``; ``account``
    is its own identifier then. ``wave`` counts from 0, as everywhere within edgeshift, and
    from 1 where the row is dumped: in JSON and CSV (edgeshift/views/waves.py).

    ``place``: a place of the ledger, an outcome, or the way in which its workflow ended otherwise.
    ``causes``: why, as codes with facts, and ``code`` the first of them; ``reason``: the same for people.
    ``closed_at`` is set once it has an outcome. ``record``: digest of the archived result, of zones
    that were changed. ``lost``: of waf, how many settings of the previous WAF its migration lost, by kind;
    None where that was not read. ``unread``: it has an outcome, and the result that says why was not read:
    of very many zones not each one is. In no output: ``status``, of its workflow, in Temporal's words;
    ``by_list``, that Temporal's list alone has told its place.
    """

    index: int
    id: str
    name: str
    account: str
    plan: str
    wave: int
    place: str
    reason: str = ""
    causes: list[Reason] = []
    attempt: int = 0
    run_id: str = ""
    started_at: datetime | None = None
    closed_at: datetime | None = None
    status: str = Field(default="", exclude=True)
    by_list: bool = Field(default=False, exclude=True)
    digest: str = ""
    fingerprint: str = ""
    record: str = ""
    tickets: list[str] = []
    area: Area = DEFAULT_AREA
    kind: ScopeKind = ScopeKind.ZONE
    covers: int = 1
    lost: dict[str, int] | None = None
    unread: bool = False

    @computed_field  # type: ignore[prop-decorator]
    @property
    def code(self) -> str:
        """The code of the first of its reasons, or empty."""
        return self.causes[0].code.value if self.causes else ""

    @field_serializer("wave")
    def _wave(self, wave: int) -> int:
        return wave + 1

    @property
    def workflow_id(self) -> str:
        """The id of its workflow."""
        return workflow_id(self.kind, self.id, self.area)

    @property
    def said_plan(self) -> str:
        """Its plan, or how many zones it stands for."""
        return self.plan if self.kind is ScopeKind.ZONE else f"account of {counted(self.covers, 'zone')}"


def look_of(row: ZoneRow) -> Look:
    """How a zone appears: as its place does, but that what was written and not verified has no ✓."""
    return look_ended(row.place, row.area, row.causes, unread=row.unread)


def listed(rows: Sequence[ZoneRow]) -> dict[str, list[ZoneRow]]:
    """The zones that ask something of a person, by place; those that ended without an outcome too."""
    found: dict[str, list[ZoneRow]] = {place: [] for place in LISTED}
    for row in rows:
        if row.place in found or is_odd(row.place):
            found.setdefault(row.place, []).append(row)
    return {place: some for place, some in found.items() if some}


def is_odd(place: str) -> bool:
    """Whether a zone's workflow ended in a way that is no outcome: terminated, cancelled, timed out."""
    return place in ENDED


def notable(row: ZoneRow) -> bool:
    """Whether a zone is worth a line of its own in a report."""
    return look(row.place).kind is not Kind.DONE or unverified(row.causes, row.area)


def chosen(
    rows: Iterable[ZoneRow], *, zone: str = "", wave: int | None = None, phase: str = ""
) -> list[ZoneRow]:
    """The rows of this zone (by name or identifier), this wave and this place, as far as each is given."""
    wanted = _typed(phase.strip())
    wanted = AS_PLACE.get(wanted, wanted)
    return [
        row
        for row in rows
        if (not zone or goes_by(zone, row.name, row.id))
        and (wave is None or row.wave == wave)
        and (not wanted or wanted in (row.place, _called(row.place), _called(row.place, row.area)))
    ]


def is_phase(phase: str, area: Area | None = None) -> bool:
    """Whether there is such a place, phase or word for one, as people type it, in this area or in any."""
    return _typed(phase.strip()) in _phases(area)


def near_phase(phase: str, area: Area | None = None) -> str:
    """The place, phase or word for one that is most like what was typed; empty where none is."""
    return next(iter(get_close_matches(_typed(phase.strip()), sorted(_phases(area)), n=1)), "")


@cache
def _phases(area: Area | None) -> frozenset[str]:
    known = {*AS_PLACE, *AS_PLACE.values(), *PLACES, *ENDED}
    areas = tuple(AREAS) if area is None else (area,)
    return frozenset(known.union(_called(place, one) for place in known for one in (None, *areas)))


def _called(place: str, area: Area | None = None) -> str:
    """The word of a place, as one would type it."""
    return _typed(look(place, area).label)


def _typed(words: str) -> str:
    return words.lower().replace(",", "").replace("-", "_").replace(" ", "_")
