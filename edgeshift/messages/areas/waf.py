"""What the activities of the area waf take and give back."""

from __future__ import annotations

from datetime import datetime

from edgeshift.areas.waf import Mode
from edgeshift.messages.base import Explained, Message
from edgeshift.messages.zone import ZoneStart
from edgeshift.model.durations import Duration
from edgeshift.model.sign_off import Digest


class Verify(Message):
    """Read the status, when it is due, until the change shows or may no longer be expected to. ``limit``: how
    long that may take. ``since``: when it was sent. ``answered``: whether the service said that it was made
    just then; else it may show at any time.

    For ``Mode.PENDING`` the stored rules are read back and compared with the signed body of ``proposal``.
    """

    start: ZoneStart
    mode: Mode
    proposal: Digest
    snapshot: Digest
    digest: Digest
    evidence: str = ""
    limit: Duration
    shadow: bool = False
    since: datetime | None = None
    answered: bool = False


class Verification(Explained):
    """What the service shows, and what that was seen by. ``reached``: the wanted state; ``unchanged``: still
    the state from before; ``read``: whether it could be read to the end. ``took``: how long it took to show
    by itself, where that is known.
    """

    reached: bool
    unchanged: bool = False
    read: bool = True
    record: str = ""
    took: Duration | None = None
