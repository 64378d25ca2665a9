"""The client's calls on rulesets and their versions, for custom log fields (docs/service.md §2.2, §4.2)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from edgeshift.rate_limit.unpaced import Unpaced
from edgeshift.service_api import (
    Credential,
    InvalidIdentifier,
    NotFound,
    NotUnderstood,
    Refused,
    ServiceClient,
    ServiceError,
)
from edgeshift.service_api.models import Ruleset
from tests.service.client_kit import client_of
from tests.service.raw_service import envelope, http, raw_service, refusal
from tests.service.simulated import simulated

ZONE, RULESET = "a" * 32, "b" * 32
PHASE = "http_log_custom_fields"
BODY = {"name": "Log fields", "kind": "zone", "phase": PHASE, "description": "d"}


def logging(*names: str, **more: Any) -> dict[str, Any]:
    """A rule that logs these request headers."""
    fields = {"request_fields": [{"name": name} for name in names]}
    rule = {"action": "log_custom_field", "expression": "true", "description": "fields"}
    return {**rule, "action_parameters": fields, **more}


def logged(found: Ruleset) -> list[list[str]]:
    """The request headers of each rule."""
    assert found.rules is not None
    parameters = [rule.action_parameters or {} for rule in found.rules]
    return [[field["name"] for field in one["request_fields"]] for one in parameters]


async def test_the_entry_point_of_a_phase_is_there_once_it_was_made(tmp_path: Path) -> None:
    """None before; afterwards the very ruleset, with its rules; other phases stay without."""
    async with simulated(tmp_path) as here, client_of(here) as calls:
        zone = here.ids["enterprise"]
        assert await calls.phase_entry_point(zone, PHASE) is None
        made = await calls.create_ruleset(zone, BODY)
        assert made.id is not None
        await calls.put_ruleset(zone, made.id, {"rules": [logging("host")]})
        found = await calls.phase_entry_point(zone, PHASE, urgent=True)
        assert found is not None and (found.id, found.kind, found.phase) == (made.id, "zone", PHASE)
        assert logged(found) == [["host"]]
        assert await calls.entry_point(zone) is None


async def test_an_overwritten_version_is_still_there_to_be_merged(tmp_path: Path) -> None:
    """A stranger writes between our reading and our PUT: the versions show a gap, and what was in it."""
    async with simulated(tmp_path) as here, client_of(here) as calls:
        zone = here.ids["enterprise"]
        made = await calls.create_ruleset(zone, BODY)
        assert made.id is not None and made.version is not None
        read = await calls.ruleset(zone, made.id)
        await calls.put_ruleset(zone, made.id, {"rules": [logging("x-of-a-stranger")]})
        ours = await calls.put_ruleset(zone, made.id, {"rules": [logging("x-ours")]})
        assert read.version is not None and ours.version is not None
        assert int(ours.version) == int(read.version) + 2
        missed = await calls.ruleset_version(zone, made.id, int(read.version) + 1, urgent=True)
        assert logged(missed) == [["x-of-a-stranger"]]
        kept = logging("x-of-a-stranger", id=(missed.rules or [])[0].id)
        merged = await calls.put_ruleset(zone, made.id, {"rules": [kept, logging("x-ours")]})
        assert logged(merged) == [["x-of-a-stranger"], ["x-ours"]]
        with pytest.raises(NotFound):
            await calls.ruleset_version(zone, made.id, 999)


async def test_refusals_of_rulesets_have_their_codes(tmp_path: Path) -> None:
    """A second ruleset of the phase, a zone without Enterprise, a rule out of form: nothing happened."""
    async with simulated(tmp_path) as here, client_of(here) as calls:
        zone = here.ids["enterprise"]
        made = await calls.create_ruleset(zone, BODY)
        assert made.id is not None
        for refused, code in (
            (calls.create_ruleset(zone, BODY), 20217),
            (calls.create_ruleset(here.ids["pro"], BODY), 50002),
            (calls.put_ruleset(zone, made.id, {"rules": [logging("X-Upper")]}), None),
        ):
            with pytest.raises(Refused) as raised:
                await refused
            assert raised.value.nothing_happened
            assert code is None or code in raised.value.codes
        assert logged(await calls.ruleset(zone, made.id)) == []


@pytest.mark.parametrize(
    ("answer", "absent"),
    [
        (
            http(404, refusal({"code": 10003, "message": f"could not find entrypoint ruleset in {PHASE}"})),
            True,
        ),
        (http(404), False),
        (http(404, refusal({"message": "not found"})), True),
        (http(404, {**refusal(), "errors": None}), True),
        (http(404, "<html>not here</html>"), False),
        (http(404, {"message": "no Route matched with those values"}), False),
        (http(404, envelope(None)), False),
        (http(404, refusal({"code": 7003, "message": "no route"})), False),
        (http(404, refusal({"code": 10014, "message": "no such zone"})), False),
        (http(403, refusal({"message": "no"})), False),
        (http(200, envelope([])), False),
        (http(200, envelope(None)), False),
    ],
)
async def test_only_a_404_for_the_entry_point_says_that_there_is_none(answer: bytes, absent: bool) -> None:
    """Another refusal, another shape, or the page of something between is an error, never an empty phase to
    be filled.
    """
    async with raw_service(lambda request: answer) as service:
        calls = ServiceClient(service.base_url, Credential(token="t" * 40), pacer=Unpaced())
        async with calls:
            if absent:
                assert await calls.phase_entry_point(ZONE, PHASE) is None
            else:
                with pytest.raises(ServiceError):
                    await calls.phase_entry_point(ZONE, PHASE)


@pytest.mark.parametrize("answered", [None, "", "c" * 32], ids=["null", "empty", "another"])
async def test_a_ruleset_that_is_asked_for_is_that_one(answered: str | None) -> None:
    """Not one without an identifier, nor another: what is asked next goes by it."""
    found: dict[str, Any] = {"id": answered, "kind": "zone", "phase": PHASE, "version": "1", "rules": []}
    async with raw_service(lambda request: http(200, envelope(found))) as service:
        calls = ServiceClient(service.base_url, Credential(token="t" * 40), pacer=Unpaced())
        async with calls:
            with pytest.raises(NotUnderstood, match=f"expected the ruleset {RULESET}"):
                await calls.ruleset(ZONE, RULESET)


async def test_identifiers_are_judged_before_sending() -> None:
    """Zone, ruleset, phase and version: the text names which, and what would be right."""
    async with raw_service(lambda request: http(200, envelope({}))) as service:
        async with ServiceClient(service.base_url, Credential(token="t" * 40), pacer=Unpaced()) as calls:
            for attempt, named in (
                (calls.ruleset("zone", RULESET), "zone id"),
                (calls.ruleset_version(ZONE, "../..", 1), "ruleset id"),
                (calls.ruleset_version(ZONE, RULESET, -1), "version -1"),
                (calls.phase_entry_point(ZONE, "a/b"), "phase"),
                (calls.put_ruleset(ZONE, RULESET.upper(), {}), "ruleset id"),
            ):
                with pytest.raises(InvalidIdentifier, match=named):
                    await attempt
        assert service.requests == []
