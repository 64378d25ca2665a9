"""What a person or a program does with campaigns, over a Temporal client: typed, with errors for people."""

from typing import TYPE_CHECKING

from edgeshift.runtime.lazily import names_of

if TYPE_CHECKING:
    from edgeshift.operations.again import begin_again, counts_at, outcomes_for, outcomes_of, zones_at
    from edgeshift.operations.archives import campaign_here, check_archive, check_campaigns, check_workers
    from edgeshift.operations.campaigns import (
        Frozen,
        assess,
        campaign_input,
        campaign_result,
        freeze,
        frozen_by,
        refuse_if_started,
        start_campaign,
        store_spec,
        summary,
    )
    from edgeshift.operations.errors import (
        BadInput,
        Failed,
        NotAsSigned,
        NotFound,
        OperationError,
        Refused,
        ServiceTrouble,
        TemporalTrouble,
    )
    from edgeshift.operations.plans import planned
    from edgeshift.operations.preview import Preview, preview_of
    from edgeshift.operations.proof import UNKNOWN, UNSIGNED, note_of, together
    from edgeshift.operations.sign_offs import (
        Examples,
        ToSign,
        by_prefix,
        by_wave,
        checked_prefix,
        examples,
        separate_zones,
        sign_by_key,
        sign_fingerprints,
        sign_zone,
        waiting_groups,
        waiting_zone,
    )
    from edgeshift.operations.steering import NotTold, ToldAlone, abort, pause, resume, stop_untold
    from edgeshift.operations.zones import (
        FoundZone,
        frozen_targets,
        pick_zone,
        pick_zones,
        read_again,
        support_resolved,
        zone_state,
        zone_with_support,
    )

__all__ = [
    "UNKNOWN",
    "UNSIGNED",
    "BadInput",
    "Examples",
    "Failed",
    "FoundZone",
    "Frozen",
    "NotAsSigned",
    "NotFound",
    "NotTold",
    "OperationError",
    "Preview",
    "Refused",
    "ServiceTrouble",
    "TemporalTrouble",
    "ToSign",
    "ToldAlone",
    "abort",
    "assess",
    "begin_again",
    "by_prefix",
    "by_wave",
    "campaign_here",
    "campaign_input",
    "campaign_result",
    "check_archive",
    "check_campaigns",
    "check_workers",
    "checked_prefix",
    "counts_at",
    "examples",
    "freeze",
    "frozen_by",
    "frozen_targets",
    "note_of",
    "outcomes_for",
    "outcomes_of",
    "pause",
    "pick_zone",
    "pick_zones",
    "planned",
    "preview_of",
    "read_again",
    "refuse_if_started",
    "resume",
    "separate_zones",
    "sign_by_key",
    "sign_fingerprints",
    "sign_zone",
    "start_campaign",
    "stop_untold",
    "store_spec",
    "summary",
    "support_resolved",
    "together",
    "waiting_groups",
    "waiting_zone",
    "zone_state",
    "zone_with_support",
    "zones_at",
]

_NAMES = {
    "again": ("begin_again", "counts_at", "outcomes_for", "outcomes_of", "zones_at"),
    "archives": ("campaign_here", "check_archive", "check_campaigns", "check_workers"),
    "campaigns": (
        "Frozen",
        "assess",
        "campaign_input",
        "campaign_result",
        "freeze",
        "frozen_by",
        "refuse_if_started",
        "start_campaign",
        "store_spec",
        "summary",
    ),
    "errors": (
        "BadInput",
        "Failed",
        "NotAsSigned",
        "NotFound",
        "OperationError",
        "Refused",
        "ServiceTrouble",
        "TemporalTrouble",
    ),
    "plans": ("planned",),
    "preview": ("Preview", "preview_of"),
    "proof": ("UNKNOWN", "UNSIGNED", "note_of", "together"),
    "sign_offs": (
        "Examples",
        "ToSign",
        "by_prefix",
        "by_wave",
        "checked_prefix",
        "examples",
        "separate_zones",
        "sign_by_key",
        "sign_fingerprints",
        "sign_zone",
        "waiting_groups",
        "waiting_zone",
    ),
    "steering": ("NotTold", "ToldAlone", "abort", "pause", "resume", "stop_untold"),
    "zones": (
        "FoundZone",
        "frozen_targets",
        "pick_zone",
        "pick_zones",
        "read_again",
        "support_resolved",
        "zone_state",
        "zone_with_support",
    ),
}
"""What each module has that is found here, loaded when it is first asked for."""

if not TYPE_CHECKING:
    # For mypy it would make a name of anything.
    __getattr__ = names_of(__name__, _NAMES)
