"""What each history event of a change that can be undone buys, and how many there are."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table

LOOK = (
    "each look: timer, workflow task, look, workflow task",
    11,
    11,
    "what became of it, seen from outside",
)
"""Events of one look at a change that was made."""

EVENTS = [
    ("workflow started", 1, 1, "the target exists, with its campaign, wave and plan"),
    ("first workflow task", 3, 3, "the target begins with the plan's reading"),
    ("tell the campaign, local activity", 1, 0, "asks for a permit to set a test secret"),
    ("permit signal", 1, 0, "the permit"),
    ("workflow task", 3, 0, "takes it"),
    ("test secret, remote activity", 3, 0, "a step that changes no request: one attempt, fenced"),
    ("workflow task", 3, 0, "decides what its answer means"),
    ("timer", 2, 0, "until the secret works at the edge"),
    ("workflow task", 3, 0, "reads again"),
    ("prepare, remote activity", 3, 0, "what was read, now with a secret"),
    ("workflow task", 3, 0, "probes"),
    ("probe, remote activity", 3, 0, "what people sign; tells the campaign"),
    ("workflow task", 3, 0, "waits for the sign-off"),
    ("search attributes", 1, 0, "people find what waits; set at the start where it waits at once"),
    ("permit signal", 1, 1, "the sign-off and the permit, in one message"),
    ("workflow task", 3, 3, "checks the sign-off"),
    ("change, remote activity", 3, 3, "one attempt, fenced"),
    ("workflow task", 3, 3, "decides what its answer means"),
    ("settle, remote activity", 3, 3, "reads until the change shows"),
    ("workflow task", 3, 3, "begins to watch"),
    ("tell the campaign, local activity", 1, 1, "frees its slot while it is watched"),
    LOOK,
    ("search attributes, at the end", 1, 1, "people find outcomes in Temporal's own list"),
    ("tell the campaign, local activity", 1, 1, "the outcome"),
    ("workflow completed", 1, 1, "the outcome, for good"),
]
"""Name, number for a scope of esc without a secret of its own, for a zone of log-fields, purpose."""

OF_LOOK = LOOK[1]


def table(console: Console) -> None:
    """The events of a target that settles after one look."""
    shown = Table("events", "esc", "log-fields", "what they buy", title="History events of a target")
    for name, esc, log_fields, purpose in EVENTS:
        shown.add_row(name, str(esc or ""), str(log_fields or ""), purpose)
    esc_sum, log_fields_sum = sum(row[1] for row in EVENTS), sum(row[2] for row in EVENTS)
    shown.add_row("together, with one look", str(esc_sum), str(log_fields_sum), "", style="bold")
    console.print(shown)
