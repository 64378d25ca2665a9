"""What the stack's campaign file of the area waf says at its end: with it somebody begins."""

from __future__ import annotations

from edgeshift.testbed.stack.parts import StackPart

REHEARSED = (
    "# Two waves: a tenth of the zones, and the rest once half of those have an outcome. Two of three people",
    "# have to agree: sign with --by ada, and again with --by grace. The stack makes a key for each.",
    "waves: [{name: canary, percent: 10}, {name: rest}]",
    "advance: {percent: 50}",
    "sign_off: {approvers: [ada, grace, alan], required: 2}",
)
"""With it somebody begins, and sees a wave end and people agree."""


class WafStack(StackPart):
    """Waves and approvers."""

    def rehearsal(self) -> tuple[str, ...]:
        """As they stand."""
        return REHEARSED


PART = WafStack()
