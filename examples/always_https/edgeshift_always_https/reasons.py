"""The area's own reasons: their facts, and what people read."""

from __future__ import annotations

from typing import ClassVar, Literal

from edgeshift.model.area_reasons import AreaReason

OnOff = Literal["on", "off"]


class SetAlready(AreaReason):
    """The setting has the value that the campaign wants: there is nothing to do."""

    code: ClassVar[str] = "always-https.set-already"
    value: OnOff

    def text(self) -> str:
        """In words."""
        return f"Always Use HTTPS is {self.value} already"


class Shows(AreaReason):
    """The setting has this value, by a reading after the change."""

    code: ClassVar[str] = "always-https.shows"
    value: OnOff

    def text(self) -> str:
        """In words."""
        return f"the setting is {self.value}"


class NotShown(AreaReason):
    """The change was sent, and the setting did not get this value in time."""

    code: ClassVar[str] = "always-https.not-shown"
    value: OnOff

    def text(self) -> str:
        """In words."""
        return f"the setting did not become {self.value} in time"


class Unreadable(AreaReason):
    """The change was sent, and the setting could not be read to the end."""

    code: ClassVar[str] = "always-https.unreadable"
    trouble: str

    def text(self) -> str:
        """In words."""
        return f"the setting could not be read to the end: {self.trouble}"


class SetByOthers(AreaReason):
    """Somebody else has given the setting this value while it was watched."""

    code: ClassVar[str] = "always-https.set-by-others"
    value: OnOff

    def text(self) -> str:
        """In words."""
        return f"somebody has turned Always Use HTTPS {self.value} meanwhile"


REASONS = (SetAlready, Shows, NotShown, Unreadable, SetByOthers)
