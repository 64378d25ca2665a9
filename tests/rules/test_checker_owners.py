"""Each request is judged as that of the area which owns it: of an installed one first, and of one alone."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from edgeshift.testbed.invariants import owners
from edgeshift.testbed.invariants.check import check_rules
from edgeshift.testbed.invariants.owners import TwoOwners, by_calls
from edgeshift.testbed.invariants.requests import Request
from tests.rules.checker_kit import PRO, request, well_run

Owns = Callable[[Request], bool]


@pytest.fixture
def install(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Makes areas installed, by their names: which requests each of them owns."""

    def install(**owns: Owns) -> None:
        found = {name: SimpleNamespace(owns=mine, body=name) for name, mine in owns.items()}
        monkeypatch.setattr(owners, "installed", lambda: found)

    return install


def of_setting(name: str) -> Owns:
    """Owns the requests about one setting."""
    return lambda request: (request.setting or {}).get("name") == name


def sent(call: str, **more: Any) -> Request:
    """A change of a zone that edgeshift has sent."""
    return request(1, PRO, call, method="PATCH", **more)


def test_a_request_is_of_the_area_that_owns_it(install: Callable[..., None]) -> None:
    """Of two areas of settings by the setting, and before those of edgeshift itself."""
    install(https=of_setting("always_use_https"), tls=of_setting("min_tls_version"), caching=_caching)
    assert sent("settings.patch", setting={"name": "always_use_https"}).area == "https"
    assert sent("settings.patch", setting={"name": "min_tls_version"}).area == "tls"
    assert sent("rulesets.put", query="phase=cache").area == "caching"
    assert sent("rulesets.put", log_fields={}).area == "log-fields"


def _caching(request: Request) -> bool:
    return request.call == "rulesets.put" and "cache" in request.query


@pytest.mark.parametrize(
    ("call", "area"),
    [
        ("esc.set", "esc"),
        ("logpush.jobs.update", "log-fields"),
        ("rulesets.put", "log-fields"),
        ("entrypoint.put", "waf"),
        ("waf.overrides.delete", "waf"),
        ("settings.patch", owners.NOBODYS),
        ("firewall.rules.put", owners.NOBODYS),
    ],
)
def test_the_areas_of_edgeshift_own_their_calls_alone(
    install: Callable[..., None], call: str, area: str
) -> None:
    """What none of them sends is nobody's, instead of the first one's."""
    install()
    assert sent(call).area == area


def test_the_entry_point_of_log_fields_is_of_their_area(install: Callable[..., None]) -> None:
    """The calls have the names of those on other phases."""
    install()
    assert sent("entrypoint.put", log_fields={"rules": []}).area == "log-fields"


def test_two_areas_that_own_one_request_are_both_named(install: Callable[..., None]) -> None:
    """Else it would be judged by whichever comes first by its name."""
    install(https=by_calls("settings."), tls=of_setting("min_tls_version"), other=by_calls("esc."))
    with pytest.raises(TwoOwners, match=r"https and tls both own settings\.patch \(request 1\)"):
        _ = sent("settings.patch", setting={"name": "min_tls_version"}).area


@pytest.mark.parametrize("status", [200, 500])
def test_a_change_that_no_area_owns_breaks_rule_1(install: Callable[..., None], status: int) -> None:
    """Whatever came of it: no campaign is about it."""
    install()
    found = well_run()
    odd = request(90, PRO, "firewall.rules.put", method="PUT", status=status)
    (first, *_) = check_rules(found.model_copy(update={"journal": (*found.journal, odd)}))
    assert [text.partition(": ")[2] for text in first.violations] == [
        "firewall.rules.put was sent, which is no campaign's (request 90)"
    ]
