"""Whatever anybody may send to a workflow is bounded: each number, text and list of each message."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any, get_type_hints

import pytest
from pydantic import BaseModel, ValidationError
from temporalio import workflow

from edgeshift.messages import Blocked, LeaseRequest, ZoneReport
from edgeshift.model.sign_off import Decision
from edgeshift.rate_limit.slots import (
    LONGEST_BLOCK,
    MOST_HOLDERS,
    SlotBook,
    block,
    bounded,
    lease,
    with_terms,
)
from edgeshift.rate_limit.terms import Lane, PaceTerms
from workflows.campaign.workflow import Campaign
from workflows.quota import Quota
from workflows.zone.inbox import Inbox

NOW = 1_800_000_000.0


def messages() -> dict[str, type[BaseModel]]:
    """Every model that a signal, an update or a query of a long-lived workflow takes."""
    found: dict[str, type[BaseModel]] = {}
    for of in (Campaign, Quota):
        known = workflow._Definition.must_from_class(of)
        for handlers in (known.signals, known.updates, known.queries):
            for handler in handlers.values():
                for kind in handler.arg_types or ():
                    found[kind.__name__] = kind
    for name, function in inspect.getmembers(Inbox, inspect.isfunction):
        if not name.startswith("_"):
            hints = get_type_hints(function)
            for kind in (kind for key, kind in hints.items() if key != "return"):
                if inspect.isclass(kind) and issubclass(kind, BaseModel):
                    found[kind.__name__] = kind
    return found


def unbounded(schema: dict[str, Any], root: dict[str, Any], at: str) -> Iterator[str]:
    """Where a schema has a number, a text, a list or an object without bounds."""
    if "$ref" in schema:
        schema = root["$defs"][schema["$ref"].rpartition("/")[2]]
    for each in (*schema.get("anyOf", ()), *schema.get("allOf", ())):
        yield from unbounded(each, root, at)
    match schema.get("type"):
        case "integer" | "number" if "enum" not in schema:
            above = {"maximum", "exclusiveMaximum"} & schema.keys()
            below = {"minimum", "exclusiveMinimum"} & schema.keys()
            if not (above and below):
                yield at
        case "string" if not {"maxLength", "pattern", "enum", "const", "format"} & schema.keys():
            yield at
        case "array":
            if "maxItems" not in schema:
                yield at
            yield from unbounded(schema["items"], root, f"{at}[]")
        case "object":
            if "properties" not in schema:
                yield at
            for name, inner in schema.get("properties", {}).items():
                yield from unbounded(inner, root, f"{at}.{name}")


def test_every_message_that_anybody_may_send_is_bounded() -> None:
    """No field of a signal, an update or a query takes a number, a text or a list of any size. (Durations
    are checked as they are read: ten years at most.)
    """
    known = messages()
    assert {
        "ZoneReport",
        "CampaignSignOff",
        "LeaseRequest",
        "Blocked",
        "Decision",
        "PermitGrant",
    } <= known.keys()
    found: list[str] = []
    for name, model in known.items():
        schema = model.model_json_schema()
        found += [at for at in unbounded(schema, schema, name) if not at.endswith((".took", ".expires_at"))]
    assert found == []


@pytest.mark.parametrize(
    ("model", "given"),
    [
        (Blocked, {"seconds": 1e300}),
        (LeaseRequest, {"holder": "h", "want": 1, "lane": "normal", "terms": {"limit": 10**9}}),
        (LeaseRequest, {"holder": "h" * 999, "want": 1, "lane": "normal", "terms": {}}),
        (ZoneReport, {"campaign_run": "r", "index": 10**30, "attempt": 1, "sequence": 1, "kind": "ready"}),
        (
            ZoneReport,
            {"campaign_run": "r", "index": 1, "attempt": 1, "sequence": 1, "kind": "ready", "took": 1e300},
        ),
        (Decision, {"choice": "approve", "digest": "0" * 64, "by": "x" * 300}),
    ],
)
def test_what_is_beyond_measure_is_no_message(model: type[BaseModel], given: dict[str, Any]) -> None:
    """It is refused where it is read, before any handler sees it."""
    with pytest.raises(ValidationError):
        model.model_validate(given)


def test_nothing_that_is_sent_to_a_quota_stops_a_user_for_longer_than_an_hour() -> None:
    """Blocks, other terms, and a book that somebody made up: an hour after the last of it slots are given."""
    slow = PaceTerms(limit=10, window=86_400.0, people=0.9)
    book = block(SlotBook(terms=slow, now=NOW), NOW, 1e300)
    book, _ = lease(book, NOW + 3601, "mallory", Lane.NORMAL, 10**9)
    book = with_terms(book, NOW + 3602, PaceTerms())
    assert max(book.blocked_until, book.opens_at) <= NOW + 3602 + LONGEST_BLOCK
    made_up = SlotBook(now=NOW * 10, asked=1e300, blocked_until=1e300, opens_at=1e300)
    assert bounded(made_up, NOW).asked <= NOW
    assert bounded(made_up, NOW).blocked_until <= NOW + LONGEST_BLOCK
    assert bounded(made_up, NOW).opens_at <= NOW + LONGEST_BLOCK
    _, given = lease(bounded(made_up, NOW), NOW + LONGEST_BLOCK + 20, "h", Lane.NORMAL, 10)
    assert given.count > 0


def test_terms_that_somebody_makes_up_slow_a_user_down_for_an_hour_at_most() -> None:
    """Others ask by their own meanwhile, and have slots by those an hour after the last of it."""
    slow, terms = PaceTerms(limit=10, window=86_400.0, people=0.9), PaceTerms()
    book, _ = lease(with_terms(SlotBook(terms=terms), NOW, terms), NOW, "h", Lane.NORMAL, 10)
    book, _ = lease(with_terms(book, NOW + 5, slow), NOW + 5, "mallory", Lane.NORMAL, 10**9)
    for later in range(10, 3610, 10):
        book, _ = lease(with_terms(book, NOW + later, terms), NOW + later, "h", Lane.NORMAL, 10)
    _, given = lease(with_terms(book, NOW + 3610, terms), NOW + 3610, "h", Lane.NORMAL, 10)
    assert book.terms == terms and given.count == 10


def test_a_rehearsals_quota_is_stopped_for_a_rehearsals_time() -> None:
    """Where time is scaled, so is the longest block: a minute at least."""
    terms = PaceTerms(limit=1200, window=300 / 14_400)
    assert block(SlotBook(terms=terms), NOW, 3600).blocked_until == NOW + 60


def test_holders_that_somebody_makes_up_are_not_all_kept() -> None:
    """A block has so many shares at most, and whoever was there before goes on getting slots."""
    book = SlotBook(terms=PaceTerms())
    for number in range(MOST_HOLDERS + 200):
        book, _ = lease(book, NOW, f"m{number:05}", Lane.NORMAL, 1)
    assert max(len(item.seen) for item in book.blocks) <= MOST_HOLDERS
    book, _ = lease(book, NOW + 10, "zz", Lane.NORMAL, 1)
    assert max(len(item.shares) for item in book.blocks) <= MOST_HOLDERS
