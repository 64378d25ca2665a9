"""Keys on the command line: what is unusual of them, and what people mistype."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.journeys.cli_kit import Place

ROOTS = """\
signers: allowed_signers
people:
  ada: {roles: [approver]}
services:
  - {base_url: "https://api.example.com/client/v4", credentials: ["env:TOKEN"]}
"""
LISTED = ("keys", "list", "--roots", "roots.yaml")


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """A folder with roots of one person, whose key counts for some years."""
    place = Place(tmp_path, EDGESHIFT_AUTHORITY_KEY="ada", EDGESHIFT_USER="ada")
    place.ok("keys", "make", "ada", "--file", "ada")
    kind, key = (tmp_path / "ada.pub").read_text().split()[:2]
    place.write("allowed_signers", f'ada valid-after="20250101Z",valid-before="20990101Z" {kind} {key}\n')
    place.write("roots.yaml", ROOTS)
    return place


def test_a_key_that_counts_for_a_time_is_listed_with_it(place: Place) -> None:
    """As moments."""
    (key,) = place.json(*LISTED)["people"][0]["keys"]
    assert (key["valid_after"], key["valid_before"]) == (
        "2025-01-01T00:00:00+00:00",
        "2099-01-01T00:00:00+00:00",
    )


def test_who_tries_a_key_is_named_as_anywhere(place: Place) -> None:
    """Neither by nothing, nor by what a terminal would obey."""
    tried = ("keys", "test", "--roots", "roots.yaml", "--by")
    assert "signs for ada: approver" in place.ok(*tried, "ada")
    assert "--by is empty" in place.refused(2, *tried, "")
    assert "--by" in place.refused(2, *tried, "ad\x1ba")


def test_a_folder_of_nobody_is_named(place: Place) -> None:
    """A path that begins with a user that there is not."""
    nobody = "~nobody-of-this-name/x"
    for line in (
        ("keys", "list", "--roots", nobody),
        ("keys", "make", "bob", "--file", nobody),
        ("keys", "add", "bob", "--role", "approver", "--roots", "roots.yaml", "--key", nobody),
    ):
        assert f"{nobody}: there is no such user here" in place.refused(2, *line)
    place.environment["EDGESHIFT_AUTHORITY_KEY"] = nobody
    said = place.refused(6, "keys", "test", "--roots", "roots.yaml", "--by", "ada")
    assert f"the key {nobody} cannot be read: there is no such user" in said
