"""Why something is as it is: a code that programs decide by, and the facts of the case. Its text is made in
edgeshift/model/reason_texts.py and nowhere else. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date
from typing import Any

from pydantic import BaseModel, ConfigDict, JsonValue, SerializerFunctionWrapHandler, model_serializer

from edgeshift.model.reason_codes import ReasonCode as ReasonCode


class Reason(BaseModel):
    """A code with what is known of the case; which facts there are depends on the code. Those that say
    nothing are left out of its JSON.

    ``case``: the support case that a refusal is. ``count``: how many, of what the code is about; ``of``: out
    of how many, or how many there were before; ``limit``: how many there may be at most. ``size``: bytes.
    ``seconds``: how long it took. ``names``: of what it is about, the first ones. ``state``: what the service
    shows, a mode, or a status. ``plan``: the plan of the zone now. ``day``, ``at``: the day in question, and
    what day it is at the service. ``by``: who. ``said``: the words of a person, the service or another
    system. ``tried``: the activity that was tried until its time was over. ``because``: what led to it.
    ``then``: what was found after. ``facts``: of a code that an installed area brings, as JSON.
    ``words``: its text, where that is not made of the facts above: of an earlier version, which has no facts,
    of held calls, and of the codes of installed areas, whose texts their own models make.
    """

    model_config = ConfigDict(frozen=True)

    code: ReasonCode
    case: ReasonCode | None = None
    count: int | None = None
    of: int | None = None
    limit: int | None = None
    size: int | None = None
    seconds: float | None = None
    names: tuple[str, ...] = ()
    state: str = ""
    plan: str = ""
    day: date | None = None
    at: date | None = None
    by: str = ""
    said: str = ""
    tried: str = ""
    because: tuple[Reason, ...] = ()
    then: tuple[Reason, ...] = ()
    facts: dict[str, JsonValue] = {}
    words: str = ""

    @model_serializer(mode="wrap")
    def _with_facts_alone(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        return {name: value for name, value in handler(self).items() if value not in (None, "", (), [], {})}

    @property
    def support_case(self) -> ReasonCode:
        """Which case for the provider's support it is, where it is one."""
        return self.case or self.code


Reasons = tuple[Reason, ...]
"""Everything that explains one thing: several where it has several reasons at once, such as two limits."""


def codes_of(why: Iterable[Reason]) -> tuple[ReasonCode, ...]:
    """The codes of reasons, each once, in their order."""
    return tuple(dict.fromkeys(reason.code for reason in why))


def in_words(text: str, code: ReasonCode = ReasonCode.OTHER) -> Reasons:
    """A reason of which only the text is known, as messages of earlier versions have it; none for no text."""
    return (Reason(code=code, words=text),) if text else ()
