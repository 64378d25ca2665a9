"""Credentials, scopes, the gateway and the rate limit over HTTP (docs/service.md §5, §7, §8)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.service.simulated import MovableTime, in_process

WRONG = [
    ({}, 400, 9106, None),
    ({"authorization": "Bearer short"}, 400, 6003, 6111),
    ({"authorization": "Basic " + "a" * 40}, 400, 6003, 6111),
    ({"authorization": "Bearer " + "a" * 40}, 403, 9109, None),
    ({"x-auth-key": "xyz", "x-auth-email": "ada@example.com"}, 400, 6003, 6103),
    ({"x-auth-key": "a" * 37, "x-auth-email": "nobody"}, 400, 6003, 6102),
    ({"x-auth-key": "a" * 37, "x-auth-email": "ada@example.com"}, 403, 9103, None),
]


@pytest.mark.parametrize(("headers", "status", "code", "cause"), WRONG)
async def test_wrong_credentials_are_named_by_their_codes(
    tmp_path: Path, headers: dict[str, str], status: int, code: int, cause: int | None
) -> None:
    """Each malformed or unknown credential has its code, with the chain of the malformed ones."""
    async with in_process(tmp_path) as call:
        answer = await call.http.get(f"{call.server.base_url}/zones", headers=headers)
        assert answer.status_code == status
        error = answer.json()["errors"][0]
        assert error["code"] == code
        assert [one["code"] for one in error.get("error_chain", [])] == ([cause] if cause else [])
        entry = (await call.journal())[-1]
        assert (entry["status"], entry["user"], entry["credential"]) == (status, None, None)


async def test_both_schemes_work_and_verify_takes_tokens_alone(tmp_path: Path) -> None:
    """Token and key open the same calls; an expired token is unknown."""
    async with in_process(tmp_path) as call:
        assert len(await call.result("GET", "/zones", by="ada-token")) == 6
        assert len(await call.result("GET", "/zones", by="ada-key")) == 6
        assert (await call.result("GET", "/user/tokens/verify"))["status"] == "active"
        await call.refused(400, "GET", "/user/tokens/verify", by="ada-key")
        assert (await call.refused(403, "GET", "/zones", by="old-token"))[0]["code"] == 9109
        assert (await call.result("GET", "/user", by="ada-key"))["email"] == "ada@example.com"


async def test_a_token_reaches_its_scope_with_its_permissions(tmp_path: Path) -> None:
    """A zone out of scope and a call without the permission are 403; lists show the scope alone."""
    async with in_process(tmp_path) as call:
        listed = await call.result("GET", "/zones", by="bob-token")
        assert [one["name"] for one in listed] == ["business.example"]
        assert [one["name"] for one in await call.result("GET", "/accounts", by="bob-token")] == ["Second"]
        for zone in ("pro", "enterprise"):
            error = (await call.refused(403, "GET", f"{zone}:/waf_migration/status", by="bob-token"))[0]
            assert error == {"code": 9109, "message": "Unauthorized to access requested resource"}
        await call.result("GET", "pro:/waf_migration/check?phase_two=1", by="ada-reader")
        await call.refused(403, "GET", "pro:/pagerules", by="ada-reader")
        body = {"name": "default", "rules": []}
        path = "pro:/rulesets/phases/http_request_firewall_managed/entrypoint?waf_migration=1&phase_two=1"
        await call.refused(403, "PUT", path, body, by="ada-reader")
        assert await call.state("pro") == "start"


async def test_zones_are_paged_filtered_and_ordered(tmp_path: Path) -> None:
    """Pages count right, the page after the last is empty, and the sizes are held to 5 to 50."""
    async with in_process(tmp_path) as call:
        page = (await call("GET", "/zones?per_page=5&page=2")).json()
        assert len(page["result"]) == 1
        assert page["result_info"] == {
            "page": 2,
            "per_page": 5,
            "total_pages": 2,
            "count": 1,
            "total_count": 6,
        }
        assert await call.result("GET", "/zones?page=99") == []
        for wrong in ("per_page=4", "per_page=51", "per_page=x", "page=0", "order=size", "direction=up"):
            await call.refused(400, "GET", f"/zones?{wrong}")
        one = await call.result("GET", "/zones?name=pro.example")
        assert one[0]["plan"]["legacy_id"] == "pro"
        names = [zone["name"] for zone in await call.result("GET", "/zones?order=name&direction=desc")]
        assert names == sorted(names, reverse=True)
        account = one[0]["account"]["id"]
        assert len(await call.result("GET", f"/zones?account.id={account}&name=business.example")) == 0
        assert (
            len(await call.result("GET", f"/zones?account.id={account}&name=business.example&match=any")) == 6
        )
        assert len(await call.result("GET", "/zones?name=contains:page")) == 1


async def test_the_gateway_answers_what_leads_nowhere(tmp_path: Path) -> None:
    """cf-ray everywhere; 7003 and 7000 for routes, 1001 for zones, 7001 for methods that are not there."""
    async with in_process(tmp_path) as call:
        assert [one["code"] for one in await call.refused(400, "GET", "/nowhere")] == [7003, 7000]
        assert (await call.refused(400, "GET", f"/zones/{'0' * 32}"))[0]["code"] == 1001
        assert (await call.refused(400, "GET", "/zones/not-an-id/pagerules"))[0]["code"] == 1001
        assert (await call.refused(405, "PATCH", "/zones"))[0]["code"] == 7001
        outside = await call.http.get(call.server.url + "/other", headers=call.headers("ada-token"))
        assert (outside.status_code, "cf-ray" in outside.headers) == (400, True)


@pytest.mark.parametrize("retry_after", [True, False])
async def test_a_user_over_the_limit_is_blocked_for_the_whole_time(tmp_path: Path, retry_after: bool) -> None:
    """The limit counts a user's requests over all credentials; one too many blocks them all, no others."""
    time = MovableTime()
    limit: dict[str, Any] = {
        "requests": 6,
        "window_seconds": 300,
        "block_seconds": 300,
        "retry_after": retry_after,
    }
    async with in_process(tmp_path, time=time, rate_limit=limit) as call:
        for by in ("ada-token", "ada-key", "ada-reader") * 2:
            await call.result("GET", "/zones", by=by)
        answer = await call("GET", "/zones")
        assert (answer.status_code, answer.json()["errors"][0]["code"]) == (429, 10100)
        assert answer.headers.get("retry-after") == ("300" if retry_after else None)
        time.pass_by(299)
        assert (await call("GET", "/zones", by="ada-key")).status_code == 429
        assert (await call("GET", "/zones", by="bob-token")).status_code == 200
        users = (await call.control("GET", "rate-limits"))["users"]
        assert [bool(one["blocked_until"]) for one in users] == [True, False]
    async with in_process(tmp_path, time=time, rate_limit=limit) as call:
        assert (await call("GET", "/zones")).status_code == 429
        time.pass_by(1)
        assert (await call("GET", "/zones")).status_code == 200


async def test_the_window_rolls_and_survives_a_restart(tmp_path: Path) -> None:
    """Requests count for the window's time, counted again from the journal when the server comes back."""
    time = MovableTime()
    limit = {"requests": 3, "window_seconds": 3000, "block_seconds": 3000}
    async with in_process(tmp_path, time=time, rate_limit=limit, time_scale=10) as call:
        await call.result("GET", "/zones")
        time.pass_by(200)
        await call.result("GET", "/zones")
        await call.result("GET", "/zones")
        time.pass_by(100)
        await call.result("GET", "/zones")
    async with in_process(tmp_path, time=time, rate_limit=limit, time_scale=10) as call:
        assert (await call("GET", "/zones")).status_code == 429


async def test_answers_say_how_much_is_left(tmp_path: Path) -> None:
    """Over all of a user's credentials, in the window as it rolls; in a block nothing is, until its end."""
    time = MovableTime()
    limit: dict[str, Any] = {"requests": 2, "window_seconds": 300, "block_seconds": 100, "headers": True}
    async with in_process(tmp_path, time=time, rate_limit=limit) as call:

        async def said(by: str) -> str:
            answer = await call("GET", "/zones", by=by)
            assert answer.headers["ratelimit-policy"] == '"default";q=2;w=300'
            return answer.headers["ratelimit"]

        assert await said("ada-token") == '"default";r=1;t=300'
        time.pass_by(200)
        assert await said("ada-key") == '"default";r=0;t=300'
        assert await said("bob-token") == '"default";r=1;t=300'
        time.pass_by(100)
        assert await said("ada-key") == '"default";r=0;t=300'
        assert await said("ada-token") == '"default";r=0;t=100'
        time.pass_by(40)
        assert await said("ada-token") == '"default";r=0;t=60'


@pytest.mark.parametrize(("option", "code"), [({"invalid_token_code": 1000}, 1000), ({}, 9109)])
async def test_the_code_of_an_unknown_token_can_be_chosen(tmp_path: Path, option: Any, code: int) -> None:
    """Both codes were seen; either can be had."""
    async with in_process(tmp_path, **option) as call:
        headers = {"authorization": "Bearer " + "z" * 40}
        answer = await call.http.get(f"{call.server.base_url}/zones", headers=headers)
        assert answer.json()["errors"][0]["code"] == code
