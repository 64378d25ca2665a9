"""The edge over HTTP: Edge Side Code of every kind, the rules that replace it, origins, traffic."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from edgeshift.testbed.simulator.fleet_edge import OriginFailure, ZoneEdge
from tests.service.edge_kit import ESC_KINDS, EdgeCaller, edge, edge_fleet
from tests.service.simulated import Json

OFF = "disable_esc=the-secret"

ASKED = {
    "redirect": "/old/page",
    "tls_sni": "/api/items",
    "resolved_host": "/api/search",
    "host_header": "/api/tenant",
    "url_rewrite": "/legacy/orders",
    "request_header": "/shop/cart",
    "feature_exception": "/contact",
    "custom_error": "/status/503",
    "response_header": "/account/profile",
    "status_redirect": "/help/missing",
}

REPLACEMENTS: dict[str, tuple[str, Json]] = {
    "redirect": (
        "http_request_dynamic_redirect",
        {
            "action": "redirect",
            "expression": 'starts_with(http.request.uri.path, "/old/")',
            "action_parameters": {
                "from_value": {"target_url": {"value": "https://new.example/"}, "status_code": 301}
            },
        },
    ),
    "tls_sni": (
        "http_request_origin",
        {
            "action": "route",
            "expression": 'http.request.uri.path eq "/api/items"',
            "action_parameters": {"sni": {"value": "sni.example"}},
        },
    ),
    "resolved_host": (
        "http_request_origin",
        {
            "action": "route",
            "expression": 'http.request.uri.path eq "/api/search"',
            "action_parameters": {"origin": {"host": "backend.example"}},
        },
    ),
    "host_header": (
        "http_request_origin",
        {
            "action": "route",
            "expression": 'http.request.uri.path eq "/api/tenant"',
            "action_parameters": {"host_header": "tenant.example"},
        },
    ),
    "url_rewrite": (
        "http_request_transform",
        {
            "action": "rewrite",
            "expression": 'starts_with(http.request.uri.path, "/legacy/")',
            "action_parameters": {
                "uri": {
                    "path": {"expression": 'concat("/api", "/orders")'},
                    "query": {"value": "from=legacy"},
                }
            },
        },
    ),
    "request_header": (
        "http_request_late_transform",
        {
            "action": "rewrite",
            "expression": 'starts_with(http.request.uri.path, "/shop/")',
            "action_parameters": {"headers": {"X-Region": {"operation": "set", "value": "eu"}}},
        },
    ),
    "feature_exception": (
        "http_config_settings",
        {
            "action": "set_config",
            "expression": 'http.request.uri.path eq "/contact"',
            "action_parameters": {"email_obfuscation": False},
        },
    ),
    "custom_error": (
        "http_custom_errors",
        {
            "action": "serve_error",
            "expression": "http.response.code eq 503",
            "action_parameters": {"content": "<h1>Back soon</h1>", "content_type": "text/html"},
        },
    ),
    "response_header": (
        "http_response_headers_transform",
        {
            "action": "rewrite",
            "expression": 'starts_with(http.request.uri.path, "/account/")',
            "action_parameters": {"headers": {"X-Frame-Options": {"operation": "set", "value": "DENY"}}},
        },
    ),
}


async def seen(at: EdgeCaller, path: str, cookie: str | None = None) -> tuple[int, list[Any], str]:
    """What a visitor sees, without what differs from answer to answer by nature."""
    answer = await at.get("shop", path, cookie=cookie)
    headers = [one for one in answer.headers.multi_items() if one[0] not in ("cf-ray", "date")]
    return answer.status_code, sorted(headers), answer.text


@pytest.mark.parametrize("kind", ESC_KINDS)
async def test_each_kind_acts_unless_the_cookie_disables_it(tmp_path: Path, kind: str) -> None:
    """On its paths alone, and with the cookie as if it were not there."""
    async with edge(tmp_path) as at:
        await at.accepted("POST", "shop", {"with_secret": "the-secret"})
        path = ASKED[kind]
        on, off = await seen(at, path), await seen(at, path, OFF)
        await at.call.control("PUT", f"edge/zones/{at.call.ids['shop']}", {"behaviours": []})
        assert await seen(at, path) == off != on
        match kind:
            case "redirect" | "status_redirect":
                assert on[0] in (301, 302) and off[0] in (200, 404)
            case "custom_error":
                assert (on[0], off[0]) == (503, 503) and "Back soon" in on[2]
            case "feature_exception":
                assert "info@shop.example</a>" in on[2] and "__cf_email__" in off[2]
            case "response_header":
                assert ("x-frame-options", "DENY") in on[1]


@pytest.mark.parametrize("kind", REPLACEMENTS)
async def test_a_rule_replaces_each_kind(tmp_path: Path, kind: str) -> None:
    """With the rule in place, a visitor sees with Edge Side Code disabled what there was with it."""
    async with edge(tmp_path) as at:
        await at.accepted("POST", "shop", {"with_secret": "the-secret"})
        path = ASKED[kind]
        before = await seen(at, path)
        phase, rule = REPLACEMENTS[kind]
        entry = f"shop:/rulesets/phases/{phase}/entrypoint"
        await at.call.result("PUT", entry, {"rules": [rule]})
        assert await seen(at, path) == before
        assert await seen(at, path, OFF) == before
        await at.accepted("POST", "shop", {"always": True})
        assert await seen(at, path) == before
        await at.call.result("PUT", entry, {"rules": [{**rule, "enabled": False}]})
        assert await seen(at, path) != before


async def test_what_the_origin_gets_is_said_by_it(tmp_path: Path) -> None:
    """SNI, resolved host, host header, path, query and request headers, each as changed; the cookie is taken
    off.
    """
    async with edge(tmp_path) as at:
        await at.accepted("POST", "shop", {"with_secret": "the-secret"})
        assert (await at.get("shop", "/api/items")).json()["sni"] == "sni.example"
        assert (await at.get("shop", "/api/search")).json()["resolved_host"] == "backend.example"
        switched = (await at.get("shop", "/api/tenant")).json()
        assert (switched["host"], switched["resolved_host"]) == ("tenant.example", "shop.example")
        rewritten = (await at.get("shop", "/legacy/orders?a=1")).json()
        assert (rewritten["path"], rewritten["query"]) == ("/api/orders", "from=legacy")
        assert (await at.get("shop", "/shop/cart")).json()["headers"]["x-region"] == "eu"
        plain = (await at.get("www.shop.example", "/api/items", cookie=f"a=b; {OFF}")).json()
        assert plain["host"] == plain["sni"] == plain["resolved_host"] == "www.shop.example"
        assert plain["headers"]["cookie"] == "a=b"
        assert "cookie" not in (await at.get("shop", "/api/items", cookie=OFF)).json()["headers"]
        await at.call.control("PUT", "options", {"esc": {"cookie_reaches_origin": True}})
        assert (await at.get("shop", "/api/items", cookie=OFF)).json()["headers"]["cookie"] == OFF


async def test_headers_and_cookies_are_set_added_and_removed(tmp_path: Path) -> None:
    """A cookie more beside the origin's two, a header less, a request header less."""
    changes = [
        {"kind": "response_header", "name": "set-cookie", "operation": "add", "value": "a=1"},
        {"kind": "response_header", "name": "x-powered-by", "operation": "remove"},
        {"kind": "request_header", "name": "user-agent", "operation": "remove"},
    ]
    async with edge(tmp_path) as at:
        url = f"edge/zones/{at.call.ids['plain']}"
        without = await at.get("plain", "/login")
        await at.call.control("PUT", url, {"behaviours": changes})
        answer = await at.get("plain", "/login")
        assert len(without.headers.get_list("set-cookie")) == 2
        assert answer.headers.get_list("set-cookie") == [*without.headers.get_list("set-cookie"), "a=1"]
        assert "x-powered-by" in without.headers and "x-powered-by" not in answer.headers
        assert "user-agent" not in (await at.get("plain", "/api/items")).json()["headers"]
        assert (await at.call.control("GET", url))["planted"][1] == {
            **changes[1],
            "path": "/*",
            "replaced_by": "response header transform rule",
        }


async def test_the_host_names_the_zone(tmp_path: Path) -> None:
    """The name or any below it, whatever the port and case; 421 otherwise, 409 when not active."""
    fleet = edge_fleet()
    fleet.zones[2].status = "pending"
    async with edge(tmp_path, fleet=fleet) as at:
        for host in ("shop.example", "a.b.shop.example", "SHOP.example:8080", "shop.example."):
            assert (await at.get(host, "/api/items")).json()["zone"] == "shop.example"
        for host in ("notshop.example", "example", "127.0.0.1", "example."):
            answer = await at.get(host if "." in host else f"{host}.", "/")
            assert answer.status_code == 421 and "1001" in answer.text
        assert (await at.get("plain", "/")).status_code == 409
        assert "cf-ray" in answer.headers


async def test_head_is_get_without_its_body(tmp_path: Path) -> None:
    """The same status and headers; POST says what was sent."""
    async with edge(tmp_path) as at:
        for path in ("/", "/api/items", "/status/503", "/old/page"):
            got, head = await at.get("shop", path), await at.get("shop", path, method="HEAD")
            assert head.status_code == got.status_code and head.content == b""
            if path != "/api/items":  # which says the method
                assert head.headers["content-length"] == got.headers["content-length"]
        url = f"{at.call.server.edge_url}/api/items"
        posted = await at.call.http.post(url, headers={"host": "shop.example"}, content=b"hello")
        assert (posted.json()["method"], posted.json()["body"]) == ("POST", "hello")


async def test_a_paused_zone_goes_straight_to_its_origin(tmp_path: Path) -> None:
    """No Edge Side Code, no rules, no features."""
    async with edge(tmp_path, fleet=edge_fleet(paused=True)) as at:
        assert not await at.acts("shop")
        assert "mailto:" in (await at.get("shop", "/about")).text


async def test_sitemap_and_robots_list_the_known_paths(tmp_path: Path) -> None:
    """Every path of the sitemap is served; robots.txt leads to it."""
    async with edge(tmp_path, fleet=edge_fleet(edge=ZoneEdge(paths=["/", "/a&b", "/c"]))) as at:
        text = (await at.get("shop", "/sitemap.xml")).text
        assert [part.split("</loc>")[0] for part in text.split("<loc>")[1:]] == [
            "http://shop.example/",
            "http://shop.example/a&amp;b",
            "http://shop.example/c",
        ]
        assert (
            "Sitemap: http://www.shop.example/sitemap.xml"
            in (await at.get("www.shop.example", "/robots.txt")).text
        )


async def test_noise_is_there_where_it_is_switched_on(tmp_path: Path) -> None:
    """Without it, answers are equal but for date and ray; with it, ids, nonces and cookies differ."""
    noisy = ZoneEdge(noise=["request_id", "nonce", "timestamp", "cookies", "coin_flip"])
    async with edge(tmp_path, fleet=edge_fleet(edge=noisy)) as at:
        quiet = [await at.get("side", "/about") for _ in range(2)]
        assert quiet[0].text == quiet[1].text
        assert quiet[0].headers["cf-ray"] != quiet[1].headers["cf-ray"]
        loud = [await at.get("shop", "/about") for _ in range(12)]
        assert len({one.headers["x-request-id"] for one in loud}) == 12
        assert len({one.text for one in loud}) == 12
        assert len({one.headers["set-cookie"] for one in loud}) == 12
        assert {one.headers["x-variant"] for one in loud} <= {"a", "b"}
        assert "generated_at" in (await at.get("shop", "/api/items")).json()


async def test_an_origin_fails_when_it_is_told_to(tmp_path: Path) -> None:
    """Always, or only while Edge Side Code is disabled for the whole zone, which no cookie foresees."""
    failures = [
        OriginFailure(path="/api/*", status=502, when="esc_off"),
        OriginFailure(path="/about", status=500),
    ]
    async with edge(tmp_path, fleet=edge_fleet(edge=ZoneEdge(failures=failures))) as at:
        await at.accepted("POST", "shop", {"with_secret": "the-secret"})
        assert (await at.get("shop", "/about")).status_code == 500
        assert (await at.get("shop", "/api/items", cookie=OFF)).status_code == 200
        await at.accepted("POST", "shop", {"always": True})
        assert (await at.get("shop", "/api/items")).status_code == 502
        await at.accepted("DELETE", "shop")
        assert (await at.get("shop", "/api/items")).status_code == 200


async def test_control_shows_what_is_planted_and_in_force(tmp_path: Path) -> None:
    """The oracle: behaviours with their replacement, both settings with their changes, and all such zones."""
    async with edge(tmp_path, esc_effect_seconds=3) as at:
        url = f"edge/zones/{at.call.ids['shop']}"
        await at.accepted("POST", "First", {"always": True})
        shown = await at.call.control("GET", url)
        assert [one["kind"] for one in shown["planted"]] == list(ESC_KINDS)
        assert shown["active"] and not shown["off"]
        assert shown["account_setting"]["accepted"]["always"]
        assert not shown["account_setting"]["in_force"]["always"]
        at.time.pass_by(3)
        shown = await at.call.control("GET", url)
        assert shown["off"] and not shown["active"]
        account = await at.call.control("GET", "edge/" + at.accounts["First"][1:].rpartition("/")[0])
        assert account == shown["account_setting"]
        assert account["history"][0]["in_force_at"] == "2023-10-01T12:00:03.000000Z"
        zones = (await at.call.control("GET", "edge"))["zones"]
        assert [(one["name"], one["active"]) for one in zones] == [
            ("other.example", True),
            ("shop.example", False),
            ("side.example", False),
        ]
        refused = await at.call.http.put(
            f"{at.call.server.control_url}/{url}", json={"behaviours": [{"kind": "redirect"}]}
        )
        assert refused.status_code == 400 and "redirect needs to" in refused.text
        patched = await at.call.http.patch(
            f"{at.call.server.control_url}/zones/{at.call.ids['shop']}", json={"esc": {"always": True}}
        )
        assert patched.status_code == 400
        health = await at.call.control("GET", "health")
        assert health["edge"] == at.call.server.edge_url


async def test_visits_of_the_edge_are_listed(tmp_path: Path) -> None:
    """Method, host, path and status, and whether the cookie came; never its value."""
    async with edge(tmp_path) as at:
        await at.get("shop", "/about", cookie=OFF)
        await at.get("shop", "/status/404", method="HEAD")
        await at.get("side", "/")
        listed = await at.call.control("GET", "edge/requests")
        assert [(one["method"], one["host"], one["path"], one["status"]) for one in listed["requests"]] == [
            ("GET", "shop.example", "/about", 200),
            ("HEAD", "shop.example", "/status/404", 404),
            ("GET", "side.example", "/", 200),
        ]
        assert [one["disable_esc"] for one in listed["requests"]] == [True, False, False]
        assert "the-secret" not in str(listed)
        page = await at.call.control("GET", "edge/requests?host=shop.example&limit=1")
        assert (len(page["requests"]), page["next"]) == (1, 1)
        page = await at.call.control("GET", "edge/requests?host=shop.example&limit=1&after=1")
        assert (page["requests"][0]["seq"], page["next"]) == (2, None)


async def test_synthetic_requests_pass_the_same_way(tmp_path: Path) -> None:
    """They are recorded with what clients sent and what the origin answered, before any change."""
    async with edge(tmp_path) as at:
        recorded: list[Any] = []
        at.call.server.state.logs.record = recorded.append  # type: ignore[assignment,method-assign]
        wanted = {
            "zones": ["shop.example"],
            "count": 200,
            "seed": 7,
            "headers": {"X-Client": "test"},
            "cookies": {"Session": "s"},
        }
        told = await at.call.control("POST", "edge/requests", wanted)
        assert told["served"] == 200 == sum(told["statuses"].values()) == len(recorded)
        first = [(one.method, one.host, one.path, one.request_headers) for one in recorded]
        await at.call.control("POST", "edge/requests", wanted)
        assert [(one.method, one.host, one.path, one.request_headers) for one in recorded[200:]] == first
        assert all(("x-client", "test") in one.request_headers for one in recorded)
        assert all("Session=s" in dict(one.request_headers)["cookie"] for one in recorded)
        carts = [one for one in recorded if one.path == "/shop/cart"]
        assert carts and all("x-region" not in dict(one.request_headers) for one in carts)
        accounts = [one for one in recorded if one.path == "/account/profile"]
        assert all("x-frame-options" in dict(one.response_headers) for one in accounts)
        assert all("x-frame-options" not in dict(one.origin_headers) for one in accounts)
        redirected = [one for one in recorded if one.path == "/old/catalogue"]
        assert all((one.status, one.origin_status) == (301, 0) for one in redirected)
        assert all(len(one.ray) == 16 and one.zone_id == at.call.ids["shop"] for one in recorded)
        url = f"{at.call.server.control_url}/edge/requests"
        for wrong, said in (
            ({"zones": ["no.example"]}, "no zone"),
            ({"count": 20_000}, "at most"),
            ({"cuont": 1}, "cuont"),
        ):
            answer = await at.call.http.post(url, json=wrong)
            assert answer.status_code == 400 and said in answer.text
