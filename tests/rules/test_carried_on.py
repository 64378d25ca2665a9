"""What a run hands to the next one, the next one has: each field, also one that is added later."""

from __future__ import annotations

import types
import typing
from datetime import date, datetime, timedelta
from enum import Enum
from types import SimpleNamespace
from typing import Any, TypeVar

import pytest
from pydantic import AwareDatetime, BaseModel, JsonValue
from temporalio import workflow

from edgeshift.messages import CampaignCarried, QuotaStart, ZoneCarried, ZoneStart
from edgeshift.model.window import Growth
from edgeshift.rate_limit.slots import SlotBook
from tests.rules.ledger_kit import NOW, awaiting
from tests.rules.test_looked_at_meanwhile import campaign
from workflows.campaign.state import CampaignState
from workflows.quota import Quota
from workflows.zone.state import ZoneMemory

Model = TypeVar("Model", bound=BaseModel)

RUN = "own"


class Onward(Exception):
    """A run goes on in a new one, with this input."""


def goes_on(start: Any) -> None:
    """In place of continue-as-new."""
    raise Onward(start)


@pytest.fixture(autouse=True)
def _engine(monkeypatch: pytest.MonkeyPatch) -> None:
    async def came(*_: Any) -> None:
        """What is waited for is there."""

    info = SimpleNamespace(run_id=RUN, first_execution_run_id="first")
    monkeypatch.setattr(workflow, "now", lambda: NOW)
    monkeypatch.setattr(workflow, "info", lambda: info)
    monkeypatch.setattr(workflow, "patched", lambda name: True)
    monkeypatch.setattr(workflow, "wait_condition", came)
    monkeypatch.setattr(workflow, "continue_as_new", goes_on)
    for name in ("register_random_seed_callback", "set_current_details", "upsert_memo"):
        monkeypatch.setattr(workflow, name, lambda _: None)


def another(kind: Any, default: Any, within: tuple[type[BaseModel], ...]) -> Any:
    """A value of a field that is not its default. ``within``: what it is a part of, and cannot have again."""
    of = typing.get_args(kind)
    match typing.get_origin(kind):
        case typing.Annotated if "{64}" in str(getattr(of[1], "pattern", "")):
            return "7" * 64
        case typing.Annotated:
            return another(of[0], default, within)
        case typing.Union | types.UnionType:
            return another(next(one for one in of if one is not types.NoneType), None, within)
        case typing.Literal:
            return next(one for one in of if one != default)
        case origin if origin in (tuple, list):
            return origin(() if of[0] in within else (another(of[0], None, within),))
        case origin if origin is dict:
            return {another(of[0], None, within): another(of[1], None, within)}
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        return filled(kind, within)
    if isinstance(kind, type) and issubclass(kind, Enum):
        return next(one for one in kind if one != default)
    values: dict[Any, Any] = {bool: not default, int: 10, float: 0.5, str: "7" * 32, bytes: b"7"}
    values[timedelta] = timedelta(hours=7)
    earlier = NOW - timedelta(hours=7)
    values |= {datetime: earlier, AwareDatetime: earlier, date: NOW.date(), JsonValue: "7"}
    return values[kind]


def filled(model: type[Model], within: tuple[type[BaseModel], ...] = (), **chosen: Any) -> Model:
    """A message none of whose fields has its default, but those that are ``chosen``."""
    hints = typing.get_type_hints(model, include_extras=True)
    fields = model.model_fields
    values = {
        name: another(hints[name], field.default, (*within, model))
        for name, field in fields.items()
        if name not in chosen
    }
    found = model(**values, **chosen)
    for name in values if not within else ():
        assert getattr(found, name) != fields[name].get_default(call_default_factory=True), name
    return model.model_validate_json(found.model_dump_json())


def test_a_zone_loses_nothing_of_what_it_carries() -> None:
    """It is read again and waits again, and knows what people and its campaign have said."""
    carried = filled(ZoneCarried)
    # A run that was handed something has its permit there.
    start = filled(ZoneStart, carried=carried, permit=None)
    with pytest.raises(Onward) as onward:
        ZoneMemory(start).go_on_in_a_new_run()
    (after,) = onward.value.args
    assert after.carried == carried
    # The plan's reading is for the first run.
    assert after == start.model_copy(update={"planned": None})


def test_a_campaign_loses_nothing_of_what_it_carries() -> None:
    """But that its own run is one more of which somebody has to ask."""
    start = campaign().model_copy(update={"grows_by": 10})
    before = CampaignState(start, b"")
    before.ledger.begin(0)
    before.ledger.hear(awaiting(index=0), NOW)
    ledger = before.ledger.packed()
    carried = filled(CampaignCarried, ledger=ledger, ended=(awaiting(index=0),))
    after = CampaignState(start.model_copy(update={"carried": carried}), ledger).carried()
    assert after == carried.model_copy(update={"unasked": (*carried.unasked, RUN)})
    assert after.growth != Growth()


async def test_a_quota_loses_nothing_of_what_it_carries() -> None:
    """Its terms are those of its book by then, and that it was begun again matters only without one."""
    start = filled(QuotaStart)
    assert isinstance(start.book, SlotBook)
    with pytest.raises(Onward) as onward:
        await Quota(start).run(start)
    (after,) = onward.value.args
    assert after == start.model_copy(update={"terms": start.book.terms, "again": False})
