"""What a failed activity says beside its words."""

from __future__ import annotations

from edgeshift.messages.base import Message
from edgeshift.model.reason_codes import ReasonCode


class MissingObject(Message):
    """Of a failure of the type ``ArchiveMissing``: the digest of the object that the archive does not have;
    empty where it is a record. Failures of earlier versions have none.
    """

    digest: str = ""


class TooLate(Message):
    """Of a failure of the type ``BadInput``: that by this reason it is too late for any file of this profile.
    Failures of earlier versions have none.
    """

    code: ReasonCode
