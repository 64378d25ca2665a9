"""What can go wrong with a call to the service: a named error for each failure (docs/service.md §7).

Every error says what was called, what was answered, and what can have come of it. Its text is short and never
carries a body, an expression or a secret, so that it may stand in a workflow's history.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import StrEnum

from edgeshift.model.failures import FAILURES, Happened
from edgeshift.rate_limit.circuit import OpenCircuit
from edgeshift.rate_limit.errors import BlockedForLonger, TooLate
from edgeshift.runtime.redaction import redact_text

LONGEST_TEXT = 300
_LONGEST_MESSAGE = 200
_LONGEST_FULL_MESSAGE = 4096
_LONGEST_READ = 1024

_SIMPLE = re.compile(r"[\w.:-]{1,64}")
_QUOTED = re.compile(r"""'([^']*(?:'[^\s',.;:)][^']*)*)'|"([^"]*)"|`([^`]*)`""")
_INVALID_VALUE = re.compile(r"'(?![\w.:-]{1,64}' is not)(.*)'( is not a valid value)", re.DOTALL)
_PARSER_SAYS = re.compile(r"(expression is invalid)\b.*", re.IGNORECASE | re.DOTALL)
_LOOKS_LIKE_EXPRESSION = re.compile(
    r"""(?<![\w.])[a-z]+(?:\.[a-z0-9_]+)+(?:\[[^\]]*\])*\)*\s*
        (?:\b(?:eq|ne|lt|le|gt|ge|in|contains|matches|wildcard)\b|[=!~<>]=?|~)
        \s*(?:\{[^}]*\}|\$\w+|"[^"]*"|'[^']*'|\S+)
        (?:\s*\)*\s*(?:and|or|xor|&&|\|\|)\s[^,;]*)?""",
    re.VERBOSE | re.IGNORECASE,
)


class Outcome(StrEnum):
    """What can have come of a call that failed (docs/service.md §7)."""

    NOTHING_HAPPENED = "nothing_happened"
    MAY_HAVE_HAPPENED = "may_have_happened"
    READ = "read"
    """The call only reads: there is nothing that could have happened."""


def outcome_of(kind: str, *, write: bool = True, refused: bool = False) -> Outcome:
    """What can have come of a call that failed, by the table of failures. ``kind``: the name of its error.
    ``refused``: whether the service itself says that it refused it.
    """
    if not write:
        return Outcome.READ
    happened = FAILURES[kind].happened
    proved = happened is Happened.NOTHING or (refused and happened is Happened.NOTHING_IF_SAID)
    return Outcome.NOTHING_HAPPENED if proved else Outcome.MAY_HAVE_HAPPENED


def abridged(message: str, secrets: Sequence[str] = ()) -> str:
    """A message of the service without expressions, quoted bodies or secrets, at most 200 characters.

    Quoted simple words (``'zone'``) stay; anything else in quotes, and whatever reads like a filter
    expression, becomes an ellipsis.
    """
    # A refusal may also quote what it was not sent.
    text = redact_text(without(secrets, message))[:_LONGEST_READ]
    text = _INVALID_VALUE.sub(r"'…'\2", text)
    text = _PARSER_SAYS.sub(r"\1", text)
    text = _QUOTED.sub(_simple_or_nothing, text)
    text = _LOOKS_LIKE_EXPRESSION.sub(" … ", text)
    text = " ".join(text.split())
    return text if len(text) <= _LONGEST_MESSAGE else text[: _LONGEST_MESSAGE - 1] + "…"


def without(secrets: Sequence[str], message: str) -> str:
    """The message without these secrets."""
    for secret in secrets:
        message = message.replace(secret, "***")
    return message


def _simple_or_nothing(found: re.Match[str]) -> str:
    inner = next(group for group in found.groups() if group is not None)
    return (
        found.group(0)
        if not inner or _SIMPLE.fullmatch(inner)
        else f"{found.group(0)[0]}…{found.group(0)[-1]}"
    )


class InvalidIdentifier(ValueError):
    """An identifier that cannot be one of the service's; nothing was sent."""


class Misconfigured(ValueError):
    """A setting of the client that cannot work, such as a CA file that is not there; nothing was sent."""


class NotLet(Misconfigured):
    """The worker's roots do not let it send anything where the campaign file says; nothing was sent."""


class RootsUnread(NotLet):
    """The worker's roots cannot be read, so that nobody can say whether they let it; nothing was sent."""


class ServiceError(Exception):
    """A call to the service failed.

    ``call``: the name of the call, such as ``waf.check``. ``status``: HTTP's, or None where there was no
    answer. ``codes``, ``messages``: of the service's error objects, in its order; messages abridged.
    ``unabridged``: the messages as the service wrote them but for the call's own secrets, 4,096 characters of
    each, for recognising what they are about: another secret that this process knows may be a word of them.
    They must not be written anywhere. ``ray``: the ``cf-ray`` header. ``outcome``: what can have come
    of it. ``credential``: the reference of the one that it was made with, where it is known. ``refused``:
    whether the service itself says that it refused it, by its envelope.
    """

    credential: str = ""
    refused: bool = False

    def __init__(
        self,
        what: str,
        *,
        call: str,
        method: str = "",
        path: str = "",
        outcome: Outcome = Outcome.READ,
        status: int | None = None,
        codes: Sequence[int] = (),
        messages: Sequence[str] = (),
        ray: str | None = None,
        secrets: Sequence[str] = (),
    ) -> None:
        self.call = call
        self.method = method
        self.path = path
        self.outcome = outcome
        self.status = status
        self.codes = tuple(codes)
        # Cut afterwards, which could leave half of a secret.
        self.unabridged = tuple(without(secrets, message)[:_LONGEST_FULL_MESSAGE] for message in messages)
        self.messages = tuple(abridged(message, secrets) for message in messages)
        self.ray = ray
        self.what = abridged(what, secrets)
        super().__init__(self._text())

    @property
    def nothing_happened(self) -> bool:
        """Whether it is proved that the call had no effect."""
        return self.outcome is not Outcome.MAY_HAVE_HAPPENED

    @property
    def answer(self) -> str:
        """What was answered, in a few words: codes and messages, or the status where there are none."""
        words = "; ".join(self.messages)
        return " ".join(filter(None, (", ".join(map(str, self.codes)), words))) if words else self.what

    def _text(self) -> str:
        parts = [f"{self.call}: {self.what}"]
        if self.messages:
            codes = f"[{', '.join(map(str, self.codes))}] " if self.codes else ""
            parts.append(f"{codes}{'; '.join(self.messages)}")
        head = ": ".join(parts)
        where = " ".join(filter(None, (self.method, self.path)))
        notes = ", ".join(filter(None, (where, self.ray and f"cf-ray {self.ray}")))
        tail = f" ({notes[:140]})" if notes else ""
        room = LONGEST_TEXT - len(tail)
        return (head if len(head) <= room else head[: room - 1] + "…") + tail


class ServiceCircuitOpen(ServiceError):
    """Nothing was sent: calls are held, since the service refuses the credential or does not answer."""

    def __init__(self, hold: OpenCircuit) -> None:
        super().__init__(str(hold), call="held", outcome=outcome_of("ServiceCircuitOpen"))
        self.hold = hold
        self.credential = hold.credential


class NoTurn(ServiceError):
    """Nothing was sent: whoever hands out the turns to call did not answer, such as the user's quota, or the
    turn would have come too late.
    """

    def __init__(self, why: Exception) -> None:
        told = str(why) if isinstance(why, (TooLate, BlockedForLonger)) else f"{type(why).__name__}: {why}"
        what = f"no turn to call was given: {told}"
        super().__init__(what, call="turn", outcome=outcome_of("NoTurn"))


class Refused(ServiceError):
    """A 4xx that has no name of its own below."""


class Unauthorized(Refused):
    """401: the service does not know who calls."""


class InvalidCredential(Unauthorized):
    """The token, key or e-mail is malformed, wrong or no longer active (docs/service.md §5)."""


class Forbidden(Refused):
    """403: the credential lacks a permission, or does not reach this account or zone (docs/service.md §5)."""


class NotFound(Refused):
    """404: there is no such thing, as the service itself says. Any other 404 is NotUnderstood."""


class Gone(Refused):
    """410: the endpoint has stopped, as those of the previous WAF do after the migration (docs/service.md
    §3.2).
    """


class Conflict(Refused):
    """409: whether something happened is not known."""


class RateLimited(Refused):
    """429: too many requests of this user; nothing happened (docs/service.md §8).

    ``retry_after``: seconds, where the service says so. ``outright``: whether it says so in ``Retry-After``.
    ``blocked``: whether it says that every call of the user is refused for a while (code 10100).
    """

    retry_after: float | None = None
    outright: bool = False
    blocked: bool = False

    def holds_for(self, assumed: float) -> float:
        """Seconds for which the user's calls are to wait. ``assumed``: how long a block lasts where nothing
        is said; one does not end with the window of a limit, which is no more than that of the calls.
        """
        if self.retry_after is None:
            return assumed
        return max(assumed, self.retry_after) if self.blocked and not self.outright else self.retry_after


class ServerError(ServiceError):
    """A 5xx of the service itself."""


class GatewayError(ServerError):
    """502, 503, 504 or 52x: something between the client and the service failed."""


class TimedOut(ServiceError):
    """No answer in time (408 included): the service may be working on the call still."""


class ConnectionRefused(ServiceError):
    """No connection: name, TCP, TLS or the proxy's tunnel failed before anything of the request was
    written.
    """


class ConnectionLost(ServiceError):
    """The connection broke after the request may have been written."""


class NotUnderstood(ServiceError):
    """An answer that is not what docs/service.md describes; the text says what was expected."""


class OddPages(NotUnderstood):
    """What the pages of a list say of themselves does not fit them, as where it has changed meanwhile."""


class Redirected(NotUnderstood):
    """A 3xx. Redirects are not followed: a credential goes to the configured service alone."""


class Unsuccessful(ServiceError):
    """HTTP says success and the envelope says failure."""


class QueryFailed(ServiceError):
    """The GraphQL endpoint answered 200 with errors (docs/service.md §4.3, observed)."""
