"""What is shown of an address that may have a password."""

from __future__ import annotations

from pathlib import Path

import pytest

from edgeshift.alarms import CheckFact, alarms_of
from edgeshift.cli.shell import Shell
from edgeshift.doctor.checks import check_archive
from edgeshift.model.addresses import without_credentials
from edgeshift.runtime.settings import Settings, TemporalSettings
from edgeshift.stores.archive import Archive, ArchiveMisconfigured
from edgeshift.views.alarming import gather

SECRET = "sup3rs3cret"
WITH_CREDENTIALS = [
    f"s3://KEY:{SECRET}@bucket/prefix",
    f"s3://KEY:sup/{SECRET}@bucket/prefix",
    f"s3://{SECRET}@bucket/prefix",
    f"s3://bucket/prefix?aws_secret_access_key={SECRET}",
    f"az://bucket/prefix?sig={SECRET}#x",
]


@pytest.mark.parametrize("url", WITH_CREDENTIALS)
@pytest.mark.parametrize("way", ["option", "variable"])
def test_verbose_verbs_repeat_no_credentials_of_an_archive(
    url: str,
    way: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    """With -v the archive is named before anybody has looked whether its URL is one."""
    monkeypatch.chdir(tmp_path)
    if way == "variable":
        monkeypatch.setenv("EDGESHIFT_ARCHIVE_URL", url)
    shell = Shell(archive_url=url if way == "option" else None, verbose=True)
    assert shell.settings.archive == url
    said = capfd.readouterr()
    assert SECRET not in said.err + said.out
    assert f"archive {url.partition('://')[0]}://bucket/prefix" in said.err


@pytest.mark.parametrize("url", [*WITH_CREDENTIALS, "/no-such-folder/archive"])
async def test_the_alarm_of_an_archive_repeats_no_credentials(url: str) -> None:
    """It offers a command with the address of the archive, and with a placeholder where that has some."""
    facts = await gather(Settings(temporal=TemporalSettings(address="127.0.0.1:1"), archive_url=url), None)
    found = await check_archive(url)
    said = CheckFact(code=found.code, name=found.name, state="failed", text=found.text, fix=found.fix)
    [alarm] = alarms_of(facts.model_copy(update={"checks": (said,)}))
    assert SECRET not in alarm.model_dump_json()
    named = "ARCHIVE" if url in WITH_CREDENTIALS else url
    assert alarm.do == (f"edgeshift doctor --archive {named}",)


@pytest.mark.parametrize("url", ["/srv/a@b/c?d#e", "a@b", "file:///srv/a@b", "s3://bucket/prefix", ""])
def test_an_address_without_credentials_is_shown_as_it_is(url: str) -> None:
    """Folders may have any names."""
    assert without_credentials(url) == url


@pytest.mark.parametrize("url", ["s3://[", "s3://[x/y", "http://]"])
def test_an_archive_whose_address_is_none_is_refused_as_such(url: str) -> None:
    """With what would be right."""
    with pytest.raises(ArchiveMisconfigured, match="write it as a folder"):
        Archive(url)
