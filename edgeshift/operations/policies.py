"""Whether enough people are left to approve what a campaign proposes."""

from __future__ import annotations

from edgeshift.model.sign_off import SignOffPolicy, who_is_left
from edgeshift.operations.errors import BadInput


def refuse_unsignable(policy: SignOffPolicy, by: str) -> None:
    """Raises BadInput where a campaign that this person starts could never be signed by as many as it needs:
    with four eyes, whoever starts it cannot approve.
    """
    left = who_is_left(policy, by)
    if left is None or len(left) >= policy.required:
        return
    others = f"only {', '.join(left)} may" if left else "nobody else may"
    raise BadInput(
        f"sign_off: {policy.required} must approve, and {by}, who starts the campaign, cannot (four_eyes):"
        f" {others}",
        "let somebody else start it, list more under sign_off.approvers, or lower sign_off.required",
    )
