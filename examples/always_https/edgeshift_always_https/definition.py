"""The area always-https as one object."""

from __future__ import annotations

from edgeshift.areas.area import AreaDefinition, OwnSection, Phrases
from edgeshift.model.fleet import Area
from edgeshift_always_https.reasons import REASONS
from edgeshift_always_https.section import AlwaysHttpsSection

DEFINITION = AreaDefinition(
    name=Area("always-https"),
    title="Always Use HTTPS on, or off",
    workflow="AlwaysHttpsZone",
    reversible=True,
    section=OwnSection(
        key="always_https",
        model=AlwaysHttpsSection,
        meaning="What Always Use HTTPS is set to, and how long it is watched.",
    ),
    reasons=REASONS,
    words={
        "waiting": "HTTPS set, being watched",
        "watching": "HTTPS set, being watched",
        "settled": "HTTPS set",
        "already_settled": "HTTPS was set",
        "rolled_back": "HTTPS set back",
        "commit": "set Always Use HTTPS",
        "committing": "setting HTTPS",
        "roll_back": "set Always Use HTTPS back",
        "rolling_back": "setting HTTPS back",
    },
    sent={"commit": "what sets HTTPS", "roll_back": "what sets HTTPS back"},
    phrases=Phrases(
        changed="Always Use HTTPS was set for {}",
        undone="Always Use HTTPS was set back for {}",
        change="what sets Always Use HTTPS",
        shows="the service shows the setting",
        shows_undone="the service shows the setting as it was",
        done="HTTPS set, or so before",
    ),
    calls=10,
    promise="no setting is changed without a sign-off",
    parts={
        "demo": "edgeshift_always_https.demo:PART",
        "doctor": "edgeshift_always_https.doctor:PART",
        "documents": "edgeshift_always_https.documents:PART",
        "proposals": "edgeshift_always_https.proposals:PART",
        "views": "edgeshift_always_https.views:PART",
        "worker": "edgeshift_always_https.worker:PART",
    },
)
