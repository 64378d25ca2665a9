"""Named environments: what a file says of them, and what is told of one that is wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from edgeshift.cli.errors import CommandError
from edgeshift.cli.found_stack import settings_here
from edgeshift.cli.main import called
from edgeshift.cli.shell import Shell
from edgeshift.runtime.environments import EnvironmentTrouble, environment_named, names_here
from edgeshift.runtime.settings import SettingsError, known_keys, load_settings

GOOD = """\
[env.production]
temporal_address = "temporal.example.com:7233"
temporal_namespace = "edge"
temporal_tls = true
archive_url = "s3://edgeshift-production"
temporal_ui = "https://temporal.example.com"

[env.staging]
temporal_address = "127.0.0.1:7333"
archive_url = "file:///archive"
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of its own, and a configuration folder that is empty."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    for name in ("TEMPORAL_ADDRESS", "TEMPORAL_NAMESPACE", "ARCHIVE_URL", "ENV"):
        monkeypatch.delenv(f"EDGESHIFT_{name}", raising=False)
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    return here


def refusal(name: str = "production") -> str:
    """What is said of an environment that cannot be used."""
    with pytest.raises(EnvironmentTrouble) as refused:
        environment_named(name).settings()
    return str(refused.value)


def test_an_environment_sets_what_its_variables_would(folder: Path) -> None:
    """Address, namespace, TLS, archive; what it does not say keeps its default."""
    (folder / "edgeshift.toml").write_text(GOOD)
    found = environment_named("production").settings()
    assert (found.temporal.address, found.temporal.namespace) == ("temporal.example.com:7233", "edge")
    assert found.temporal.encrypted and found.archive == "s3://edgeshift-production"
    assert found.log.level == "info"
    assert environment_named("staging").settings().temporal.namespace == "default"
    assert names_here() == ["production", "staging"]


def test_the_folder_counts_before_the_person(folder: Path, tmp_path: Path) -> None:
    """What the folder's file does not have is looked for in the person's own."""
    own = tmp_path / "config/edgeshift"
    own.mkdir(parents=True)
    (own / "config.toml").write_text(GOOD.replace("7333", "7444").replace("env.production", "env.mine"))
    (folder / "edgeshift.toml").write_text(GOOD)
    assert environment_named("staging").values["temporal_address"] == "127.0.0.1:7333"
    assert environment_named("mine").file == own / "config.toml"
    assert names_here() == ["mine", "production", "staging"]


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ("temporal_namespace", "temporal_namspace", "did you mean temporal_namespace?"),
        ('"temporal.example.com:7233"', '"temporal.example.com"', "env.production.temporal_address: "),
        ('archive_url = "s3://edgeshift-production"\n', "", "env.production.archive_url: it is missing"),
        (
            '"s3://edgeshift-production"',
            '""',
            "env.production.archive_url: String should have at least 1 char",
        ),
        ("temporal_tls = true", 'temporal_tls = "perhaps"', "env.production.temporal_tls: "),
        ("temporal_tls = true", 'temporal_api_key = "sk-1234567"', "env.production.temporal_api_key: "),
        ("[env.production]", "[env.production", "it is no TOML"),
        ("temporal_tls = true", f"temporal_tls = {'[' * 2_000}", "it is no TOML: it is nested too deeply"),
        ("[env.production]", "[env]\nproduction = 3\n[other]", "it has to be a table: [env.production]"),
    ],
)
def test_what_is_wrong_is_named_with_file_and_key(folder: Path, before: str, after: str, said: str) -> None:
    """And a secret that stands there by mistake is not repeated."""
    assert before in GOOD
    (folder / "edgeshift.toml").write_text(GOOD.replace(before, after, 1))
    told = refusal()
    assert str(folder / "edgeshift.toml") in told and said in told and "sk-1234567" not in told


def test_an_unknown_name_is_told_with_what_was_meant(folder: Path) -> None:
    """Or with the names that there are."""
    (folder / "edgeshift.toml").write_text(GOOD)
    assert "did you mean production?" in refusal("prodction")
    assert "there are production, staging" in refusal("zzz")


def test_a_variable_that_says_otherwise_is_refused(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody has to guess which of the two counts; one that says the same is no trouble."""
    (folder / "edgeshift.toml").write_text(GOOD)
    monkeypatch.setenv("EDGESHIFT_TEMPORAL_ADDRESS", "127.0.0.1:9")
    assert "EDGESHIFT_TEMPORAL_ADDRESS says otherwise" in refusal()
    monkeypatch.setenv("EDGESHIFT_TEMPORAL_ADDRESS", "temporal.example.com:7233")
    assert environment_named("production").settings().temporal.namespace == "edge"


def test_an_option_counts_before_the_environment(folder: Path) -> None:
    """What was typed is what was meant; the web pages of the other server are not this one's."""
    (folder / "edgeshift.toml").write_text(GOOD)
    named = environment_named("production")
    found = settings_here(address="h.example:1", namespace=None, archive=None, named=named)
    assert (found.temporal.address, found.temporal.namespace) == ("h.example:1", "edge")
    assert found.temporal.ui is None and found.archive == "s3://edgeshift-production"


def test_it_is_chosen_by_option_or_variable(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The option before the variable. Questions name it, and --verbose says where it is."""
    (folder / "edgeshift.toml").write_text(GOOD)
    monkeypatch.setenv("EDGESHIFT_ENV", "production")
    assert Shell().settings.archive == "s3://edgeshift-production"
    shell = Shell(environment="staging")
    assert shell.settings.archive == "file:///archive" and shell.here == " in staging"
    assert capsys.readouterr().err == ""
    assert Shell(environment="staging", verbose=True).settings
    assert "environment staging (" in capsys.readouterr().err


def test_a_stack_that_has_stopped_counts_for_nothing(folder: Path) -> None:
    """Its archive least of all."""
    own = folder / ".edgeshift"
    own.mkdir()
    (own / "ports.json").write_text("{}")
    (folder / "edgeshift.toml").write_text(GOOD)
    shell = Shell(environment="staging")
    shell.check_stack()
    assert shell.settings.archive == "file:///archive"
    with pytest.raises(CommandError, match="does not run"):
        Shell().check_stack()


def test_every_setting_is_a_key() -> None:
    """As the variables are called, in lower case."""
    keys = known_keys()
    assert {"temporal_address", "temporal_tls_cert", "archive_url", "state_dir", "authority_key"} <= set(keys)
    assert len(keys) == len(set(keys))


def test_a_named_environment_says_the_same_of_what_is_empty_or_foreign(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the key of the file, or the variable."""
    (folder / "edgeshift.toml").write_text(f'{GOOD}authority_key = ""\n')
    monkeypatch.setenv("EDGESHIFT_TEMPORAL_PORT", "tcp://10.0.0.7:7233")
    with pytest.raises(SettingsError) as caught:
        environment_named("staging").settings()
    for said in (
        "env.staging.authority_key: it is empty;",
        "EDGESHIFT_TEMPORAL_PORT: there is no such setting;",
    ):
        assert said in str(caught.value)


def test_an_empty_archive_is_no_archive(monkeypatch: pytest.MonkeyPatch) -> None:
    """A script's variable that was not set: the default folder would be another archive."""
    monkeypatch.setenv("EDGESHIFT_ARCHIVE_URL", "")
    with pytest.raises(SettingsError, match="EDGESHIFT_ARCHIVE_URL: String should have at least 1"):
        load_settings()


@pytest.mark.parametrize(
    ("variable", "value", "said"),
    [
        ("LOG", "debug", "its settings are EDGESHIFT_LOG_LEVEL, EDGESHIFT_LOG_FORMAT"),
        ("TEMPORAL", "host:7233", "its settings are EDGESHIFT_TEMPORAL_ADDRESS, "),
        ("TEMPORAL", "", "its settings are EDGESHIFT_TEMPORAL_ADDRESS, "),
        ("AUTHORITY", "/etc/roots.yaml", "its settings are EDGESHIFT_AUTHORITY_ROOTS, "),
        ("WORKER", "x", "its settings are EDGESHIFT_WORKER_QUEUES, "),
        ("WORKER", "3", "its settings are EDGESHIFT_WORKER_QUEUES, "),
        ("ARCHIVE", "s3://edgeshift-production", "did you mean EDGESHIFT_ARCHIVE_URL?"),
        ("ARCHIVE_URI", "s3://edgeshift-production", "did you mean EDGESHIFT_ARCHIVE_URL?"),
        ("TEMPORL_ADDRESS", "host:7233", "did you mean EDGESHIFT_TEMPORAL_ADDRESS?"),
    ],
)
def test_a_variable_that_is_no_setting_and_looks_like_one_is_named(
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    variable: str,
    value: str,
    said: str,
) -> None:
    """With and without a named environment: a message for the person, and the exit code of bad input."""
    (folder / "edgeshift.toml").write_text(GOOD)
    monkeypatch.setenv(f"EDGESHIFT_{variable}", value)
    for line in (["status"], ["--env", "production", "status"]):
        code, told = called(line), capsys.readouterr().err
        assert code == 2 and f"EDGESHIFT_{variable}: " in told and said in told, told
        assert not value or f" {value}" not in told


def test_other_variables_are_no_settings(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Such as those that secrets are in, and those that are read elsewhere; a group may be given as JSON."""
    for name in ("TOKEN", "RETAIL_TOKEN", "USER", "ENV", "ARCHIVE_KEY", "TEMPORAL_CLI_SHA256"):
        monkeypatch.setenv(f"EDGESHIFT_{name}", "x")
    monkeypatch.setenv("EDGESHIFT_LOG", '{"level": "debug"}')
    assert load_settings().log.level == "debug"


def test_an_option_that_cannot_be_used_is_the_one_that_is_named() -> None:
    """Not the address, where the namespace is wrong."""
    with pytest.raises(SettingsError, match="--namespace cannot be used so"):
        settings_here(address=None, namespace="", archive=None)
