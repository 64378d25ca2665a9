"""What a setting may hold that leads nowhere: the error says what would be right, and repeats no secret."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from pydantic import SecretStr

from edgeshift.areas.esc.terms import ProbeSpec
from edgeshift.authority.signing import SigningFailed, signer_at
from edgeshift.http.tls import BadCaFile, tls_context
from edgeshift.model.fleet import Plan, Zone
from edgeshift.probes.fetch import Fetcher, ProbeError
from edgeshift.rate_limit.unpaced import Unpaced
from edgeshift.runtime.clock import SystemClock
from edgeshift.runtime.secret_refs import SecretRef, SecretRefError
from edgeshift.service_api import Credential, ServiceClient
from edgeshift.service_api.errors import Misconfigured
from edgeshift.stores.archive import Archive
from edgeshift.stores.archive_errors import ArchiveMisconfigured, ArchiveUnavailable
from edgeshift.stores.log_entries import LogStore, LogStoreError
from edgeshift.stores.tickets import FolderTickets, TicketsMisconfigured, WebhookTickets

URL = "https://desk.example/hook"
ZONE = Zone(id="a" * 32, name="shop.example", account="b" * 32, plan=Plan.ENTERPRISE)
PROXIED: list[Callable[[str], object]] = [
    lambda proxy: ServiceClient(URL, Credential(token="t" * 40), pacer=Unpaced(), proxy=proxy),
    lambda proxy: WebhookTickets(URL, proxy=proxy),
    lambda proxy: Fetcher(ProbeSpec(), clock=SystemClock(), proxy=proxy),
]


@pytest.mark.parametrize("made", PROXIED)
@pytest.mark.parametrize(
    "proxy",
    [
        "http://user:S3cret/x@proxy.example:3128",
        "http://user:1234S3cret@[proxy.example:3128",
        "http://user:S3cret@proxy.example\x7f:3128",
        "socks9://user:S3cret@proxy.example",
    ],
)
def test_a_proxy_that_cannot_be_read_is_not_repeated(made: Callable[[str], object], proxy: str) -> None:
    """Not a part of it either: a password with a slash is half of it taken for a port."""
    with pytest.raises((Misconfigured, TicketsMisconfigured, ProbeError)) as raised:
        made(proxy)
    assert "(it is not repeated here)" in str(raised.value) and "S3cret" not in str(raised.value)
    assert raised.value.__cause__ is None and raised.value.__suppress_context__


@pytest.mark.parametrize(
    "url", ["https://desk.example:S3cret/x", "https://[S3cret", "https://d.example/S3cret\x7f"]
)
def test_a_webhook_that_cannot_be_read_is_not_repeated(url: str) -> None:
    """It may be a secret as a whole."""
    with pytest.raises(TicketsMisconfigured, match=r"tickets\.webhook: write it as") as raised:
        WebhookTickets(url)
    assert "S3cret" not in str(raised.value)


NOWHERE: dict[str, Callable[[str], object]] = {
    "a secret": lambda path: SecretRef(f"file:{path}").resolve(),
    "authorities": tls_context,
    "a signing key": lambda path: signer_at(Path(path)),
    "an archive": Archive,
    "tickets": FolderTickets,
}


@pytest.mark.parametrize("name", NOWHERE)
@pytest.mark.parametrize("path", ["a\0b", "~nobody-has-this-name/x", "a\ud800b"])
def test_what_no_file_can_be_named_is_a_mistake_of_the_setting(name: str, path: str) -> None:
    """Like a file that is not there, which its reader says; none of it is a fault of the program."""
    known = (SecretRefError, BadCaFile, SigningFailed, ArchiveMisconfigured, TicketsMisconfigured)
    with pytest.raises(known):
        NOWHERE[name](path)


def test_what_no_variable_can_be_named_is_a_mistake_of_the_setting() -> None:
    """It is not set."""
    for name in ("A\0", "A\ud800"):
        with pytest.raises(SecretRefError, match="is not set"):
            SecretRef(f"env:{name}").resolve()


@pytest.mark.parametrize("url", ["s3://[b/{zone}", "file:///a%00b/{zone}"])
def test_a_store_of_log_entries_that_cannot_be_read_is_told(url: str) -> None:
    """Without a failure that nobody expects."""
    with pytest.raises(LogStoreError):
        LogStore(url, ZONE)


@pytest.mark.parametrize("secret", ["hüsh-hush", "hush\nhush", "hush\x7f"])
def test_a_secret_that_no_header_carries_is_not_repeated(secret: str) -> None:
    """Not a character of it: where it was sent, the error showed the first that does not fit."""
    with pytest.raises(TicketsMisconfigured, match=r"tickets\.secret: .* printable ASCII") as raised:
        WebhookTickets(URL, secret=SecretStr(secret))
    assert "ü" not in str(raised.value) and "hush" not in str(raised.value)


NO_CREDENTIALS = [
    ("s3://b/p", {"AWS_PROFILE": "main"}, "AWS_ACCESS_KEY_ID is not set here, and profiles are not read"),
    (
        "s3://b/p",
        {"AWS_ACCESS_KEY_ID": "id", "AWS_SECRET_ACCESS_KEY": "hush-hush"},
        "AWS_REGION is not set here",
    ),
    ("az://c/p", {}, "AZURE_STORAGE_ACCOUNT_NAME is not set here"),
    (
        "az://c/p",
        {"AZURE_STORAGE_ACCOUNT_NAME": "account"},
        "AZURE_STORAGE_ACCOUNT_KEY is not set here, and `az login` counts only with AZURE_USE_AZURE_CLI=true",
    ),
    ("gs://b/p", {}, "GOOGLE_APPLICATION_CREDENTIALS is not set here"),
]


@pytest.mark.parametrize(("url", "environment", "said"), NO_CREDENTIALS)
async def test_a_store_without_credentials_says_which_variable_is_not_set(
    url: str, environment: dict[str, str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At the opening, or at the first call: what the store's own tools find elsewhere does not count here. No
    secret is repeated.
    """
    for name in [name for name in os.environ if name.startswith(("AWS_", "AZURE_", "GOOGLE_"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))
    # Nobody listens there.
    nowhere = "http://127.0.0.1:9"
    for name in ("AWS_ENDPOINT_URL", "AWS_METADATA_ENDPOINT", "AZURE_MSI_ENDPOINT", "AZURE_STORAGE_ENDPOINT"):
        monkeypatch.setenv(name, nowhere)
    for name in ("GCE_METADATA_ROOT", "GCE_METADATA_HOST", "GCE_METADATA_IP"):
        monkeypatch.setenv(name, "127.0.0.1:9")
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    with pytest.raises((ArchiveMisconfigured, ArchiveUnavailable)) as raised:
        await Archive(url).get_named("word/abort")
    assert said in str(raised.value) and "hush" not in str(raised.value)
