"""Who may decide on what a campaign proposes: whether enough people are left, and whether one counts."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from edgeshift.messages import CampaignSummary
from edgeshift.model.counts import agreed
from edgeshift.model.sign_off import Choice, Decision, person, refusal
from edgeshift.operations.errors import BadInput, Refused
from edgeshift.stores.archive import Archive, ArchiveError
from edgeshift.stores.documents import get_document

if TYPE_CHECKING:
    from edgeshift.authority.roots import Roots
    from edgeshift.campaign_file.spec import CampaignSpec

_IDENTIFIER = re.compile(r"[0-9a-f]{32}")
"""An account's identifier, and no name of one."""


def refuse_unsignable(spec: CampaignSpec, by: str, roots: Roots | None = None, *, grow: bool = False) -> None:
    """Raises BadInput where a campaign that this person starts could never be signed by as many as it needs:
    with four eyes, whoever starts it cannot approve. ``roots``: those that are known here; where they let
    signatures alone count, it needs as many as they ask for, and only their approvers can sign. ``grow``:
    whether everybody becomes one by signing, as in a rehearsal's folder.
    """
    from edgeshift.authority.roots import asking, policy_by

    policy = policy_by(roots, spec.sign_off)
    able, unknown = _approvers(spec, None if grow else roots)
    if able is None:
        return
    left = tuple(name for name in able if not (policy.four_eyes and person(name) == person(by)))
    if len(left) >= policy.required:
        return
    starts = len(left) < len(able)
    why = f", and {by}, who starts the campaign, cannot (four_eyes)" if starts else ""
    others = f"only {', '.join(left)} may" if left else f"nobody{' else' if starts else ''} may"
    asked = f" by {_named(roots)}" if roots is not None and policy != spec.sign_off else ""
    known = f"; {_said_unknown(unknown, roots)}" if unknown and roots is not None else ""
    hint = "let somebody else start it, list more under sign_off.approvers, or lower sign_off.required"
    if asking(roots) is not None and not grow:
        hint = (
            "`edgeshift keys list` shows who is approver; list such people under sign_off.approvers, or"
            " `edgeshift keys add NAME --key FILE.pub --role approver` gives the role, in the roots"
        )
        hint = f"let somebody else start it, or: {hint}" if starts else hint
    raise BadInput(f"sign_off: {policy.required} must approve{asked}{why}: {others}{known}", hint)


def policy_warnings(spec: CampaignSpec, roots: Roots | None, *, grow: bool = False) -> list[str]:
    """What the roots that are known here make of a file's approvers, where a person should know that before
    it runs: that too few of them can sign, whoever starts it, or that some cannot. ``grow``: as above.
    """
    try:
        refuse_unsignable(spec, "", roots, grow=grow)
    except BadInput as why:
        return [f"{why.text}; `start` refuses it"]
    unknown = _approvers(spec, None if grow else roots)[1]
    return [f"sign_off.approvers: {_said_unknown(unknown, roots)}"] if unknown and roots is not None else []


def _approvers(spec: CampaignSpec, roots: Roots | None) -> tuple[tuple[str, ...] | None, tuple[str, ...]]:
    """Who can approve, each person once, or None where anybody may; and which listed ones cannot, by roots
    that let signatures alone count. Whoever may approve zones of some accounts alone is no approver of a file
    that names other accounts, by their identifiers, and nothing else.
    """
    from edgeshift.authority.roots import Role, asking

    listed = spec.sign_off.approvers
    if (roots := asking(roots)) is None:
        return (tuple({person(name): name for name in listed}.values()) if listed else None), ()
    targets, now = spec.targets, datetime.now(UTC)
    apart = not targets.all and not targets.include and all(map(_IDENTIFIER.fullmatch, targets.accounts))
    accounts: tuple[str | None, ...] = targets.accounts if apart else (None,)
    able = {
        person(name): name
        for name in listed or roots.file.people
        if any(not roots.refuses_to_sign(name, Role.APPROVER, now, account=one) for one in accounts)
    }
    return tuple(able.values()), tuple(name for name in listed if name not in able.values())


def _said_unknown(names: tuple[str, ...], roots: Roots) -> str:
    are = agreed(len(names), "is no approver", "are no approvers")
    return f"{', '.join(names)} {are} by {_named(roots)}"


def _named(roots: Roots) -> str:
    return f"the roots {roots.place}" if roots.place else "the roots that are known here"


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
