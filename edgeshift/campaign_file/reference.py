"""The tables of docs/campaign-file.md: every option with its default and its meaning, made from the model.

``python -m edgeshift.campaign_file.reference docs`` writes them anew, and docs/campaign.schema.json.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path

from edgeshift.areas import BUILT_IN, area_of
from edgeshift.campaign_file.options import OF_SUPPORT, Option, options
from edgeshift.campaign_file.schema import schema_text
from edgeshift.campaign_file.spec import SECTIONS

BEGIN = "<!-- made by python -m edgeshift.campaign_file.reference docs -->"
END = "<!-- end of what is made -->"


def tables() -> str:
    """A table of what every area has, then one an area of what it has for itself, as Markdown."""
    asking = [area for area in BUILT_IN if area_of(area).asks_support]
    owners = {**SECTIONS, **{key: area for area in asking for key in OF_SUPPORT}}
    lines = []
    for title, owner in [("Of every area", None), *((f"Of {area.value}", area) for area in BUILT_IN)]:
        own = [option for option in options() if owners.get(option.path.partition(".")[0]) is owner]
        lines += [f"### {title}", "", "| Option | Default | Meaning |", "|---|---|---|", *map(_row, own), ""]
    return "\n".join(lines)


def page(text: str) -> str:
    """The page ``text`` with its tables as they are now. Raises ValueError where it has no place for them."""
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (begin and end):
        raise ValueError(f"the page has no lines {BEGIN} and {END}")
    return f"{before}{BEGIN}\n\n{tables()}\n{END}{after}"


def _row(option: Option) -> str:
    usual = "needed" if option.field.is_required() else f"`{option.usual}`" if option.usual else ""
    return f"| {' | '.join(_cells(f'`{option.path}`', usual, option.meaning))} |".replace("|  |", "| |")


def _cells(*texts: str) -> Iterable[str]:
    return (text.replace("|", "\\|") for text in texts)


def write(folder: Path) -> None:
    """Write the tables and the schema into the folder of the documentation."""
    file = folder / "campaign-file.md"
    file.write_text(page(file.read_text(encoding="utf-8")), encoding="utf-8")
    (folder / "campaign.schema.json").write_text(schema_text(), encoding="utf-8")


if __name__ == "__main__":
    write(Path(sys.argv[1]))
