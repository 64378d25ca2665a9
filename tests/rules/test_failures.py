"""The table of failures: every error has its line, and whoever asks is told the same."""

from __future__ import annotations

import ast
import inspect
from datetime import timedelta
from typing import Any

import pytest
from temporalio.common import RetryPolicy
from temporalio.exceptions import ApplicationError

import edgeshift.service_api.errors as service_errors
from activities.boundary import named
from edgeshift.cli.errors import described
from edgeshift.messages import TooLate, ZonePolicy
from edgeshift.model.exit_codes import MEANINGS, ExitCode
from edgeshift.model.failures import (
    FAILURES,
    HELD,
    OF_CAMPAIGNS,
    PERMANENT,
    Happened,
    hint_of,
    kind_of,
    of_activity,
)
from edgeshift.model.reason_codes import ReasonCode
from edgeshift.operations.calls import of_failure, the_campaign
from edgeshift.operations.errors import Failed
from edgeshift.service_api.errors import Outcome, ServiceError, outcome_of
from edgeshift.stores import archive, tickets
from edgeshift.testbed.stack.paths import StackError, StackRuns
from tests.runbook import ROOT
from workflows import options

SERVICE = [
    kind
    for _, kind in inspect.getmembers(service_errors, inspect.isclass)
    if issubclass(kind, Exception) and kind.__module__ == service_errors.__name__
]
STORES = [
    kind
    for module in (archive, tickets.ticket)
    for _, kind in inspect.getmembers(module, inspect.isclass)
    if issubclass(kind, Exception) and kind.__module__ == module.__name__
]


@pytest.mark.parametrize("kind", [*SERVICE, *STORES])
def test_every_error_of_the_client_and_the_stores_is_in_the_table(kind: type[Exception]) -> None:
    """By its own name, and not by that of a base."""
    assert kind_of(kind) == kind.__name__


@pytest.mark.parametrize("kind", ["NotUnderstood", "OddPages"])
def test_an_odd_answer_may_come_from_the_right_address(kind: str) -> None:
    """The service itself may give one, as where a list changes while it is read."""
    hint = hint_of(FAILURES[kind].named or kind)
    assert "service.base_url is" in hint and "where it is right, try again later" in hint


@pytest.mark.parametrize(
    ("kind", "refused", "outcome"),
    [
        ("RateLimited", False, Outcome.NOTHING_HAPPENED),
        ("ConnectionRefused", False, Outcome.NOTHING_HAPPENED),
        ("NoTurn", False, Outcome.NOTHING_HAPPENED),
        ("Refused", True, Outcome.NOTHING_HAPPENED),
        ("Refused", False, Outcome.MAY_HAVE_HAPPENED),
        ("InvalidCredential", True, Outcome.NOTHING_HAPPENED),
        ("InvalidCredential", False, Outcome.MAY_HAVE_HAPPENED),
        ("Conflict", True, Outcome.MAY_HAVE_HAPPENED),
        ("TimedOut", True, Outcome.MAY_HAVE_HAPPENED),
        ("GatewayError", True, Outcome.MAY_HAVE_HAPPENED),
        ("Unsuccessful", True, Outcome.MAY_HAVE_HAPPENED),
    ],
)
def test_what_can_have_come_of_a_call(kind: str, refused: bool, outcome: Outcome) -> None:
    """Of a write; a reading has no effect. That nothing happened needs a proof."""
    assert outcome_of(kind, refused=refused) is outcome
    assert outcome_of(kind, write=False, refused=refused) is Outcome.READ


@pytest.mark.parametrize("kind", [kind for kind in SERVICE if issubclass(kind, ServiceError)])
def test_what_nobody_can_prove_is_not_proved(kind: type[ServiceError]) -> None:
    """A failure after which something may have happened is never told as one by which nothing did."""
    if FAILURES[kind.__name__].happened is Happened.UNKNOWN:
        assert outcome_of(kind.__name__, refused=True) is Outcome.MAY_HAVE_HAPPENED


def test_what_is_never_tried_again() -> None:
    """The types are those that histories have; whoever waits for the service is among them."""
    assert set(PERMANENT) == {
        "ArchiveCorrupt",
        "BadInput",
        "CredentialMissing",
        "Forbidden",
        "InvalidCredential",
        "NotFound",
        "NotLet",
        "SecretUnresolved",
        "ServiceCircuitOpen",
    }
    assert set(HELD) < set(PERMANENT)


def test_retry_policies_name_kinds_of_the_table_alone() -> None:
    """Each that ends a retry can not be fixed by one."""
    known: Any = {"silence": timedelta(seconds=1), "patience": timedelta(hours=1)}
    policy = ZonePolicy.model_construct(**known)
    limits = (options.spreading(policy), options.waiting(policy), options.resolving())
    policies: list[RetryPolicy] = [options.READS, options.TELLING, *(one["retry_policy"] for one in limits)]
    for one in policies:
        kinds = one.non_retryable_error_types or ()
        assert kinds and all(FAILURES[kind].tries == 1 for kind in kinds)


@pytest.mark.parametrize("kind", [kind for kind in SERVICE if issubclass(kind, ServiceError)])
def test_an_activity_fails_by_the_kind_of_the_table(kind: type[ServiceError]) -> None:
    """Its type is the error's own, or the one that stands for it; it is final where the table says so."""
    if kind.__name__ in ("ServiceCircuitOpen", "NoTurn"):
        return
    failure = named(kind("no", call="waf.check"))
    known = FAILURES[kind.__name__]
    assert failure.type == (known.named or kind.__name__)
    assert failure.non_retryable is (known.tries == 1)
    assert (failure.type in PERMANENT) is failure.non_retryable


@pytest.mark.parametrize("kind", FAILURES)
def test_operations_and_the_command_line_exit_alike(kind: str) -> None:
    """A failure that came out of a workflow exits as the table says, and as one that was raised here."""
    known = FAILURES[kind]
    assert known.exit in MEANINGS and known.exit not in (ExitCode.OK, ExitCode.ALARMS)
    told = of_failure("campaign a", ApplicationError("no", type=kind))
    # What a process of its own raises is no type of an activity.
    expected = known.exit if of_activity(kind) else ExitCode.FAILED
    assert told.exit_code is expected
    shown = described(told)
    assert shown is not None and shown.code is expected


def test_what_comes_too_late_does_so_by_the_profile_of_the_file() -> None:
    """Another profile may have a later date, so that a hint does not say that no file helps."""
    late = TooLate(code=ReasonCode.REMOVED)
    told = of_failure("campaign a", ApplicationError("removed on 2024-01-01", late, type="BadInput"))
    assert told.hint.startswith("the removal date is that of the profile in the file (`service.profile`)")
    assert "where that is right, no other file helps" in told.hint and "--clock" in told.hint
    assert told.hint != of_failure("campaign a", ApplicationError("no", type="BadInput")).hint


def test_a_hint_names_the_campaign_and_nothing_that_is_only_called_like_one() -> None:
    """What a call was about is known by its kind, not by the words for it."""
    refused = ApplicationError("no", type="SignOffRefused")
    assert "`edgeshift status waf-1`" in of_failure(the_campaign("waf-1"), refused).hint
    assert "`edgeshift status CAMPAIGN`" in of_failure("campaign file waf.yaml", refused).hint


def test_every_type_by_which_an_activity_fails_is_in_the_table() -> None:
    """Also of those that are raised where they happen."""
    raised = {
        word.value.value
        for folder in ("activities", "workflows", "edgeshift")
        for file in (ROOT / folder).rglob("*.py")
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
        if node.func.id == "ApplicationError"
        for word in node.keywords
        if word.arg == "type" and isinstance(word.value, ast.Constant)
    }
    assert len(raised) > 4
    assert {kind for kind in raised if of_activity(str(kind)) is None} == set()


def test_a_stack_that_cannot_run_says_apart_what_is_in_the_way_and_what_to_do() -> None:
    """Whatever stands in its text: a path with a semicolon is a path."""
    told = described(StackRuns("a stack already runs in my; folder", "end it", details=("its", "log")))
    assert told is not None and told.code is ExitCode.REFUSED
    assert (told.text, told.hint, told.details) == (
        "a stack already runs in my; folder",
        "end it",
        ("its", "log"),
    )
    usual = described(StackError("no port is free"))
    assert usual is not None and usual.code is ExitCode.FAILED and "`edgeshift doctor`" in usual.hint


def test_what_nobody_expects_is_told_by_nobody() -> None:
    """An error of another library is no failure of ours, whatever it is called."""
    assert described(type("NotFound", (Exception,), {"__module__": "elsewhere"})("no")) is None
    assert described(KeyError("x")) is None
    assert isinstance(of_failure("campaign a", ApplicationError("no", type="KeyError")), Failed)
    assert all(FAILURES[kind].happened is Happened.NOTHING for kind in OF_CAMPAIGNS)
