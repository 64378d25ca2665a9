"""A decision on a wave with many fingerprints: each of them is on the screen before the question, and the
question counts them all.
"""

from __future__ import annotations

import io
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import pytest
from rich.console import Console

from edgeshift import operations
from edgeshift.cli import sign_off
from edgeshift.cli.decision import DecisionAsked
from edgeshift.cli.shell import Shell
from edgeshift.cli.signed_elsewhere import Elsewhere
from edgeshift.messages import CampaignSummary, Step, Waiting
from edgeshift.model.body_view import Item, Line, Mark
from edgeshift.model.sign_off import Choice
from edgeshift.operations import Examples, ToSign
from edgeshift.operations.group import Rest
from edgeshift.operations.preview import Preview
from tests.rules.test_timeline_watch import summary

MANY = 14
PRINTS = [f"{number:02d}" * 32 for number in range(1, MANY + 1)]
PREVIEW = Preview(
    zone="shop.example",
    plan="pro",
    step=Step.COMMIT,
    digest="d" * 64,
    fingerprint="",
    additions=(),
    losses=(),
    warnings=(),
    evidence=None,
    drifted=False,
)


class Asked(Exception):
    """Instead of an answer: what was asked."""


def groups() -> tuple[Waiting, ...]:
    """One zone more with each: 105 in all."""
    return tuple(
        Waiting(fingerprint=one, zones=number, waves=[0], example=number, step=Step.COMMIT)
        for number, one in enumerate(PRINTS, 1)
    )


def item(number: int) -> Item:
    """What one fingerprint adds, and no other."""
    return Item(
        mark=Mark.ADDED,
        title=f"rule {number} of its own",
        lines=(Line(label="on", text=f"path {number}"),),
    )


def found(*, unseen: tuple[str, ...] = ()) -> Examples:
    """What the archive has of them: of each another body, but for those that cannot be shown."""
    shown = {
        one: replace(
            PREVIEW,
            zone=f"shop-{number}.example",
            fingerprint=one,
            items=(item(number),),
        )
        for number, one in enumerate(PRINTS, 1)
        if one not in unseen
    }
    rest = {one: Rest(same=number - 1) for number, one in enumerate(PRINTS, 1)}
    return Examples(shown=shown, unseen=dict.fromkeys(unseen, "damaged"), rest=rest)


async def asked(monkeypatch: pytest.MonkeyPatch, examples: Examples, width: int) -> tuple[str, str]:
    """What a person sees of wave 1 on a terminal of this width, and what they are asked then."""

    def gives(answer: Any) -> Any:
        async def give(*_: object, **__: object) -> Any:
            return answer

        return give

    @asynccontextmanager
    async def nowhere(*_: object, **__: object) -> AsyncIterator[None]:
        yield None

    def question(self: Shell, text: str, **_: object) -> None:
        raise Asked(text)

    campaign: CampaignSummary = summary(waiting=list(groups()))
    for name, answer in {
        "summary": campaign,
        "check_archive": None,
        "waiting_groups": list(groups()),
        "frozen_targets": [],
        "separate_zones": [],
        "examples": examples,
    }.items():
        monkeypatch.setattr(operations, name, gives(answer))
    monkeypatch.setattr(operations, "by_wave", lambda some, wave, _: ToSign(tuple(some), wave))
    monkeypatch.setattr("edgeshift.operations.policies.refuse_uncounted", gives(None))
    monkeypatch.setattr(Shell, "temporal", nowhere)
    monkeypatch.setattr(Shell, "archive", lambda _: None)
    monkeypatch.setattr(Shell, "note_of", gives(""))
    monkeypatch.setattr(Shell, "confirm", question)
    shell = Shell()
    shell.console = Console(width=width, file=io.StringIO(), highlight=False)
    where = Elsewhere.of(prints=False, out=None, statements=[], signatures=[])
    with pytest.raises(Asked) as raised:
        await sign_off._sign_groups(shell, DecisionAsked(Choice.APPROVE, "ada", "", where), "autumn", "", 1)
    seen: str = shell.console.file.getvalue()  # type: ignore[attr-defined]
    return seen, str(raised.value)


@pytest.mark.parametrize("width", [60, 120])
async def test_each_of_many_fingerprints_is_shown_before_the_question(
    monkeypatch: pytest.MonkeyPatch, width: int
) -> None:
    """All fourteen, with their bodies and how many zones each is of; none is left out for its length."""
    seen, question = await asked(monkeypatch, found(), width)
    told = re.findall(r"^fingerprint (\d+) of 14: ([0-9a-f]{12,64})", seen, re.MULTILINE)
    assert [int(number) for number, _ in told] == list(range(1, MANY + 1))
    assert all(whole.startswith(part) for (_, part), whole in zip(told, PRINTS, strict=True))
    assert all((len(part) == 64) is (width == 120) for _, part in told)
    for number in range(1, MANY + 1):
        assert f"for example: shop-{number}.example" in seen
        assert f"rule {number} of its own" in seen and f"path {number}" in seen
    assert re.findall(r"zones that wait: (\d+)", seen) == [str(number) for number in range(1, MANY + 1)]
    expected = "Approve 14 fingerprints of wave 1, 105 zones now and those that come later, as ada?"
    assert question == expected


async def test_what_cannot_be_shown_is_not_counted_in_the_question(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is on the screen as one that is not signed, and the question is about the others."""
    seen, question = await asked(monkeypatch, found(unseen=(PRINTS[4], PRINTS[13])), 120)
    assert all(one in seen for one in PRINTS)
    assert seen.count("not shown, and not signed: damaged") == 2
    assert question.startswith("Approve 12 fingerprints of wave 1, 86 zones now")
