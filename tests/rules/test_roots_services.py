"""Where a campaign file may have secrets sent is for the worker's roots to say."""

from __future__ import annotations

from typing import Any

import pytest

from edgeshift.areas.section import AreaSection
from edgeshift.authority.roots import ANY, LOOPBACK, Roots, RootsFile, is_rehearsal, leads_away
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
    rehearsal = {"base_url": LOOPBACK, "credentials": [ANY], "proxies": [ANY], "webhooks": [ANY]}
    rehearsal["proxies"] = [ANY, "http://proxy.example:3128"]
    file = RootsFile.model_validate({"signers": "s", "services": [LISTED, rehearsal]})
    return Roots(file, parsed("")).refuses_service(campaign(spec, base_url, **service), kept)


def campaign(spec: dict[str, Any], base_url: str, **service: Any) -> CampaignSpec:
    """A campaign file with this in it."""
    said = {
        "name": "x",
        "targets": {"all": True},
        "service": {"base_url": base_url, "credentials": [{"token": "env:TOKEN"}], **service},
        **spec,
    }
    return CampaignSpec.model_validate(said)


def kept(text: str) -> str | None:
    """What lies where a reference says; any other text as it is."""
    return {"env:HERE": "http://user:pass@127.0.0.1:3128", "env:AWAY": "https://evil.example/hook"}.get(
        text, text
    )


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
        ({}, {"credentials": [{"key": "env:TOKEN", "email": "env:OTHER"}]}, "env:OTHER is not for"),
        ({}, {"proxy": "http://evil.example:3128"}, "its proxy is none"),
        (logs("env:OTHER"), {}, "log_fields.job.destination env:OTHER is not for"),
        (probing("http://198.51.100.7:80"), {}, "http://198.51.100.7:80 is no address that probes may ask"),
        (probing("http://127.0.0.1:80"), {}, "http://127.0.0.1:80 is no address that probes may ask"),
        (tickets(webhook="https://evil.example/"), {}, "its webhook for tickets is none"),
        (tickets(secret="env:TOKEN"), {}, "the secret env:TOKEN is not for a webhook"),
        (tickets(proxy="http://evil.example:3128"), {}, "its proxy is none"),
    ],
    ids=[
        "credential",
        "address",
        "proxy",
        "destination",
        "probe",
        "probe here",
        "webhook",
        "secret",
        "its proxy",
    ],
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


HOOK_HERE = {"webhook": "http://127.0.0.1:9/hook", "secret": "env:ANY"}
AWAY = [
    ({}, {"proxy": "http://evil.example:3128"}, "service.proxy"),
    ({}, {"proxy": "env:AWAY"}, "service.proxy"),
    (tickets(), {}, "tickets.webhook"),
    (tickets(webhook="env:AWAY"), {}, "tickets.webhook"),
    (tickets(**HOOK_HERE, proxy="http://evil.example:3128"), {}, "tickets.proxy"),
    (probing("http://192.0.2.1:80"), {}, "esc.probe.edge"),
]
WAYS = ["proxy", "kept proxy", "webhook", "kept webhook", "tickets' proxy", "probe"]


@pytest.mark.parametrize(("spec", "service", "place"), AWAY, ids=WAYS)
def test_what_leads_away_from_this_machine_is_none_of_a_rehearsal(
    spec: dict[str, Any], service: dict[str, Any], place: str
) -> None:
    """Though the service lies here: ``*`` of the roots stands for nothing elsewhere, and without roots it is
    named.
    """
    assert refuses(spec, HERE, **service) is not None
    assert leads_away(campaign(spec, HERE, **service), kept) == place


def test_a_proxy_that_is_listed_carries_nothing_that_is_not() -> None:
    """A secret that only ``*`` stands for does not leave this machine by it."""
    said = refuses({}, HERE, proxy="http://proxy.example:3128")
    assert said is not None and "the credential env:TOKEN is not for" in said
    hook = tickets(**HOOK_HERE, proxy="http://proxy.example:3128")
    assert refuses(hook, HERE) == "its webhook for tickets is none of the roots"


@pytest.mark.parametrize(
    ("spec", "service"),
    [
        ({}, {}),
        ({}, {"proxy": "http://127.0.0.1:3128"}),
        ({}, {"proxy": "env:HERE"}),
        (tickets(**HOOK_HERE), {}),
        (tickets(**HOOK_HERE, proxy="direct"), {"proxy": "http://localhost:3128"}),
        (probing("http://127.0.0.1:8781"), {}),
    ],
)
def test_what_stays_on_this_machine_is_a_rehearsal(spec: dict[str, Any], service: dict[str, Any]) -> None:
    """With roots that say so, and without."""
    assert refuses(spec, HERE, **service) is None
    assert leads_away(campaign(spec, HERE, **service), kept) is None


class PostSection(AreaSection):
    """The section of an area that somebody has installed."""

    key: str = "env:TOKEN"
    hook: str = "http://192.0.2.1:80"

    @property
    def references(self) -> dict[str, str]:
        """What it signs with."""
        return {"key": self.key}

    @property
    def addresses(self) -> dict[str, str]:
        """Whom it tells."""
        return {"hook": self.hook}


class Posting(CampaignSpec):
    """A campaign file where that is installed."""

    post: PostSection = PostSection()


@pytest.mark.parametrize(
    ("post", "why"),
    [
        ({}, None),
        ({"key": "env:OTHER"}, f"post.key env:OTHER is not for {SERVICE}, by the roots"),
        (
            {"hook": "http://evil.example"},
            "http://evil.example is no address that probes may ask, by the roots",
        ),
    ],
    ids=["listed", "reference", "address"],
)
def test_the_section_of_an_installed_area_is_asked_too(post: dict[str, str], why: str | None) -> None:
    """Whatever it says to lead to a secret, or away from the service."""
    said = campaign({}, SERVICE).model_dump(exclude_unset=True)
    file = RootsFile.model_validate({"signers": "s", "services": [LISTED]})
    found = Posting.model_validate({**said, "post": post})
    assert Roots(file, parsed("")).refuses_service(found, kept) == why


def test_an_address_of_an_installed_area_leads_away() -> None:
    """Without roots nothing of it is called."""
    said = campaign({}, HERE).model_dump(exclude_unset=True)
    assert leads_away(Posting.model_validate(said), kept) == "post.hook"
    here = Posting.model_validate({**said, "post": {"hook": "http://127.0.0.1:9"}})
    assert leads_away(here, kept) is None


def test_another_service_leads_away() -> None:
    """Whatever its name is made to look like."""
    assert leads_away(campaign({}, SERVICE), kept) == "service.base_url"
    for name in ("127.0.0.1.evil.example", "127.1.evil", "0.0.0.0", "localhost.evil.example", "[::2]", "[x"):
        assert not is_rehearsal(f"http://{name}:80/")
    for name in ("127.0.0.1", "127.9.9.9", "localhost", "[::1]"):
        assert is_rehearsal(f"http://{name}:80/")
