"""What the archive's records are to the rule of what was sent before (earlier.py), for the door and for the
verifier of audit files.
"""

from __future__ import annotations

from edgeshift.authority.earlier import SentStep
from edgeshift.stores.documents import Intent


def sent_of(record: Intent) -> SentStep:
    """What a record says was about to be sent."""
    digests = record.digest, record.fingerprint
    return SentStep(record.step, record.in_attempt, *digests, run=record.run, start=record.start)
