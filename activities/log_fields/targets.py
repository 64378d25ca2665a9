"""The targets of a campaign of the area log-fields: each zone that gets further fields is one of them."""

from __future__ import annotations

from collections.abc import Sequence

from temporalio.exceptions import ApplicationError

from activities.naming import some_of
from edgeshift.areas.log_fields.terms import LogFieldsSpec
from edgeshift.campaign_file.spec import CampaignSpec
from edgeshift.model.counts import agreed, counted
from edgeshift.model.fleet import Zone


def refuse_unknown_additions(spec: CampaignSpec, chosen: Sequence[Zone]) -> None:
    """Raises BadInput where fields are added for a zone that is no target, naming it."""
    known = {key for zone in chosen for key in (zone.id, zone.name)}
    additions = spec.section(LogFieldsSpec).zones
    if missing := [name for name in additions if name not in known]:
        shown = some_of(missing)
        raise ApplicationError(
            f"log_fields.zones adds fields for {counted(len(missing), 'zone')}"
            f" that {agreed(len(missing), 'is', 'are')} not among the targets:"
            f" {shown}; name them as the service does, or remove them",
            type="BadInput",
            non_retryable=True,
        )
    for zone in chosen:
        if {zone.id, zone.name} <= additions.keys():
            raise ApplicationError(
                f"log_fields.zones has zone {zone.name} twice, by its name and by its identifier {zone.id}:"
                " keep one of them",
                type="BadInput",
                non_retryable=True,
            )
