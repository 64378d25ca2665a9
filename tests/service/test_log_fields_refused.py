"""What a refused reading of log-fields says of a zone (docs/service.md §7): never that it has nothing."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from activities.log_fields.reading import read_sound, read_zone
from edgeshift.areas import log_fields
from edgeshift.areas.assessment import Verdict
from edgeshift.areas.log_fields.terms import FieldSet, NewJobSpec
from edgeshift.model.fleet import Plan, Zone
from edgeshift.model.reasons import ReasonCode
from edgeshift.rate_limit.unpaced import Unpaced
from edgeshift.service_api import Credential, Refused, ServiceClient, ServiceError
from tests.service.raw_service import http, raw_service, refusal

ZONE = Zone(id="a" * 32, name="one.example", account="b" * 32, plan=Plan.ENTERPRISE)
NOT_ENTITLED = {"code": 50002, "message": "not entitled to use the phase http_log_custom_fields"}

WITHOUT_WORDS: dict[str, Any] = {
    "errors: null": {"success": False, "errors": None},
    "a code alone": {"errors": [{"code": 50002}]},
    "a page": "<html><h1>400 Bad Request</h1></html>",
    "no body": b"",
}
NOT_OF_ITS_PLAN: dict[str, Any] = {
    "no such zone": refusal({"code": 1001, "message": "Invalid zone identifier"}),
    "no such path": refusal({"code": 7003, "message": "no such path"}, {"code": 7000, "message": "No route"}),
    "no permission": refusal({"code": 9109, "message": "Unauthorized to access requested resource"}),
    "words without the envelope": {"errors": [NOT_ENTITLED]},
}


@asynccontextmanager
async def refusing(body: Any) -> AsyncIterator[ServiceClient]:
    """A client of a service that answers everything with 400 and this body."""
    async with (
        raw_service(lambda request: http(400, body)) as service,
        ServiceClient(service.base_url, Credential(token="t" * 40), pacer=Unpaced()) as client,
    ):
        yield client


async def assessed(client: ServiceClient) -> log_fields.Assessment:
    """What a plan makes of the zone."""
    reading = await read_zone(client, ZONE, listed=True)
    job = NewJobSpec(destination="env:DESTINATION")
    return log_fields.assess(reading, ZONE, FieldSet(request_headers=("x-ours",)), job, client.profile)


@pytest.mark.parametrize("body", WITHOUT_WORDS.values(), ids=WITHOUT_WORDS)
async def test_a_refusal_without_words_does_not_say_that_a_zone_has_no_fields(body: Any) -> None:
    """A change would be rolled back by it, and one that is taken back told as undone."""
    async with refusing(body) as client:
        with pytest.raises(ServiceError):
            await read_sound(client, ZONE)
        try:
            found = await assessed(client)
        except ServiceError:
            return
        assert found.verdict is Verdict.BLOCKED


@pytest.mark.parametrize("body", NOT_OF_ITS_PLAN.values(), ids=NOT_OF_ITS_PLAN)
async def test_a_refusal_that_is_not_about_the_plan_is_not_told_as_one(body: Any) -> None:
    """A zone that is deleted is not sent to whoever sells plans."""
    async with refusing(body) as client:
        with pytest.raises(Refused):
            await assessed(client)


async def test_a_zone_that_the_service_does_not_let_have_them_is_blocked_in_its_words() -> None:
    """As before: with a code, or without."""
    for error in (NOT_ENTITLED, {"message": NOT_ENTITLED["message"]}):
        async with refusing(refusal(error)) as client:
            (why,) = (await assessed(client)).why
            assert why.code is ReasonCode.NOT_ENTITLED and "not entitled to use the phase" in why.said
