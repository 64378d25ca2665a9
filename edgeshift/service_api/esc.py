"""The ESC disable setting of a zone or an account (docs/service.md §2.1, §3.1, §4.1).

What POST and DELETE answer is not shown: any 2xx counts, and what is in force is read afterwards.
"""

from __future__ import annotations

import re
from typing import Any

from pydantic import SecretStr

from edgeshift.runtime.redaction import register_secret, secret_forms
from edgeshift.service_api.caller import BeforeSend, Caller
from edgeshift.service_api.confidential import EscSetting
from edgeshift.service_api.envelope import NOT_THERE, acknowledged, says_nothing, unwrapped
from edgeshift.service_api.errors import InvalidIdentifier, NotFound
from edgeshift.service_api.transport import Call, Received

_SCOPE = re.compile(r"(zones|accounts)/[0-9a-f]{32}")
_ENDED = re.compile(
    r"\b(removed|retired|no longer|deprecated|discontinued|sunset|end[- ]of[- ]life|has ended)\b",
    re.IGNORECASE,
)
_GONE = re.compile(
    r"""\b(?:zone|account|identifier)\b
        (?:\s+(?:id|identifier|tag|with|named|was|is|could|'?[0-9a-f]{32}'?))*:?
        \s+(?:not\s+(?:be\s+)?found|does\s+not\s+exist|doesn't\s+exist|no\s+longer\s+exists|(?:not\s+|in)valid)\b
      | \b(?:invalid|unknown|no\s+such)\s+(?:zone|account|identifier)\b
        (?!\s+(?:settings?|configurations?|config|secrets?|values?|esc|edge)\b)""",
    re.IGNORECASE | re.VERBOSE,
)
_OF_ITS_OWN = re.compile(
    r"\b(?:settings?|configurations?|config|secrets?|values?|esc|edge side code)\b[^.:;,!?()-]*$",
    re.IGNORECASE,
)
_UNKNOWN = re.compile(r"\b(?:invalid|unknown|no\s+such)\b", re.IGNORECASE)


def _names_no_scope(said: str) -> bool:
    """Whether a sentence says that its zone or account is gone: not that a setting of it, which is named
    before it in the same part of the sentence, is not there ("setting for zone not found").
    """
    return any(
        _UNKNOWN.match(found[0]) or not _OF_ITS_OWN.search(said[: found.start()])
        for found in _GONE.finditer(said)
    )


class EscCalls(Caller):
    """Reading and writing the setting. ``scope`` is ``zones/<id>`` or ``accounts/<id>``; another raises
    InvalidIdentifier. Every write is sent once.
    """

    async def esc(self, scope: str, *, urgent: bool = False) -> EscSetting:
        """What is configured for the scope. Bare or in the envelope, empty, null or a 404 that says no more
        than that there is nothing: all are read.

        Raises NotFound or Gone where the service says that ESC has ended, or that it knows no such path or
        scope, and NotUnderstood for an answer that has neither ``always`` nor ``with_secret`` but other
        things, or that is a page of something between.
        """
        call = Call("esc.get", "GET", _path(scope))
        result = await self._exchanged(call, _configured, urgent=urgent)
        if result in (None, {}):
            return EscSetting()
        if not isinstance(result, dict) or not {"always", "with_secret"} & result.keys():
            raise self._not_understood(call, "expected an object with always or with_secret")
        return self._read(call, EscSetting, result)

    async def set_esc_secret(
        self, scope: str, secret: SecretStr, *, before_send: BeforeSend | None = None, urgent: bool = False
    ) -> None:
        """Configure the secret; the status stays. Raises InvalidIdentifier for an empty one or one that
        is longer than the service takes (docs/service.md §8); nothing is sent then.
        """
        value, longest = secret.get_secret_value(), self.profile.longest_esc_secret
        if not 0 < len(value) <= longest:
            raise InvalidIdentifier(
                f"ESC secret of {len(value)} characters: 1 to {longest} are right (docs/service.md §8)"
            )
        register_secret(value)
        body = {"with_secret": value}
        await self._write("esc.secret", "POST", scope, before_send, urgent, body, (*secret_forms(value),))

    async def disable_esc(
        self, scope: str, *, before_send: BeforeSend | None = None, urgent: bool = True
    ) -> None:
        """Turn ESC off for every request of the scope; an account's scope covers all its zones."""
        await self._write("esc.disable", "POST", scope, before_send, urgent, {"always": True})

    async def enable_esc(
        self, scope: str, *, before_send: BeforeSend | None = None, urgent: bool = True
    ) -> None:
        """Turn ESC on again, which takes a few seconds. Whether a secret is cleared too is not known."""
        await self._write("esc.enable", "DELETE", scope, before_send, urgent)

    async def _write(
        self,
        name: str,
        method: str,
        scope: str,
        before_send: BeforeSend | None,
        urgent: bool,
        body: dict[str, Any] | None = None,
        secrets: tuple[str, ...] = (),
    ) -> None:
        call = Call(name, method, _path(scope), json=body, write=True, secrets=secrets)
        await self._exchanged(call, acknowledged, urgent=urgent, before_send=before_send)


def _configured(call: Call, received: Received, *, secrets: tuple[str, ...]) -> Any:
    """What the answer to a reading has, None for nothing."""
    if says_nothing(received):
        # Answers of these calls are not shown: they may come without the envelope.
        return None
    try:
        return unwrapped(call, received, secrets=secrets)
    except NotFound as failure:
        # That a scope is gone says nothing of its setting, and least of all that ESC is on in it.
        other = any(_ENDED.search(said) or _names_no_scope(said) for said in failure.unabridged)
        if other or NOT_THERE & set(failure.codes):
            raise
        return None


def _path(scope: str) -> str:
    if not _SCOPE.fullmatch(scope):
        raise InvalidIdentifier(
            f"ESC scope {scope[:64]!r}: zones/ or accounts/ and 32 lower-case hexadecimal digits are right"
        )
    return f"/{scope}/disable_esc"
