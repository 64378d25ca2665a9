"""Settings, references to secrets, and what is logged: mistakes are named, secrets are not."""

from __future__ import annotations

import io
import json
import logging
import re
from pathlib import Path

import pytest
from pydantic import BaseModel, ValidationError

from edgeshift.runtime.logging import configure_logging, logger
from edgeshift.runtime.redaction import MASK, redact, redact_text, register_secret
from edgeshift.runtime.settings import (
    LogSettings,
    SecretRef,
    SecretRefError,
    SettingsError,
    load_settings,
)

_LITERAL = "v1.0-literal-token-1234567890"


class _Campaign(BaseModel):
    token: SecretRef


def test_every_setting_has_a_default_and_a_variable(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Nothing need be set; what is set by EDGESHIFT_… counts."""
    assert load_settings().temporal.address == "127.0.0.1:7233"
    assert load_settings().worker.zones_cached == 2_000
    monkeypatch.setenv("EDGESHIFT_TEMPORAL_ADDRESS", "temporal.example.org:7233")
    monkeypatch.setenv("EDGESHIFT_TEMPORAL_TLS_CA", "/ca.pem")
    monkeypatch.setenv("EDGESHIFT_WORKER_ZONES_CACHED", "50")
    monkeypatch.setenv("EDGESHIFT_STATE_DIR", str(tmp_path))
    found = load_settings()
    assert found.temporal.address == "temporal.example.org:7233"
    assert found.temporal.encrypted
    assert found.worker.zones_cached == 50
    assert found.archive == (tmp_path / "archive").as_uri()


@pytest.mark.parametrize(
    ("variable", "value", "complaint"),
    [
        ("EDGESHIFT_TEMPORAL_ADRESS", "x:1", "no such setting"),
        ("EDGESHIFT_TEMPORAL_ADDRESS", "no-port", "should match pattern"),
        ("EDGESHIFT_TEMPORAL_ADDRESS", "127.0.0.1:65536", "its port must be from 1 to 65535"),
        ("EDGESHIFT_TEMPORAL_ADDRESS", "[]:9", "must be an IPv6 address"),
        ("EDGESHIFT_LOG_LEVEL", "loud", "'debug', 'info', 'warning' or 'error'"),
        ("EDGESHIFT_WORKER_QUOTA_WORKFLOW_POLLERS", "1", "greater than or equal to 2"),
        ("EDGESHIFT_WORKER_QUEUES", "control,zoens", "'zoens' is no task queue; write some of control"),
        ("EDGESHIFT_WORKER_QUEUES", "", "is no task queue"),
        ("EDGESHIFT_TEMPORAL_API_KEY", _LITERAL, "env:NAME"),
    ],
)
def test_a_wrong_variable_is_named(
    variable: str, value: str, complaint: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The error names the variable and what would be right, and never repeats a value that may be secret."""
    monkeypatch.setenv(variable, value)
    with pytest.raises(SettingsError, match=re.escape(variable)) as caught:
        load_settings()
    assert complaint in str(caught.value)
    assert _LITERAL not in str(caught.value)


@pytest.mark.parametrize("group", ["TEMPORAL", "WORKER", "LOG", "AUTHORITY", "TEMPORAL_UI", "WORKER_METRICS"])
def test_what_kubernetes_sets_for_a_service_is_told_apart(
    group: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A service of that name is enough. The error says where the variable comes from, and what to do."""
    for end in (
        "SERVICE_HOST",
        "SERVICE_PORT",
        "SERVICE_PORT_GRPC_MAIN",
        "PORT",
        "PORT_7233_TCP",
        "PORT_7233_TCP_PROTO",
        "PORT_53_UDP_ADDR",
    ):
        with monkeypatch.context() as patch:
            patch.setenv(f"EDGESHIFT_{group}_{end}", "tcp://10.0.0.7:7233")
            with pytest.raises(SettingsError) as caught:
                load_settings()
        assert str(caught.value) == (
            f"EDGESHIFT_{group}_{end}: there is no such setting; Kubernetes sets it for the service"
            f" edgeshift-{group.lower().replace('_', '-')}: set `enableServiceLinks: false` for the pod"
        )
    for other in ("PORTS", "PORT_TCP", "PORT_7233_TCP_NAME", "SERVICE"):
        with monkeypatch.context() as patch:
            patch.setenv(f"EDGESHIFT_{group}_{other}", "x")
            with pytest.raises(SettingsError, match=r"there is no such setting$"):
                load_settings()


@pytest.mark.parametrize(
    "names",
    [
        ("STATE_DIR",),
        ("TEMPORAL_TLS_CA",),
        ("TEMPORAL_TLS_CERT", "TEMPORAL_TLS_KEY"),
        ("TEMPORAL_TLS_SERVER_NAME",),
        ("AUTHORITY_ROOTS",),
        ("AUTHORITY_KEY",),
        ("AUTHORITY_WORKER_KEY",),
        ("WORKER_DEPLOYMENT", "WORKER_BUILD_ID"),
    ],
)
def test_an_empty_value_is_none(names: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    """As a template writes it: a file would be the working folder, and a deployment one without a name."""
    for name in names:
        monkeypatch.setenv(f"EDGESHIFT_{name}", "")
    with pytest.raises(SettingsError) as caught:
        load_settings()
    assert str(caught.value).splitlines() == [
        f"EDGESHIFT_{name}: it is empty; give it a value, or unset it" for name in names
    ]


def test_a_certificate_without_its_key_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Half of a pair is a mistake, not plain TLS."""
    monkeypatch.setenv("EDGESHIFT_TEMPORAL_TLS_CERT", "/client.pem")
    with pytest.raises(SettingsError, match="go together"):
        load_settings()


def test_a_reference_leads_to_its_secret(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both forms are read at the moment of use; the newline at the end of a file does not count."""
    monkeypatch.setenv("EDGESHIFT_TEST_SECRET", "from-variable")
    (tmp_path / "token").write_text("from-file\n")
    assert SecretRef("env:EDGESHIFT_TEST_SECRET").resolve().get_secret_value() == "from-variable"
    assert SecretRef(f"file:{tmp_path / 'token'}").resolve().get_secret_value() == "from-file"


@pytest.mark.parametrize("wrong", [_LITERAL, "env:", "file: ", "vault:x", "", "ENV:NAME", "env:A\nB"])
def test_anything_else_is_refused_without_being_repeated(wrong: str) -> None:
    """A literal token in a campaign file is refused by naming both forms; the token is shown nowhere."""
    with pytest.raises(SecretRefError, match=r"env:NAME.*file:PATH") as direct:
        SecretRef(wrong)
    with pytest.raises(ValidationError, match=r"env:NAME.*file:PATH") as modelled:
        _Campaign.model_validate({"token": wrong})
    with pytest.raises(ValidationError) as parsed:
        _Campaign.model_validate_json(json.dumps({"token": wrong}))
    for shown in (direct.value, modelled.value, modelled.value.errors(), parsed.value):
        assert _LITERAL not in f"{shown} {shown!r}"


def test_a_reference_that_leads_nowhere_says_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An unset variable, a missing file, a folder and an empty file are each named."""
    monkeypatch.delenv("EDGESHIFT_TEST_UNSET", raising=False)
    (tmp_path / "empty").write_text(" \n")
    for reference, complaint in (
        ("env:EDGESHIFT_TEST_UNSET", "EDGESHIFT_TEST_UNSET is not set"),
        (f"file:{tmp_path}/none", "there is no such file"),
        (f"file:{tmp_path}", "cannot be read"),
        (f"file:{tmp_path}/empty", "the file is empty"),
    ):
        with pytest.raises(SecretRefError, match=re.escape(complaint)):
            SecretRef(reference).resolve()


def test_a_reference_survives_json() -> None:
    """What crosses a workflow boundary is the reference, as plain text."""
    text = _Campaign(token=SecretRef("env:TOKEN")).model_dump_json()
    assert json.loads(text) == {"token": "env:TOKEN"}
    assert isinstance(_Campaign.model_validate_json(text).token, SecretRef)


@pytest.mark.parametrize("form", ["json", "console"])
def test_no_secret_reaches_the_log(form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Secret fields, resolved secrets in texts, arguments and tracebacks, and those of other libraries."""
    secret = 'q"uoted-s3cret-value'
    monkeypatch.setenv("EDGESHIFT_TEST_SECRET", secret)
    SecretRef("env:EDGESHIFT_TEST_SECRET").resolve()
    stream = io.StringIO()
    root = logging.getLogger()
    before = root.handlers[:], root.level
    try:
        configure_logging(LogSettings.model_validate({"format": form}), stream=stream)
        log = logger("edgeshift.test")
        log.info("sent", headers={"X-Auth-Key": "field-value", "accept": "json"}, zone="z1")
        log.info("echo", body=[f"it said {secret}"])
        logging.getLogger("temporalio.activity").warning("failed with %s", secret)
        try:
            raise ValueError(f"refused: {secret}")
        except ValueError:
            log.exception("broken")
    finally:
        root.handlers[:], root.level = before[0], before[1]
    written = stream.getvalue()
    assert "s3cret-value" not in written
    assert "field-value" not in written
    assert written.count(MASK) >= 4
    for kept in ("z1", "accept", "temporalio.activity", "refused"):
        assert kept in written


def test_redaction_keeps_the_shape() -> None:
    """Only values are masked; absent ones stay visible as absent."""
    register_secret("abcd-efgh")
    assert redact({"token": None, "list": ({"password": "x"}, 3), "note": "abcd-efgh!"}) == {
        "token": None,
        "list": [{"password": MASK}, 3],
        "note": f"{MASK}!",
    }
    assert redact_text("nothing here") == "nothing here"
