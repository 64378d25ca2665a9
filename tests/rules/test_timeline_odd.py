"""Histories of any shape: payloads that nobody expects, and characters that would forge the screen."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console

from edgeshift.views.history_view import history_view
from tests.rules.history_kit import History, decision

SCALARS = st.none() | st.booleans() | st.integers(-5, 2**40) | st.text(max_size=8)

KEYS = st.sampled_from(
    [
        "choice",
        "digest",
        "by",
        "reason",
        "at",
        "permit",
        "decision",
        "decisions",
        "number",
        "step",
        "expires_at",
        "verdict",
        "reasons",
        "snapshot",
        "status",
        "http_status",
        "ray",
        "reached",
        "record",
        "evidence",
        "why",
        "key",
        "location",
        "outcome",
        "mode",
        "limit",
        "seconds",
        "fingerprint",
    ]
)

ANYTHING = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=6),
    max_leaves=12,
)

WRITERS: list[Callable[[History, Any], object]] = [
    *(
        lambda history, odd, name=name: history.add("WorkflowExecutionSignaled", name=name, input=(odd,))
        for name in (
            "sign_off",
            "permit",
            "ruling",
            "revoke",
            "stop",
            "support_resolved",
            "expire",
            "new one",
        )
    ),
    lambda history, odd: history.add("WorkflowExecutionUpdateAccepted", name="decide", input=(odd,)),
    lambda history, odd: history.add("ActivityTaskScheduled", name="change_zone", input=(odd,)),
    lambda history, odd: history.change(result=odd),
    lambda history, odd: history.local("prepare_waf_zone", odd),
    *(
        lambda history, odd, name=name: history.local(name, odd)
        for name in (
            "verify_waf_zone",
            "gather_evidence",
            "give_up_change",
            "open_ticket",
            "hold_zones",
            "settle_zone",
            "watch_zone",
        )
    ),
    lambda history, odd: history.add("WorkflowExecutionCompleted", result=(odd,)),
]


@settings(deadline=None)
@given(odd=ANYTHING, write=st.sampled_from(WRITERS))
def test_payloads_of_any_shape_are_told(odd: Any, write: Callable[[History, Any], object]) -> None:
    """Whatever a payload holds (other versions, other clients), the timeline is told and can be shown."""
    history = History(permit=odd, target=odd)
    write(history, odd)
    told = history.told()
    assert len(told.attempts[0].entries) == 2
    Console(width=80, quiet=True).print(history_view(told, technical=True))


def test_control_characters_cannot_forge_the_screen() -> None:
    """A reason with escape sequences and line feeds stays one plain line."""
    history = History()
    history.prepared()
    evil = decision("mallory\x1b[2J", reason="fine\n12:00:09 signed alice approved\x1b[31m \u202eoops")
    history.add("WorkflowExecutionSignaled", name="sign_off", input=(evil,))
    console = Console(width=100, record=True, file=None, force_terminal=False)
    with console.capture() as captured:
        console.print(history_view(history.told()))
    assert "\x1b" not in captured.get()
    assert "\u202e" not in captured.get()
    assert "\n12:00:09 signed" not in captured.get()
