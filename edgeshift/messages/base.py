"""What every other message stands on."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from pydantic import AwareDatetime, BaseModel, ConfigDict, StringConstraints

from edgeshift.model.sign_off import LONGEST_REASON

By = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200)]
"""Who says so."""

Why = Annotated[str, StringConstraints(max_length=LONGEST_REASON)]
"""A person's reason; long ones belong elsewhere, since a campaign carries what it was told."""

TASK_QUEUE = "edgeshift"


class Message(BaseModel):
    """The base of what crosses a boundary."""

    model_config = ConfigDict(frozen=True)


class Step(StrEnum):
    """A mutating step of a zone. Each needs a permit; those that cannot be undone need a sign-off too."""

    VALIDATE = "validate"
    SET_SECRET = "set_secret"
    DELETE_OVERRIDES = "delete_overrides"
    COMMIT = "commit"
    ROLL_BACK = "roll_back"


UNSIGNED = frozenset({Step.VALIDATE, Step.SET_SECRET, Step.ROLL_BACK})
"""Steps without a sign-off: those that come before it, and the way back."""

BEFORE_SIGN_OFF = frozenset({Step.VALIDATE, Step.SET_SECRET})
"""Steps that a target asks a permit for before anybody has seen its proposal."""


class Permit(Message):
    """A campaign's leave for one mutating step of one zone: a numbered lease with an expiry.

    ``name`` is unique over all campaigns and runs; the intent of the step is archived under it.
    """

    number: int
    name: str
    index: int
    step: Step
    expires_at: AwareDatetime


class Answer(Message):
    """A short answer of an update, for people. Of an abort also which targets, by index: ``sent``, whose
    change may be past return; ``in_validation``, which may be left in validation mode.
    """

    text: str
    sent: tuple[int, ...] = ()
    in_validation: tuple[int, ...] = ()


class Person(Message):
    """Who asks for something, and why."""

    by: By
    reason: Why = ""
