"""What is known of campaigns and of what they stand on, as alarms are made of it. Pure."""

from __future__ import annotations

from datetime import datetime, timedelta

from pydantic import BaseModel

from edgeshift.messages import CampaignSummary
from edgeshift.model.check_codes import CheckCode
from edgeshift.model.fleet import Area
from edgeshift.model.reasons import Reasons


class ZoneFact(BaseModel):
    """One zone. ``why``: why it is where it is, as codes with facts; ``reason``: the same for people.
    ``since``: when it came to where it is, of open zones that were asked; ``notices``: what people should
    know of the proposal that waits; ``drifted``: the proposal replaces one that was signed; ``failing``: what
    the last try of its present step failed with.
    """

    name: str
    area: Area
    place: str
    reason: str = ""
    why: Reasons = ()
    fingerprint: str = ""
    since: datetime | None = None
    drifted: bool = False
    notices: Reasons = ()
    failing: str = ""


class CampaignFact(BaseModel):
    """One campaign. ``status``: of its workflow, in Temporal's words. ``spec``: digest of its specification,
    ``archive``: identity of the archive that it was started with; both empty where that cannot be read.
    ``summary``: None where nobody answers, ``trouble`` says why.
    ``unreadable``: what of the archive could not be read; ``elsewhere``: that it keeps its documents in
    another archive. ``left_out``: how many of its open zones were not looked at one by one, so that
    it is not known how long they have been where they are. ``heeded``: whether workers may go by what is
    signed in it, as far as that is known here. Durations are real ones.

    ``expires_after``: how long a zone may wait for a sign-off. ``settles_in``: how long a permit lasts, with
    the request under it. ``step_lasts``: how long one step of a zone may take; ``tried_for``: for how long
    one that fails may be tried again before somebody should look.
    """

    name: str
    status: str = "running"
    spec: str = ""
    archive: str = ""
    summary: CampaignSummary | None = None
    trouble: str = ""
    unreadable: str = ""
    elsewhere: str = ""
    expires_after: timedelta = timedelta(days=14)
    settles_in: timedelta = timedelta(minutes=3)
    step_lasts: timedelta = timedelta(hours=4)
    tried_for: timedelta = timedelta(minutes=10)
    zones: tuple[ZoneFact, ...] = ()
    left_out: int = 0
    heeded: bool = True


class CheckFact(BaseModel):
    """What the doctor found. ``name``: its title, for people. ``state``: ok, warning, failed or skipped.
    ``campaign``: whose file it is of.
    """

    code: CheckCode
    name: str
    state: str
    text: str
    fix: str = ""
    campaign: str = ""


class QuotaFact(BaseModel):
    """A user's quota: until when the service refuses this user's calls."""

    user: str
    workflow: str
    blocked_until: datetime


class StuckFact(BaseModel):
    """A workflow whose task has failed so often in a row."""

    workflow: str
    attempts: int
    campaign: str = ""


class Facts(BaseModel):
    """All that alarms are made of. ``now``: the present, by the clock of whoever asks. ``names``: what fills
    placeholders such as ADDRESS.
    """

    now: datetime
    names: dict[str, str] = {}
    checks: tuple[CheckFact, ...] = ()
    quotas: tuple[QuotaFact, ...] = ()
    stuck: tuple[StuckFact, ...] = ()
    campaigns: tuple[CampaignFact, ...] = ()
