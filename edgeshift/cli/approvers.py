"""What the roots that are known where a verb runs make of a campaign file and its approvers."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from edgeshift.campaign_file.spec import CampaignSpec
    from edgeshift.cli.shell import Shell


def refuse_too_few(shell: Shell, spec: CampaignSpec, by: str) -> None:
    """Raises BadInput where too few could ever sign a campaign that this person starts."""
    from edgeshift.operations.policies import refuse_unsignable

    refuse_unsignable(spec, by, shell.readable_roots, grow=_grow(shell))


def warnings_here(shell: Shell, spec: CampaignSpec, *, signed: bool | None = None) -> list[str]:
    """The warnings of a campaign file, and what the roots add to them. ``signed``: as in ``warnings``; by
    the roots where it is not given.
    """
    from edgeshift.campaign_file.warnings import warnings
    from edgeshift.operations.policies import policy_warnings

    signed = shell.asks_for_keys if signed is None else signed
    roots = shell.readable_roots
    return [*warnings(spec, signed=signed), *policy_warnings(spec, roots, grow=_grow(shell))]


def _grow(shell: Shell) -> bool:
    """Whether the roots are those of the stack of this folder, where everybody who signs has a key, and every
    role.
    """
    own = shell.settings.authority
    return own.key is None and own.roots is None and shell.roots_file() is not None
