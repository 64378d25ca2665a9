"""The area always-https as one object."""

from __future__ import annotations

from datetime import timedelta

from edgeshift.areas.area import AreaDefinition, Phrases, Times
from edgeshift.model.fleet import Area

DEFINITION = AreaDefinition(
    name=Area("always-https"),
    title="Always Use HTTPS on",
    workflow="AlwaysHttpsZone",
    reversible=True,
    words={
        "waiting": "HTTPS on, being watched",
        "watching": "HTTPS on, being watched",
        "settled": "HTTPS on",
        "already_settled": "HTTPS was on",
        "rolled_back": "HTTPS off again",
        "commit": "turn Always Use HTTPS on",
        "committing": "turning HTTPS on",
        "roll_back": "turn Always Use HTTPS off again",
        "rolling_back": "turning HTTPS off again",
    },
    sent={"commit": "what turns HTTPS on", "roll_back": "what turns HTTPS off again"},
    phrases=Phrases(
        changed="Always Use HTTPS was turned on for {}",
        undone="Always Use HTTPS was turned off again for {}",
        change="what turns Always Use HTTPS on",
        shows="the service shows the setting on",
        shows_undone="the service shows the setting off again",
        done="HTTPS on, or on before",
    ),
    usual=Times(effect=timedelta(minutes=5), watch=timedelta(minutes=10), every=timedelta(minutes=1)),
    calls=10,
    promise="no setting is turned on without a sign-off",
    parts={
        "demo": "edgeshift_always_https.demo:PART",
        "doctor": "edgeshift_always_https.doctor:PART",
        "worker": "edgeshift_always_https.worker:PART",
    },
)
