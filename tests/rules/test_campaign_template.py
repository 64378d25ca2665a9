"""The file that ``edgeshift init`` writes."""

from __future__ import annotations

from typing import Any

import pytest

from edgeshift.areas.log_fields.terms import LogFieldsSpec
from edgeshift.campaign_file.areas.log_fields import PLACEHOLDER_FIELD
from edgeshift.campaign_file.load import parse_campaign
from edgeshift.campaign_file.options import Option, model_in, options, sections
from edgeshift.campaign_file.spec import SECTIONS, CampaignSpec, TargetSpec
from edgeshift.campaign_file.template import PLACEHOLDER, campaign_text, template_spec
from edgeshift.model.fleet import Area

MEANINGS = {option.path: option.meaning for option in options()}
EXAMPLES: dict[str, Any] = {
    option.path: option.field.examples[0] for option in options() if option.field.examples
}


@pytest.mark.parametrize("area", Area)
def test_it_loads_and_equals_the_defaults(area: Area) -> None:
    """But for the name, the area and the placeholders."""
    found = parse_campaign(campaign_text("autumn-2023", area))
    assert found == template_spec("autumn-2023", area)
    fields = LogFieldsSpec(request_headers=(PLACEHOLDER_FIELD,))
    own: dict[str, Any] = {"log_fields": fields} if area is Area.LOG_FIELDS else {}
    targets = TargetSpec(include=(PLACEHOLDER,))
    assert found == CampaignSpec(name="autumn-2023", targets=targets, area=area, **own)


@pytest.mark.parametrize("option", list(options()), ids=lambda option: option.path)
def test_every_option_says_what_it_means(option: Option) -> None:
    """In a sentence; the file is built of them, so that a new option without one is seen here."""
    said = option.field.description
    assert said and (said[0].isupper() or ": " in said) and said.endswith("."), said


def test_each_list_of_parts_that_is_empty_has_an_example() -> None:
    """Whoever reads the file sees what could stand there."""
    empty = {
        option.path
        for option in options()
        if model_in(option.field.annotation) and not option.field.is_required() and option.usual
    }
    assert empty == set(EXAMPLES)


@pytest.mark.parametrize("path", sorted(MEANINGS))
def test_an_option_stands_in_the_file_below_its_meaning(path: str) -> None:
    """The meaning as a comment, then the option, or both as a comment where there is none by default; in the
    files of the areas that have the option, and in no other.
    """
    key, section = path.rpartition(".")[2], path.partition(".")[0]
    for area in Area:
        lines = campaign_text("a", area).splitlines()
        at = [number for number, line in enumerate(lines) if line.strip(" #").endswith(MEANINGS[path])]
        found = [number for number in at if _stands(lines, number, key, MEANINGS[path])]
        assert bool(found) is (section in sections(area)), area


def _stands(lines: list[str], number: int, key: str, meaning: str) -> bool:
    here, below = lines[number].strip(), lines[number + 1].strip().removeprefix("- ")
    return below.startswith(f"{key}:") or here == f"#   {key}: {meaning}"


def test_a_file_has_no_section_of_another_area() -> None:
    """What means nothing in an area is not in its file."""
    for area in Area:
        keys = [line.partition(":")[0] for line in campaign_text("a", area).splitlines()]
        for section, owner in SECTIONS.items():
            assert (section in keys) is (owner is area)


@pytest.mark.parametrize("path", sorted(EXAMPLES))
def test_an_example_becomes_right_when_it_is_taken_in(path: str) -> None:
    """The comment without its hash, in place of the empty list or mapping."""
    area = SECTIONS.get(path.partition(".")[0], Area.WAF)
    key = path.rpartition(".")[2]
    lines = campaign_text("a", area).splitlines()
    at = next(
        number
        for number, line in enumerate(lines)
        if line.strip() in (f"{key}: []", f"{key}: {{}}", f"{key}: null")
    )
    pad = " " * (len(lines[at]) - len(lines[at].lstrip()))
    marks = (f"{pad}# - {{", f"{pad}# {{")
    number = len(EXAMPLES[path]) if isinstance(EXAMPLES[path], list) else 1
    examples = [line.replace("# ", "", 1) for line in lines[at:] if line.startswith(marks)][:number]
    examples = [line if line.strip().startswith("-") else f" {line}" for line in examples]
    lines[at] = "\n".join([f"{pad}{key}:", *examples])
    found: Any = parse_campaign("\n".join(lines))
    for part in path.split("."):
        found = getattr(found, part)
    assert found and (not isinstance(EXAMPLES[path], list) or len(found) == len(EXAMPLES[path]))


@pytest.mark.parametrize("area", Area)
def test_no_line_is_too_long_to_read(area: Area) -> None:
    """It is read in an editor beside other things."""
    assert max(map(len, campaign_text("a", area).splitlines())) <= 110
