"""Waiting for a service that refuses the credential, or that does not answer."""

from __future__ import annotations

from edgeshift.messages.base import Message, Name
from edgeshift.model.reasons import Reason, ReasonCode
from edgeshift.model.sign_off import Digest
from edgeshift.rate_limit.circuit import OpenCircuit, Trouble


class AwaitService(Message):
    """Wait until the service answers again. ``spec``: the campaign's specification in the archive. ``holds``:
    what its zones have met. ``apart``: until these end, whatever else is held of the campaign's calls.
    """

    spec: Digest
    holds: tuple[OpenCircuit, ...]
    apart: bool = False


class LetCallsGo(Message):
    """Let calls with the campaign's credentials go on, since a person says so."""

    spec: Digest


class GoOn(Message):
    """The campaign's word that the service answers again."""

    campaign_run: Name = ""


_CODES = {
    Trouble.REFUSED: ReasonCode.CREDENTIAL_REFUSED,
    Trouble.MISSING: ReasonCode.CREDENTIAL_MISSING,
    Trouble.OUTAGE: ReasonCode.SERVICE_OUTAGE,
}


def reason_of_hold(hold: OpenCircuit) -> Reason:
    """Why a target waits for the service."""
    return Reason(code=_CODES[hold.trouble], by=hold.credential, said=hold.said, words=str(hold))
