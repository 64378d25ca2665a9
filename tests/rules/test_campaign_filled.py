"""A new campaign file that knows a stack: the options that are known are filled in, and the comments stay."""

from __future__ import annotations

from pathlib import Path

import pytest

from edgeshift.areas.esc.terms import EscSpec
from edgeshift.campaign_file.filled import filled
from edgeshift.campaign_file.load import load_campaign
from edgeshift.campaign_file.template import campaign_text
from edgeshift.model.fleet import Area

KNOWN = {
    "targets": {"all": True, "include": []},
    "service": {
        "base_url": "http://127.0.0.1:8790/client/v4",
        "credentials": [
            {"user": "a@example.com", "token": "file:/somewhere/a", "accounts": ["0a" * 16]},
            {"user": "b@example.com", "key": "file:/somewhere/b", "email": "b@example.com"},
        ],
    },
    "tickets": {"folder": "/somewhere/tickets"},
    "time_scale": 3600,
    "esc": {"probe": {"edge": "http://127.0.0.1:8791", "per_second": 100}},
}


@pytest.mark.parametrize("area", [Area.WAF, Area.ESC, Area.LOG_FIELDS])
def test_what_is_known_is_in_the_file(tmp_path: Path, area: Area) -> None:
    """It loads as it stands, with both credentials; every comment but those of the example's credential is
    there, and nothing else has changed.
    """
    plain = campaign_text("autumn", area)
    text = filled(plain, KNOWN)
    (tmp_path / "autumn.yaml").write_text(text)
    spec = load_campaign(tmp_path / "autumn.yaml")
    assert spec.targets.all and not spec.targets.include and spec.time_scale == 3600
    assert spec.service.base_url == "http://127.0.0.1:8790/client/v4"
    assert [one.user for one in spec.service.credentials] == ["a@example.com", "b@example.com"]
    assert spec.tickets.folder == ("/somewhere/tickets" if area is Area.WAF else None)
    if area is Area.ESC:
        probe = spec.section(EscSpec).probe
        assert probe.edge == "http://127.0.0.1:8791" and probe.per_second == 100
    comments = [line for line in plain.splitlines() if line.lstrip().startswith("#")]
    lost = [line for line in comments if line not in text.splitlines()]
    assert 0 < len(lost) <= 5 and all("#" in line for line in lost)


def test_nothing_known_changes_nothing() -> None:
    """Nor does what the file has no option for."""
    plain = campaign_text("autumn", Area.WAF)
    assert filled(plain, {}) == plain == filled(plain, {"nonsense": {"a": 1}, "window_of": 3})
