"""What is made from the model of campaign files: tables of every option with its default and its meaning.

``python -m edgeshift.campaign_file.reference docs`` writes those of docs/campaign-file.md anew, the profiles
of docs/service.md, and docs/campaign.schema.json. With the name of an area in place of the folder, an
installed one too, it prints what that area alone has: options and reasons.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from inspect import getdoc
from pathlib import Path

from edgeshift.areas import AREAS, BUILT_IN, area_of
from edgeshift.campaign_file.options import OF_SUPPORT, Option, options
from edgeshift.campaign_file.schema import schema_text
from edgeshift.campaign_file.sections import SECTIONS
from edgeshift.model.fleet import Area
from edgeshift.profiles.table import table as profiles

BEGIN = "<!-- made by python -m edgeshift.campaign_file.reference docs -->"
END = "<!-- end of what is made -->"


def tables() -> str:
    """A table of what every area has, then one an area of what it has for itself, as Markdown."""
    return "\n".join(table(area) for area in (None, *BUILT_IN))


def table(area: Area | None) -> str:
    """The options that an area has for itself; those that every area has where none is given."""
    asking = [one for one in BUILT_IN if area_of(one).asks_support]
    owners = {**SECTIONS, **{key: one for one in asking for key in OF_SUPPORT}}
    own = [option for option in options() if owners.get(option.path.partition(".")[0]) is area]
    title = "Of every area" if area is None else f"Of {area.value}"
    return "\n".join(
        [f"### {title}", "", "| Option | Default | Meaning |", "|---|---|---|", *map(_row, own), ""]
    )


def reasons(area: Area) -> str:
    """The reasons that an area brings: code, facts and meaning, as a Markdown table."""
    rows = [
        _cells(f"`{one.code}`", ", ".join(f"`{name}`" for name in one.model_fields), _meaning(one))
        for one in area_of(area).reasons
    ]
    lines = [f"| {' | '.join(cells)} |" for cells in rows]
    return "\n".join(["| Code | Facts | Meaning |", "|---|---|---|", *lines, ""])


def _meaning(documented: type) -> str:
    return " ".join((getdoc(documented) or "").partition("\n\n")[0].split())


def page(text: str, made: str) -> str:
    """The page ``text`` with what is ``made`` in its place. Raises ValueError where it has none."""
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (begin and end):
        raise ValueError(f"the page has no lines {BEGIN} and {END}")
    return f"{before}{BEGIN}\n\n{made}\n{END}{after}"


def _row(option: Option) -> str:
    usual = "needed" if option.field.is_required() else f"`{option.usual}`" if option.usual else ""
    return f"| {' | '.join(_cells(f'`{option.path}`', usual, option.meaning))} |".replace("|  |", "| |")


def _cells(*texts: str) -> Iterable[str]:
    return (text.replace("|", "\\|") for text in texts)


PAGES: dict[str, Callable[[], str]] = {"campaign-file.md": tables, "service.md": profiles}
"""What is made of each page of the documentation."""


def write(folder: Path) -> None:
    """Write the tables and the schema into the folder of the documentation."""
    for name, made in PAGES.items():
        file = folder / name
        file.write_text(page(file.read_text(encoding="utf-8"), made()), encoding="utf-8")
    (folder / "campaign.schema.json").write_text(schema_text(), encoding="utf-8")


def main(what: str) -> None:
    """Write the documentation into a folder, or print what an area has."""
    if what in set(AREAS):
        print(f"{table(Area(what))}\n{reasons(Area(what))}", end="")
    else:
        write(Path(what))


if __name__ == "__main__":
    main(sys.argv[1])
