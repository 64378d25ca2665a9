"""Reasons of one area's own: each a model of its facts, with its code and its text. Pure.

Their codes begin with the area's name and a dot. So they are told from all others, and are read everywhere,
also where the area is not installed: what crosses a boundary is a ``Reason`` that has the code, the facts as
JSON, and the text.
"""

from __future__ import annotations

from typing import ClassVar, Self

from pydantic import BaseModel, ConfigDict

from edgeshift.model.reasons import Reason, ReasonCode


class AreaReason(BaseModel):
    """One reason of an area. A subclass has a ``code``, its facts as fields, and ``text``; its docstring says
    what it means, in a sentence.
    """

    model_config = ConfigDict(frozen=True)

    code: ClassVar[str]

    def text(self) -> str:
        """The sentence that people read, made of the facts."""
        raise NotImplementedError

    def reason(self) -> Reason:
        """As results, reports, tickets and JSON have it."""
        return Reason(code=ReasonCode(self.code), facts=self.model_dump(mode="json"), words=self.text())

    @classmethod
    def of(cls, reason: Reason) -> Self | None:
        """The typed facts of a reason of this code; None of one of another. Raises ValidationError where they
        are not what the code promises.
        """
        return cls.model_validate(reason.facts) if reason.code == cls.code else None
