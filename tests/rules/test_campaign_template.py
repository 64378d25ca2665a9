"""The file that ``edgeshift init`` writes."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pydantic import BaseModel

from edgeshift.campaign_file import parse_campaign
from edgeshift.campaign_mistakes import model_in
from edgeshift.campaign_spec import CampaignSpec, TargetSpec
from edgeshift.campaign_template import EXAMPLES, MEANINGS, PLACEHOLDER, campaign_text


def paths(model: type[BaseModel], before: str = "") -> Iterator[str]:
    """The path of every option, without indexes."""
    for name, field in model.model_fields.items():
        yield f"{before}{name}"
        if (inner := model_in(field.annotation)) is not None:
            yield from paths(inner, f"{before}{name}.")


def test_it_loads_and_equals_the_defaults() -> None:
    """But for the name and the placeholder among the targets."""
    wanted = CampaignSpec(name="waf-2024", targets=TargetSpec(include=(PLACEHOLDER,)))
    assert parse_campaign(campaign_text("waf-2024")) == wanted


def test_every_option_is_explained_and_nothing_else_is() -> None:
    """A new option without a meaning, or a meaning without its option, fails here."""
    assert sorted(MEANINGS) == sorted(paths(CampaignSpec))


@pytest.mark.parametrize("path", sorted(MEANINGS))
def test_an_option_stands_in_the_file_below_its_meaning(path: str) -> None:
    """The meaning as a comment, then the option, or both as a comment where the list is empty."""
    lines = campaign_text("a").splitlines()
    key = path.rpartition(".")[2]
    at = [number for number, line in enumerate(lines) if MEANINGS[path] in line]
    assert at
    here, below = lines[at[0]].strip(), lines[at[0] + 1].strip().removeprefix("- ")
    assert below.startswith(f"{key}:") or here == f"#   {key}: {MEANINGS[path]}"


@pytest.mark.parametrize("path", sorted(EXAMPLES))
def test_an_example_becomes_right_when_it_is_taken_in(path: str) -> None:
    """The comment without its hash, in place of the empty list."""
    lines = campaign_text("a").splitlines()
    at = lines.index(f"{path}: []")
    examples = [line.removeprefix("# ") for line in lines[at:] if line.startswith("# - ")][
        : len(EXAMPLES[path])
    ]
    lines[at] = "\n".join([f"{path}:", *examples])
    assert len(getattr(parse_campaign("\n".join(lines)), path)) == len(EXAMPLES[path])


def test_no_line_is_too_long_to_read() -> None:
    """It is read in an editor beside other things."""
    assert max(map(len, campaign_text("a").splitlines())) <= 110
