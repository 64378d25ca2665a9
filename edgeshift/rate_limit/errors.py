"""Why a call was given no turn. Nothing was sent; the service's client says so in errors of its own."""

from __future__ import annotations

from edgeshift.rate_limit.circuit import OpenCircuit


class TurnRefused(Exception):
    """No turn to call was given, so nothing was sent."""


class CircuitIsOpen(TurnRefused):
    """Calls are held: the service refuses the credential, or does not answer."""

    def __init__(self, hold: OpenCircuit) -> None:
        super().__init__(str(hold))
        self.hold = hold


class TooLate(TurnRefused):
    """The step would not have come to its end in its time: it has not begun."""

    def __init__(self) -> None:
        super().__init__("it would have come too late for all that has to be sent")


class NoLease(TurnRefused):
    """Whoever hands out the slots did not answer, such as the user's quota. ``why``: what it failed by."""

    def __init__(self, why: Exception) -> None:
        super().__init__(f"{type(why).__name__}: {why}")
        self.why = why


class BlockedForLonger(TurnRefused):
    """The service refuses every call of the user for longer than whoever asks may wait."""

    def __init__(self) -> None:
        super().__init__("the service refuses every call of this user for a while")
