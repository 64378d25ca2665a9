"""Where a campaign file may have secrets sent is for the worker's roots to say."""

from __future__ import annotations

from typing import Any

import pytest

from edgeshift.authority.roots import ANY, LOOPBACK, Roots, RootsFile
from edgeshift.authority.signers import parsed
from edgeshift.campaign_file.spec import CampaignSpec

SERVICE = "https://api.example.com/client/v4"
HERE = "http://127.0.0.1:8780/client/v4"
LISTED = {
    "base_url": SERVICE,
    "credentials": ["env:TOKEN", "env:LOGS"],
    "proxies": ["http://proxy.example:3128"],
    "webhooks": ["https://tickets.example/hook", "env:HOOK_SECRET"],
    "probes": ["http://192.0.2.1:80"],
}


def refuses(spec: dict[str, Any], base_url: str = SERVICE, **service: Any) -> str | None:
    """Why the roots refuse a campaign file with this in it."""
    said = {
        "name": "x",
        "targets": {"all": True},
        "service": {"base_url": base_url, "credentials": [{"token": "env:TOKEN"}], **service},
        **spec,
    }
    rehearsal = {"base_url": LOOPBACK, "credentials": [ANY], "proxies": [ANY], "webhooks": [ANY]}
    file = RootsFile.model_validate({"signers": "s", "services": [LISTED, rehearsal]})
    return Roots(file, parsed("")).refuses_service(CampaignSpec.model_validate(said))


def logs(destination: str) -> dict[str, Any]:
    """A campaign that makes log jobs."""
    job = {"destination": destination, "challenge": "s3://logs/{zone}"}
    return {"area": "log-fields", "log_fields": {"request_headers": ["user-agent"], "job": job}}


def probing(edge: str) -> dict[str, Any]:
    """A campaign whose probe asks this address."""
    return {"area": "esc", "esc": {"probe": {"edge": edge}}}


def tickets(**said: Any) -> dict[str, Any]:
    """A campaign whose tickets go to a webhook."""
    return {"tickets": {"webhook": "https://tickets.example/hook", **said}}


@pytest.mark.parametrize(
    "spec",
    [
        {},
        logs("env:LOGS"),
        probing("http://192.0.2.1:80"),
        tickets(secret="env:HOOK_SECRET", proxy="http://proxy.example:3128"),
        tickets(proxy="direct"),
    ],
    ids=["credential", "destination", "probe", "webhook", "no proxy"],
)
def test_what_the_roots_list_may_be_used(spec: dict[str, Any]) -> None:
    """Each where it is listed for."""
    assert refuses(spec) is None


@pytest.mark.parametrize(
    ("spec", "service", "why"),
    [
        ({}, {"credentials": [{"token": "env:OTHER"}]}, "the credential env:OTHER is not for"),
        ({}, {"proxy": "http://evil.example:3128"}, "its proxy is none"),
        (logs("env:OTHER"), {}, "the destination env:OTHER is not for"),
        (probing("http://198.51.100.7:80"), {}, "http://198.51.100.7:80 is no address that probes may ask"),
        (probing("http://127.0.0.1:80"), {}, "http://127.0.0.1:80 is no address that probes may ask"),
        (tickets(webhook="https://evil.example/"), {}, "its webhook for tickets is none"),
        (tickets(secret="env:TOKEN"), {}, "the secret env:TOKEN is not for a webhook"),
        (tickets(proxy="http://evil.example:3128"), {}, "its proxy is none"),
    ],
    ids=["credential", "proxy", "destination", "probe", "probe here", "webhook", "secret", "its proxy"],
)
def test_what_the_roots_do_not_list_is_refused(
    spec: dict[str, Any], service: dict[str, Any], why: str
) -> None:
    """The reason names it."""
    said = refuses(spec, **service)
    assert said is not None and why in said


def test_another_service_is_refused() -> None:
    """With whatever it would be sent."""
    said = refuses({}, "https://evil.example/v4")
    assert said == "https://evil.example/v4 is no service of the worker's roots"


def test_a_rehearsal_may_use_what_is_on_its_own_machine() -> None:
    """And shows its secrets to nobody elsewhere."""
    assert refuses(probing("http://127.0.0.1:8781"), HERE) is None
    assert refuses(logs("env:ANY"), HERE) is None
    said = refuses(probing("http://192.0.2.1:80"), HERE)
    assert said is not None and "is no address that probes may ask" in said
