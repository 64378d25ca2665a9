"""Before a sign-off each lost setting is shown by name, up to a bound, with the verb that shows all."""

from __future__ import annotations

import io

from rich.console import Console

from edgeshift.areas.waf import Loss, SettingKind, text_of_loss
from edgeshift.cli.proposals import MOST_SETTINGS, show_proposal
from edgeshift.cli.shell import Shell
from edgeshift.messages import Step
from edgeshift.operations import Preview

LOST = tuple(
    Loss(kind=SettingKind.RULE, package="Core", id=str(981100 + number), name="A robot", mode="off")
    for number in range(MOST_SETTINGS + 5)
)


def shown(lost: tuple[Loss, ...], compare: tuple[str, ...] = (), carried: tuple[str, ...] = ()) -> str:
    """What is printed of a proposal that loses these."""
    shell, out = Shell(), io.StringIO()
    shell.console = Console(file=out, width=80)
    show_proposal(
        shell,
        Preview(
            zone="shop.example",
            plan="pro",
            step=Step.COMMIT,
            digest="d" * 64,
            fingerprint="f" * 64,
            additions=(),
            losses=tuple(map(text_of_loss, lost)),
            warnings=(),
            evidence=None,
            drifted=False,
            carried_over=carried,
            compare=compare,
        ),
    )
    return out.getvalue()


def test_each_lost_setting_is_named() -> None:
    """The first ones, and how many more there are and where."""
    lines = [line for line in shown(LOST).splitlines() if line.startswith("  lost: ")]
    assert len(lines) == MOST_SETTINGS + 1
    assert lines[0] == "  lost: rule 981100 (A robot) of Core: off"
    # What a zone had is in its snapshot; which of it is lost, in its proposal.
    assert lines[-1] == "  lost: … and 5 more: edgeshift show shop.example --area waf"


def test_settings_to_compare_are_no_losses() -> None:
    """They have a label of their own; without any, there is none."""
    text = shown(LOST[:1], ("group PHP of Own: off",))
    assert "  to compare: group PHP of Own: off" in text and text.count("  lost: ") == 1
    assert "to compare" not in shown(())


def test_what_becomes_something_else_is_no_loss() -> None:
    """It has a label of its own."""
    text = shown((), carried=("Core: sensitivity high becomes paranoia level 2",))
    assert "  carried over: Core: sensitivity high" in text and "lost" not in text
