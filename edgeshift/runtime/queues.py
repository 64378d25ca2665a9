"""The task queues, by what waits there: what people wait for never queues behind what the service is slow
about.
"""

from __future__ import annotations

from enum import StrEnum

LOOKS = 2_000
"""Slots of ``LONG`` in a worker whose settings say no other number: changes that it looks at at a time."""


class Queue(StrEnum):
    """A task queue, which has slots and pollers of its own in each worker, so that a full one starves no
    other queue. Within it all campaigns share the slots.

    ``CONTROL``: campaigns, assessments, and what they do to zones: starting, telling, describing. ``ZONES``:
    the zones' workflows. ``CHANGES``: every request that changes a zone, and nothing else, so that whoever
    serves it alone needs a token that may edit. ``LONG``: what waits, such as a reading or a plan's batch for
    its turns in the rate limit, a look for a change to show, or a campaign for the service to answer again;
    with more looks than slots, all else there waits (edgeshift/campaign_file/warnings.py warns of it).
    ``QUOTA``: the users' quotas.
    """

    CONTROL = "edgeshift-control"
    ZONES = "edgeshift-zones"
    CHANGES = "edgeshift-changes"
    LONG = "edgeshift-long"
    QUOTA = "edgeshift-quota"

    @property
    def short(self) -> str:
        """As settings call it."""
        return self.value.removeprefix("edgeshift-")
