"""What the client says of a failure, and what it takes for its settings: the words that may be kept, the name
of each refusal, the proxy, the address.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

from edgeshift.service_api import (
    ConnectionRefused,
    Credential,
    Forbidden,
    InvalidCredential,
    Misconfigured,
    Outcome,
)
from edgeshift.service_api.errors import abridged
from tests.service.client_kit import BODY, EXPRESSION, TOKEN, ZONE, client, failure_of_put
from tests.service.raw_service import Answer, Request, envelope, http, raw_service, refusal


async def test_errors_carry_neither_expressions_nor_secrets() -> None:
    """Texts quote neither a filter expression nor the credential; the codes and the ray are there."""
    document = refusal(
        {
            "code": 20127,
            "message": f"'{EXPRESSION}' is not a valid value for Expression because the expression is"
            f" invalid: unknown field {EXPRESSION}",
            "source": {"pointer": "/rules/0/expression"},
        },
        {"message": f"token {TOKEN} may not; {EXPRESSION} " + "long " * 500, "error_chain": [{"code": 6111}]},
    )
    failure = await failure_of_put(http(400, document, cf_ray="7f0a-FRA"))
    assert failure.codes == (20127, 6111)
    assert failure.ray == "7f0a-FRA"
    assert len(str(failure)) <= 300
    assert "is not a valid value for Expression" in str(failure)
    for text in (str(failure), repr(failure), *failure.messages):
        assert "shop.example" not in text
        assert "10.0.0.0" not in text
        assert TOKEN not in text


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("contact support: more than 200 firewall rules", "contact support: more than 200 firewall rules"),
        ("'zone' is not a valid value for kind", "'zone' is not a valid value for kind"),
        ('expression `http.host eq "a.b"` is over 4 KB', "expression `…` is over 4 KB"),
        ("filter ip.src in {10.0.0.1 10.0.0.2} and not cf.client.bot is bad", "filter …"),
        ("a" * 500, "a" * 199 + "…"),
        (f"{'x' * 1010} {TOKEN}", "x" * 199 + "…"),
    ],
)
def test_messages_are_abridged_to_what_may_be_kept(said: str, told: str) -> None:
    """Plain words stay as they are, expressions and secrets go, and nothing is longer than 200 characters."""
    assert abridged(said, (TOKEN,)) == told


@pytest.mark.parametrize("part", ["a.", "'", "(", "a.b[x]", "'a ", "not ", "a.b eq ", "{1 ", "'x'x"])
def test_hostile_messages_are_abridged_soon(part: str) -> None:
    """No message, however it repeats itself, keeps the client busy."""
    began = time.process_time()
    abridged(part * 5000)
    assert time.process_time() - began < 0.5


@pytest.mark.parametrize(
    ("status", "error"),
    [
        (
            400,
            {
                "code": 6003,
                "message": "Invalid request headers",
                "error_chain": [{"code": 6111, "message": "x"}],
            },
        ),
        (400, {"code": 9103, "message": "Unknown X-Auth-Key or X-Auth-Email"}),
        (403, {"code": 9109, "message": "Invalid access token"}),
        (401, {"code": 1000, "message": "Invalid API Token"}),
        (401, {"message": "Invalid API Token"}),
    ],
)
async def test_a_bad_credential_has_a_name(status: int, error: dict[str, Any]) -> None:
    """Every way in which the service refuses a credential is InvalidCredential."""
    assert type(await failure_of_put(http(status, refusal(error)))) is InvalidCredential


@pytest.mark.parametrize("code", [9109, 10000])
async def test_a_missing_permission_is_forbidden(code: int) -> None:
    """403 without word of a bad token is a permission that is missing."""
    error = {"code": code, "message": "Unauthorized to access requested resource"}
    assert type(await failure_of_put(http(403, refusal(error)))) is Forbidden


async def test_a_proxy_that_refuses_its_tunnel_lets_nothing_through() -> None:
    """The request never left: nothing happened; the proxy's password is in no text."""
    async with raw_service(lambda request: http(407)) as proxy:
        way = f"http://user:pass-word@127.0.0.1:{proxy.port}"
        async with client("https://api.example/client/v4", proxy=way) as calls:
            with pytest.raises(ConnectionRefused, match="proxy") as raised:
                await calls.put_entry_point(ZONE, BODY, "pending")
    assert raised.value.outcome is Outcome.NOTHING_HAPPENED
    assert "pass-word" not in f"{raised.value!r}{calls!r}"
    assert [request.method for request in proxy.requests] == ["CONNECT"]


async def test_requests_go_through_the_proxy() -> None:
    """A configured proxy carries the call."""

    def forward(request: Request) -> Answer:
        return http(200, envelope({"compatible": True}))

    async with raw_service(forward) as proxy:
        options: dict[str, Any] = {"proxy": f"http://127.0.0.1:{proxy.port}", "allow_plain_text": True}
        async with client("http://api.example/client/v4", **options) as calls:
            assert (await calls.waf_check(ZONE)).compatible is True
    assert proxy.requests[0].headers["host"] == "api.example"


@pytest.mark.parametrize(
    ("base_url", "what"),
    [
        ("ftp://api.example/client/v4", "https://HOST"),
        ("api.example/client/v4", "https://HOST"),
        ("https://user:pw@api.example/client/v4", "credential"),
        ("http://api.example/client/v4", "plain text"),
        ("https://api.example/client/v4?x=1", "https://HOST"),
    ],
)
def test_a_base_url_that_cannot_work_is_refused(base_url: str, what: str) -> None:
    """Wrong addresses, and plain text outside loopback, are refused before anything is sent."""
    with pytest.raises(Misconfigured, match=what):
        client(base_url)


def test_a_ca_file_that_cannot_work_is_named(tmp_path: Path) -> None:
    """A missing CA file and one without certificates are different mistakes."""
    (tmp_path / "empty.pem").write_text("nothing")
    with pytest.raises(Misconfigured, match=r"no file .*none\.pem"):
        client("https://api.example/client/v4", ca_file=str(tmp_path / "none.pem"))
    with pytest.raises(Misconfigured, match=r"empty\.pem is not a readable file"):
        client("https://api.example/client/v4", ca_file=str(tmp_path / "empty.pem"))


def test_a_credential_shows_nothing() -> None:
    """Neither repr nor the error of a malformed credential repeats it."""
    assert TOKEN not in repr(Credential(token=TOKEN))
    for wrong in ("", "  ", "two words", "line\nbreak-secret", "sécret"):
        with pytest.raises(Misconfigured) as raised:
            Credential(token=wrong)
        assert not wrong.strip() or wrong not in str(raised.value)
    with pytest.raises(Misconfigured, match="either a token"):
        Credential(token=TOKEN, key="k", email="a@example.org")
    assert Credential(token=f"{TOKEN}\n").headers() == {"Authorization": f"Bearer {TOKEN}"}
