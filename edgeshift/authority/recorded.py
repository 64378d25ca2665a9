"""What the archive's records are to the rule of what was sent before (earlier.py), for the door and for the
verifier of audit files.
"""

from __future__ import annotations

from edgeshift.authority.earlier import Sent
from edgeshift.stores.documents import Intent


def sent_of(record: Intent) -> Sent:
    """What a record says was about to be sent."""
    digests = record.digest, record.fingerprint
    return Sent(record.step, record.in_attempt, *digests, run=record.run, start=record.start)
