"""What every other message stands on."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import (
    AwareDatetime,
    BaseModel,
    ConfigDict,
    Field,
    StringConstraints,
    TypeAdapter,
    model_validator,
)

from edgeshift.model.reason_texts import text_of
from edgeshift.model.reasons import ReasonCode, Reasons, codes_of, in_words
from edgeshift.model.sign_off import LONGEST_NAME, LONGEST_REASON
from edgeshift.model.steps import Step

By = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=LONGEST_NAME)]
"""Who says so."""

Why = Annotated[str, StringConstraints(max_length=LONGEST_REASON)]
"""A person's reason; long ones belong elsewhere, since a campaign carries what it was told."""

_MOST = 2**53

Number = Annotated[int, Field(ge=-_MOST, le=_MOST)]
"""A number that anybody may have sent. Whoever reads it says which ones mean something."""

Name = Annotated[str, StringConstraints(max_length=300)]
"""A name or an identifier that anybody may have sent."""

Text = Annotated[str, StringConstraints(max_length=4_000)]
"""A text that anybody may have sent."""

Reference = Annotated[str, StringConstraints(max_length=5_000)]
"""Where a credential lies: a path may be long."""

LONGEST_TEXT = 300
"""Characters of a reason's text that a message has."""

_WHY = TypeAdapter(Reasons)


class Message(BaseModel):
    """The base of what crosses a boundary."""

    model_config = ConfigDict(frozen=True)


class Explained(Message):
    """What says why: ``why`` as codes with their facts, and ``reason``, the same as text. One from
    before there were codes has the text alone; no committed history has such a message.
    """

    reason: str = ""
    why: Reasons = ()

    @model_validator(mode="before")
    @classmethod
    def _say(cls, given: Any) -> Any:
        if isinstance(given, dict) and given.get("why") and not given.get("reason"):
            why = _WHY.validate_python(given["why"])
            return {**given, "why": why, "reason": text_of(*why)[:LONGEST_TEXT]}
        return given

    @property
    def code(self) -> ReasonCode:
        """The first of its codes."""
        return next(iter(codes_of(self.why)), ReasonCode.OTHER)

    @property
    def explained(self) -> Reasons:
        """Why, also where only the text is known."""
        return self.why or in_words(self.reason)


class Permit(Message):
    """A campaign's leave for one mutating step of one zone: a numbered lease with an expiry.

    ``name`` is unique over all campaigns and runs; the intent of the step is archived under it.
    """

    number: Number
    name: Name
    index: Number
    step: Step
    expires_at: AwareDatetime


class Answer(Message):
    """A short answer of an update, for people. Of an abort also which targets, by index: ``sent``, whose
    change may be past return; ``in_validation``, which may be left in validation mode. Of a retry or a
    reopening: ``left``, which were named and do not begin again. Of a pause: ``overtaken``, that somebody has
    resumed the campaign by then, or paused it again.
    """

    text: str
    sent: tuple[int, ...] = ()
    in_validation: tuple[int, ...] = ()
    left: tuple[int, ...] = ()
    overtaken: bool = False


class Person(Message):
    """Who asks for something, and why."""

    by: By
    reason: Why = ""
