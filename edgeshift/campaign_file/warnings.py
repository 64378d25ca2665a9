"""What a campaign file allows and a person should know before it runs. Pure."""

from __future__ import annotations

from edgeshift.areas import area_of
from edgeshift.campaign_file.of_area import CAMPAIGN_FILE
from edgeshift.campaign_file.spec import CampaignSpec
from edgeshift.model.counts import agreed, counted
from edgeshift.model.durations import say_duration
from edgeshift.runtime.queues import LOOKS

NAMES_ALONE = (
    "no roots that ask for signatures are known here: where the workers have none either, anyone who can"
    " reach Temporal may sign, in anybody's name"
)
"""Where nobody's key is asked for. Which roots workers have, ``doctor`` says."""


def warnings(spec: CampaignSpec, *, signed: bool) -> list[str]:
    """One sentence for each thing that is allowed and may surprise. ``signed``: whether the roots that are
    known where it is asked let signatures alone count.
    """
    found = []
    sign_off = spec.sign_off
    if not signed:
        found.append(NAMES_ALONE)
    if sign_off.approvers and len(set(sign_off.approvers)) == sign_off.required:
        found.append("every listed approver must approve: one who is away holds it all up")
    if sign_off.per == "zone":
        found.append("each zone is signed by itself, also where many propose the same")
    if spec.time_scale != 1:
        found.append(f"time scale {spec.time_scale:g}: durations are shortened; this is a rehearsal")
    found += CAMPAIGN_FILE.of(spec.area).warnings(spec)
    if said := _more_than_looks(spec):
        found.append(said)
    if spec.service.rate.people == 0:
        found.append("nothing of the rate limit is left to people and other programs")
    if spec.commit.resend_unchanged:
        found.append(
            "a step of unknown outcome may be sent again by itself,"
            f" {counted(spec.commit.resend_unchanged, 'time')}"
        )
    return found


def _more_than_looks(spec: CampaignSpec) -> str:
    """What follows where more changes may be looked at at a time than one worker has slots for; else empty.
    A window of ``auto`` without a bound is no number that anybody chose: it ends at what the limit can use.
    """
    named = spec.window != "auto" or not area_of(spec.area).reversible
    if not named or spec.largest_window <= LOOKS:
        return ""
    return (
        f"window: up to {spec.largest_window:,} changes may be looked at at once until they show, and a"
        f" worker looks at {LOOKS:,} unless EDGESHIFT_WORKER_LONG_ACTIVITIES says more: where they show"
        " slowly, all campaigns' readings wait behind them, also those that rollbacks need; run more"
        " workers, raise that number, or choose a smaller window"
    )


def slowest(spec: CampaignSpec, zones: int) -> str:
    """One sentence: how fast so many zones move where each migration takes as long as it may, and no more
    than ``window`` are under way at once.
    """
    limit, window = spec.commit.migration_limit, spec.largest_window
    an_hour = window / max(limit.total_seconds(), 1.0) * 3600
    turns = -(-zones // window)
    most = "at most " if spec.window == "auto" else ""
    return (
        f"{most}{counted(window, 'zone')} {agreed(window, 'works', 'work')} at once:"
        " if every migration took all of commit.migration_limit"
        f" ({say_duration(limit)}), {an_hour:,.3g} zones an hour, {say_duration(turns * limit)} for all"
    )
