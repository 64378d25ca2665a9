"""Secrets leave a worker by one place, which asks the roots first (activities/ways.py)."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from activities.ways import Ways
from edgeshift.areas.esc.terms import EscSpec
from edgeshift.areas.log_fields.terms import LogFieldsSpec
from edgeshift.campaign_file.spec import CampaignSpec, CredentialSpec
from edgeshift.runtime.secret_refs import SecretRefError
from edgeshift.service_api import Misconfigured, NotLet

ROOT = Path(__file__).parents[2]

LOOKS_UP = {"SecretRef", "said_or_kept"}
"""Names by which a secret is looked up."""

SENDS = {"ServiceClient", "Prober", "prober_of", "ticket_system", "WebhookTickets"}
"""Calls that make what it is sent with."""

REFUSES = "activities/proof/authority.py"
"""Looks up where a proxy leads, to say whether anything may go there."""

RENEWS = "worker/renewed_key.py"
"""Looks the worker's own key of Temporal up, which is none of a campaign's."""


def named(node: ast.AST) -> str:
    """What a name or an attribute is called."""
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
    return ""


def used(file: Path) -> Iterator[str]:
    """What a file uses of these."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and named(node.func) in SENDS:
            yield named(node.func)
        if named(node) in LOOKS_UP:
            yield named(node)


def test_no_activity_looks_a_secret_up_by_itself() -> None:
    """Nor makes what it would be sent with."""
    folders = ("activities", "worker", "workflows", "examples/always_https/edgeshift_always_https")
    found = {
        str(file.relative_to(ROOT)): names
        for folder in folders
        for file in (ROOT / folder).rglob("*.py")
        if (names := set(used(file)))
    }
    assert found.pop("activities/ways.py") == LOOKS_UP | SENDS - {"Prober", "WebhookTickets"}
    assert found == {REFUSES: {"said_or_kept"}, RENEWS: {"SecretRef"}}


def test_whoever_is_refused_has_no_way() -> None:
    """It ends where one would be made; and one that is made is for the file's own credentials."""
    spec = CampaignSpec(name="x", targets={"all": True})  # type: ignore[arg-type]
    with pytest.raises(Misconfigured, match="not there"):
        Ways(spec, lambda _: "not there")
    with pytest.raises(Misconfigured, match="env:ANOTHER is no credential of the campaign file"):
        Ways(spec, lambda _: None).credential(CredentialSpec(token="env:ANOTHER"))


def test_a_secret_of_an_areas_section_is_one_that_its_references_list(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Of the campaign's own area, and where the roots let it: they are asked of exactly these."""
    job = {"destination": "env:EDGESHIFT_TEST_SECRET"}
    spec = CampaignSpec.model_validate(
        {
            "name": "x",
            "targets": {"all": True},
            "area": "log-fields",
            "log_fields": {"cookies": ["a"], "job": job},
        }
    )
    ways = Ways(spec, lambda _: None)
    with pytest.raises(SecretRefError, match="EDGESHIFT_TEST_SECRET is not set"):
        ways.secret(LogFieldsSpec, "job.destination")
    monkeypatch.setenv("EDGESHIFT_TEST_SECRET", "s3://hidden")
    assert ways.secret(LogFieldsSpec, "job.destination").get_secret_value() == "s3://hidden"
    monkeypatch.setattr(EscSpec, "references", {"job.destination": "env:EDGESHIFT_TEST_SECRET"})
    for section, path in ((LogFieldsSpec, "cookies"), (LogFieldsSpec, ""), (EscSpec, "job.destination")):
        with pytest.raises(Misconfigured, match="is no reference of the campaign's own section"):
            ways.secret(section, path)
    with pytest.raises(NotLet):
        Ways(spec, lambda _: "not there").secret(LogFieldsSpec, "job.destination")
