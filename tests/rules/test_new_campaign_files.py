"""What a new campaign file may not have, though a campaign that an earlier version has archived goes on with
it.
"""

from __future__ import annotations

import pytest
from ruamel.yaml import YAML

from edgeshift.campaign_file.spec import CampaignSpec
from tests.rules.test_campaign_file import SMALL, only


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("sweep: 0s", "3:1: sweep: is 0s; at least 1s is right"),
        ("sweep: 999ms", "3:1: sweep: is 999ms; at least 1s is right"),
        ("silence: 0s", "3:1: silence: is 0s; at least 1s is right"),
        ("sign_off: {valid_for: 0s}", "3:12: sign_off.valid_for: is 0s; at least 1s is right"),
        ("service: {rate: {per: 0s}}", "3:18: service.rate.per: is 0s; at least 1s is right"),
        ("service: {rate: {per: 25h}}", "3:18: service.rate.per: is 1d 1h; at most 1d is right"),
        (
            "validation: {window: 72}",
            "3:14: validation.window: has no unit; write 72s, 72m or 72h, as it is meant",
        ),
        (
            "commit: {turn_window: 1.5}",
            "3:10: commit.turn_window: has no unit; write 1.5s, 1.5m or 1.5h, as it is meant",
        ),
    ],
)
def test_what_never_worked_is_refused_and_an_archived_one_is_read(text: str, said: str) -> None:
    """A campaign that an earlier version has archived with such a time is read as it was."""
    assert only(f"{SMALL}{text}\n") == said
    begun = YAML(typ="safe", pure=True).load(f"{SMALL}{text}\n")
    assert CampaignSpec.model_validate(begun)
