"""Who may decide on what a campaign proposes: whether enough people are left, and whether one counts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from edgeshift.messages import CampaignSummary
from edgeshift.model.sign_off import Choice, Decision, SignOffPolicy, refusal, who_is_left
from edgeshift.operations.errors import BadInput, Refused
from edgeshift.stores.archive import Archive, ArchiveError
from edgeshift.stores.documents import get_document

if TYPE_CHECKING:
    from edgeshift.authority.roots import Roots


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


async def refuse_uncounted(
    archive: Archive, summary: CampaignSummary, choice: Choice, by: str, roots: Roots | None
) -> None:
    """Raises Refused where the campaign would not count this person's decision, by its file and the ``roots``
    that are known here: no approver, or whoever started it. To be asked before anything is signed. Where the
    file cannot be read, nobody knows it here: the campaign says so.
    """
    from edgeshift.authority.roots import policy_by
    from edgeshift.campaign_file.spec import CampaignSpec

    try:
        spec = await get_document(archive, CampaignSpec, summary.spec)
    except ArchiveError:
        return
    # On whichever digest.
    decision = Decision(choice=choice, digest=summary.spec, by=by)
    if why := refusal(decision, policy_by(roots, spec.sign_off), summary.started_by):
        raise Refused(
            f"{why}; nothing was signed, and nothing sent",
            f"`edgeshift status {summary.name}` shows what waits for a sign-off, and from whom",
        )
