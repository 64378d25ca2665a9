"""The file that ``edgeshift init`` writes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from pydantic import BaseModel

from edgeshift.areas.log_fields.terms import LogFieldsSpec
from edgeshift.campaign_file.load import parse_campaign
from edgeshift.campaign_file.meanings import EXAMPLES, MAPPINGS, MEANINGS
from edgeshift.campaign_file.mistakes import model_in
from edgeshift.campaign_file.spec import SECTIONS, CampaignSpec, TargetSpec
from edgeshift.campaign_file.template import (
    PLACEHOLDER,
    PLACEHOLDER_FIELD,
    campaign_text,
    sections,
    template_spec,
)
from edgeshift.model.fleet import Area


def paths(model: type[BaseModel], before: str = "") -> Iterator[str]:
    """The path of every option, without indexes."""
    for name, field in model.model_fields.items():
        yield f"{before}{name}"
        if (inner := model_in(field.annotation)) is not None:
            yield from paths(inner, f"{before}{name}.")


@pytest.mark.parametrize("area", Area)
def test_it_loads_and_equals_the_defaults(area: Area) -> None:
    """But for the name, the area and the placeholders."""
    found = parse_campaign(campaign_text("autumn-2023", area))
    assert found == template_spec("autumn-2023", area)
    fields = LogFieldsSpec(request_headers=(PLACEHOLDER_FIELD,))
    assert found == CampaignSpec(
        name="autumn-2023",
        targets=TargetSpec(include=(PLACEHOLDER,)),
        area=area,
        log_fields=fields if area is Area.LOG_FIELDS else LogFieldsSpec(),
    )


def test_every_option_is_explained_and_nothing_else_is() -> None:
    """A new option without a meaning, or a meaning without its option, fails here."""
    assert sorted(MEANINGS) == sorted(paths(CampaignSpec))


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


@pytest.mark.parametrize("path", sorted({**EXAMPLES, **MAPPINGS}))
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
    number = len(EXAMPLES.get(path, [MAPPINGS.get(path)]))
    examples = [line.replace("# ", "", 1) for line in lines[at:] if line.startswith(marks)][:number]
    examples = [line if line.strip().startswith("-") else f" {line}" for line in examples]
    lines[at] = "\n".join([f"{pad}{key}:", *examples])
    found: Any = parse_campaign("\n".join(lines))
    for part in path.split("."):
        found = getattr(found, part)
    assert found and (path not in EXAMPLES or len(found) == len(EXAMPLES[path]))


@pytest.mark.parametrize("area", Area)
def test_no_line_is_too_long_to_read(area: Area) -> None:
    """It is read in an editor beside other things."""
    assert max(map(len, campaign_text("a", area).splitlines())) <= 110
