"""From a campaign's specification and its frozen targets to the input of its workflow. Pure."""

from __future__ import annotations

from datetime import timedelta

from edgeshift.areas import area_of
from edgeshift.areas.area import Times
from edgeshift.campaign_file.forecast import zones_a_second
from edgeshift.campaign_file.of_area import times_of
from edgeshift.campaign_file.spec import CampaignSpec
from edgeshift.messages import Callers, CampaignStart, ZonePolicy
from edgeshift.model.fleet import Wave
from edgeshift.model.window import MORE, MORE_BOUNDED


def zone_policy(scaled: CampaignSpec) -> ZonePolicy:
    """What a zone needs of a scaled specification."""
    times = times_of(scaled) or Times(
        effect=scaled.commit.migration_limit, watch=timedelta(0), every=scaled.commit.poll
    )
    return ZonePolicy(
        sign_off=scaled.sign_off,
        modes=scaled.validation.modes,
        validation_window=scaled.validation.window,
        delete_overrides=scaled.consents.delete_uri_overrides,
        migration_limit=times.effect,
        poll=scaled.commit.poll,
        request_limit=scaled.service.request_limit,
        resend_unchanged=scaled.commit.resend_unchanged,
        waits_for_support=scaled.waits_for_support,
        patience=scaled.service.patience,
        turn_window=scaled.commit.waits_for_turn,
        send_window=scaled.commit.send_window,
        margin=scaled.commit.margin,
        silence=scaled.silence,
        watch=times.watch,
        watch_every=times.every,
        fresh=times.fresh,
        secret_takes=times.first_step_takes,
    )


def campaign_start(
    spec: CampaignSpec,
    spec_digest: str,
    *,
    targets: str,
    count: int,
    waves: tuple[Wave, ...],
    enterprise: str,
    started_by: str,
    covers: str = "",
    callers: Callers | None = None,
    readings: str = "",
    archive: str = "",
) -> CampaignStart:
    """The input of a campaign. ``spec``: as its file says it; its durations are scaled here. ``archive``: the
    identity of the archive that has its documents.
    """
    scaled = spec.scaled()
    return CampaignStart(
        name=spec.name,
        area=spec.area,
        targets=targets,
        spec=spec_digest,
        count=count,
        waves=waves,
        window=spec.largest_window,
        grows_by=zones_a_second(scaled) if spec.window == "auto" else None,
        grows_in=MORE if area_of(spec.area).reversible else MORE_BOUNDED,
        advance_percent=spec.advance.percent,
        advance_failures=spec.advance.failures,
        lease=scaled.commit.lease,
        sweep=scaled.sweep,
        policy=zone_policy(scaled),
        started_by=started_by,
        enterprise=enterprise if area_of(spec.area).validates else "",
        covers=covers,
        callers=callers or Callers(),
        readings=readings,
        time_scale=spec.time_scale,
        archive=archive,
    )
