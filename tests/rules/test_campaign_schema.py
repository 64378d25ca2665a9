"""What is made from the campaign file's model for readers and editors: the JSON schema, the documentation."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from pydantic import ValidationError, create_model
from ruamel.yaml import YAML

from edgeshift.campaign_file.load import CampaignFileError, parse_campaign
from edgeshift.campaign_file.options import options
from edgeshift.campaign_file.reference import PAGES, page
from edgeshift.campaign_file.schema import campaign_schema, schema_text
from edgeshift.campaign_file.template import campaign_text
from edgeshift.model.fleet import Area
from edgeshift.profiles import PROFILES, ServiceProfile
from edgeshift.testbed.simulator.generate import generate_fleet
from edgeshift.testbed.stack.credentials import campaign_text as stack_text
from edgeshift.testbed.stack.paths import StackPaths

DOCS = Path(__file__).parents[2] / "docs"
SCHEMA = campaign_schema()
SMALL = "name: a\ntargets: {all: true}\n"


def fits(text: str) -> None:
    """Raise jsonschema's ValidationError where a text does not fit the schema."""
    jsonschema.validate(YAML(typ="safe", pure=True).load(text), SCHEMA)


def examples(name: str) -> list[str]:
    """The campaign files that a page shows."""
    text = (DOCS / name).read_text(encoding="utf-8")
    return re.findall(r"^```yaml\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


def test_the_schema_is_a_schema() -> None:
    """By the dialect that it names."""
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    assert SCHEMA["$schema"] == jsonschema.Draft202012Validator.META_SCHEMA["$id"]


def test_the_schema_in_the_documentation_is_current() -> None:
    """docs/campaign.schema.json is what `edgeshift campaign-schema` prints."""
    assert (DOCS / "campaign.schema.json").read_text(encoding="utf-8") == schema_text()


def test_the_tables_in_the_documentation_are_current() -> None:
    """docs/campaign-file.md has every option with its default and its meaning, and no other."""
    text = (DOCS / "campaign-file.md").read_text(encoding="utf-8")
    assert page(text, PAGES["campaign-file.md"]()) == text
    rows = re.findall(r"^\| `([a-z_.]+)` \|.*\| (.+?) \|$", text.split("## Every option")[1], re.MULTILINE)
    assert sorted(rows) == sorted((option.path, option.meaning) for option in options())


def test_the_table_of_profiles_is_current() -> None:
    """docs/service.md has every fact of every profile."""
    text = (DOCS / "service.md").read_text(encoding="utf-8")
    assert page(text, PAGES["service.md"]()) == text
    shown = text.split("## 10. Profiles")[1]
    assert all(f"`{name}`" in shown for name in PROFILES)
    facts = set(ServiceProfile.model_fields) - {"name", "title", "as_of", "rate", "source"}
    assert all(f"(`{fact}`)" in shown for fact in facts)


def test_a_page_without_a_place_for_the_tables_is_refused() -> None:
    """Rather than written without them."""
    with pytest.raises(ValueError, match="has no lines"):
        page("# The campaign file\n", "")


@pytest.mark.parametrize("area", Area)
def test_the_files_that_edgeshift_writes_fit_the_schema(area: Area, tmp_path: Path) -> None:
    """Those of `init` and of `up`."""
    fits(campaign_text("a", area))
    fits(
        stack_text(
            StackPaths(tmp_path), generate_fleet(6, 1), "http://127.0.0.1:8780", 600.0, area, "http://e:1"
        )
    )


@pytest.mark.parametrize("text", [*examples("campaign-file.md"), *examples("operators.md")])
def test_the_examples_of_the_documentation_fit_the_schema(text: str) -> None:
    """Each is a whole file."""
    fits(text)


def test_the_schema_explains_every_option_in_the_words_of_the_file() -> None:
    """What an editor shows is what `init` writes."""
    for option in options():
        assert described(option.path)["description"] == option.meaning, option.path


def described(path: str) -> dict[str, Any]:
    """What the schema says of an option."""
    found: dict[str, Any] = SCHEMA
    for part in path.split("."):
        found = inside(found)["properties"][part]
    return found


def inside(found: dict[str, Any]) -> dict[str, Any]:
    """The schema of the mapping that an option is, or that its items are."""
    if "properties" in found:
        return found
    if "$ref" in found:
        part: dict[str, Any] = SCHEMA["$defs"][found["$ref"].removeprefix("#/$defs/")]
        return part
    choices = [found.get("items"), found.get("additionalProperties"), *found.get("anyOf", ())]
    return inside(next(choice for choice in choices if choice and "$ref" in choice))


def test_no_option_takes_a_number_or_a_truth_as_a_text() -> None:
    """Those of the areas too: where the schema has an integer, a number or a boolean, one is wanted."""
    seen = set()
    for option in options():
        said = described(option.path)
        kinds = {choice.get("type") for choice in (said, *said.get("anyOf", ()))}
        field: Any = (option.field.annotation, option.field)
        for kind in kinds & {"integer", "number", "boolean"}:
            with pytest.raises(ValidationError):
                create_model("One", value=field)(value="true" if kind == "boolean" else "20")
            seen.add(kind)
    assert seen == {"integer", "number", "boolean"}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('window: "20"', "3:1: window: is '20'; it must be a number (without quotes)"),
        ('time_scale: "many"', "3:1: time_scale: is 'many'; it must be a number"),
        ("sign_off: {four_eyes: yes}", "3:12: sign_off.four_eyes: is 'yes'; it must be true or false"),
        ("sign_off: {four_eyes: 1}", "3:12: sign_off.four_eyes: is 1; it must be true or false"),
        ('sign_off: {four_eyes: "true"}', "is 'true'; it must be true or false (without quotes)"),
    ],
)
def test_a_text_in_place_of_a_number_or_a_truth_is_told_with_its_place(text: str, said: str) -> None:
    """And with what would be right."""
    with pytest.raises(CampaignFileError) as found:
        parse_campaign(f"{SMALL}{text}\n")
    assert str(found.value).endswith(said)


def test_durations_are_written_as_people_write_them() -> None:
    """In what is right, and as defaults."""
    assert described("service.patience")["default"] == "1h"
    for text in ("90s", "1h30m", "500ms", "1.5 h", "14D"):
        fits(f"{SMALL}commit: {{poll: {text}}}\n")
        parse_campaign(f"{SMALL}commit: {{poll: {text}}}\n")


@pytest.mark.parametrize(
    "text",
    [
        "windw: 3\n",
        "window: 0\n",
        "window: true\n",
        "window: 2.5\n",
        'window: "20"\n',
        'time_scale: "60"\n',
        "consents: {enforce_validation: yes}\n",
        "sign_off: {four_eyes: 1}\n",
        'waves: [{percent: "5"}]\n',
        "area: cdn\n",
        "sweep: often\n",
        "sweep: -3\n",
        "sweep: 90\n",
        "commit: {turn_window: 90}\n",
        "waves: 3\n",
        "waves: [{zones: 0}]\n",
        "waves: [{size: 3}]\n",
        "sign_off: {per: zones}\n",
        "validation: {modes: []}\n",
        "commit: {resend_unchanged: 4}\n",
        "service: {base_url: ftp://x}\n",
        "service: {credentials: [{token: literal}]}\n",
        "tickets: {webhook: desk}\n",
        "esc: {probe: {urls: [login]}}\n",
        "log_fields: {job: {name: a}}\n",
    ],
)
def test_what_an_editor_marks_is_refused_by_the_loader_too(text: str) -> None:
    """Each is wrong by itself, so that the schema knows it."""
    with pytest.raises(jsonschema.ValidationError):
        fits(SMALL + text)
    with pytest.raises(CampaignFileError):
        parse_campaign(SMALL + text)


def test_an_editor_says_what_would_be_right_in_the_words_of_the_loader() -> None:
    """Beside the pattern, where the YAML language server looks for it."""
    parts = [SCHEMA, *SCHEMA["$defs"].values()]
    patterns = [found for part in parts for found in with_pattern(part)]
    assert len(patterns) > 8 and all(found["patternErrorMessage"] for found in patterns)


def with_pattern(found: object) -> list[dict[str, Any]]:
    """Every part of a schema that has a pattern."""
    if isinstance(found, list):
        return [inner for item in found for inner in with_pattern(item)]
    if not isinstance(found, dict):
        return []
    return [*([found] if "pattern" in found else []), *with_pattern(list(found.values()))]
