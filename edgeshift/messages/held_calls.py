"""Waiting for a service that refuses the credential, or that does not answer."""

from __future__ import annotations

from edgeshift.messages.base import Message
from edgeshift.model.sign_off import Digest
from edgeshift.rate_limit.circuit import ServiceHold


class AwaitService(Message):
    """Wait until the service answers again. ``spec``: the campaign's specification in the archive. ``holds``:
    what its zones have met.
    """

    spec: Digest
    holds: tuple[ServiceHold, ...]


class LetCallsGo(Message):
    """Let calls with the campaign's credentials go on, since a person says so."""

    spec: Digest


class GoOn(Message):
    """The campaign's word that the service answers again."""

    campaign_run: str = ""
