"""What the activities of the area esc take and give back."""

from __future__ import annotations

from edgeshift.messages.base import Message
from edgeshift.messages.steps import Gathered
from edgeshift.messages.zone import Prepared, ZoneStart


class Probe(Message):
    """Ask a sample of the scope's URLs with and without the secret, and propose what people sign."""

    start: ZoneStart
    prepared: Prepared
    sequence: int
    releases: int | None = None


class Probed(Message):
    """The proposal with its digest, and the probe as evidence; None where the scope cannot be probed any
    more.
    """

    prepared: Prepared
    gathered: Gathered | None = None
