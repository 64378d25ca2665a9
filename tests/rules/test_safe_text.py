"""Text from anywhere, shown: nothing in it is obeyed, and nothing hides."""

from __future__ import annotations

import csv
import io
import json
import logging
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.table import Table
from rich.text import Text

from edgeshift.runtime.logging import configure_logging
from edgeshift.runtime.safe_text import csv_cell, hides, json_text, one_line, printable, visible
from edgeshift.runtime.settings import LogSettings
from edgeshift.stores.tickets import Ticket
from edgeshift.views.console import SafeConsole
from edgeshift.views.csv_rows import as_csv
from edgeshift.views.rows import ZoneRow

EVIL = "a\x1b[2Jb\x9b1mc\u202ed\u2066e\u200bf\x7fg\ue000h\u2028i\x00j\rk\u3164l"
"""ESC, C1, bidirectional marks, what has no width, DEL, private use, a line separator, NUL, CR, a filler."""

ESCAPES = ("\\x1b", "\\x9b", "\\u202e", "\\u2066", "\\u200b", "\\x7f", "\\ue000", "\\x00", "\\u3164")

TEXTS = st.text() | st.text(alphabet=EVIL + "[bold] :smile:=+-@\t\n")


def shown(thing: object, *, terminal: bool = False) -> str:
    """What a console writes of it; as on a terminal, with Rich's own commands, or as into a file."""
    out = io.StringIO()
    SafeConsole(file=out, width=100, force_terminal=terminal, color_system=None).print(thing)
    return out.getvalue()


@given(TEXTS)
def test_nothing_hides_in_what_is_visible(text: str) -> None:
    """Whatever comes in; and what is visible already stays as it is."""
    found = visible(text)
    assert not any(hides(char) for char in found if char != "\n")
    assert visible(found) == found
    assert not any(hides(char) for char in printable(text) if char != "\n")
    assert not any(map(hides, one_line(text))) and "\n" not in one_line(text)


def test_what_hid_is_seen() -> None:
    """Each as its escape: an approver sees that there is something."""
    for way in (visible, printable, one_line):
        assert all(escape in way(EVIL) for escape in ESCAPES), way
    assert visible("shop.example, Ünïcode, 商店, a\nb") == "shop.example, Ünïcode, 商店, a\nb"


@pytest.mark.parametrize(
    "first, last",
    [(0x34F, 0x34F), (0x180B, 0x180F), (0xFE00, 0xFE0F), (0xE0100, 0xE01EF), (0xE0000, 0xE0FFF)],
)
def test_a_mark_that_is_not_drawn_is_seen(first: int, last: int) -> None:
    """A name with one looks like the name without: `shop` and `shop` would be two zones."""
    for number in range(first, last + 1):
        assert hides(chr(number)) and "\\" in visible(f"shop{chr(number)}"), hex(number)
    assert visible("e\u0301 क्ष") == "e\u0301 क्ष"


@given(TEXTS)
def test_nothing_is_obeyed_on_a_console(text: str) -> None:
    """As a line, as styled text, and in a cell of a table: no control character goes out but line feeds."""
    table = Table(text or "x", title=text)
    table.add_row(text, Text(text))
    for thing in (text, Text(text, style="bold"), table):
        found = shown(thing)
        assert not any(hides(char) for char in found if char != "\n"), found


def test_a_terminal_gets_commands_of_ours_alone() -> None:
    """Colours still go out; what a name brings does not."""
    out = io.StringIO()
    console = SafeConsole(file=out, width=100, force_terminal=True, color_system="standard", no_color=False)
    console.print(Text(EVIL, style="bold red"))
    found = out.getvalue()
    assert found.startswith("\x1b[1;31m") and found.count("\x1b[") == 2
    assert "\\x1b[2J" in found


def test_markup_is_text() -> None:
    """Brackets and colons in a name are no commands to Rich either, nor in a cell."""
    name = "[bold red]x[/] [link=https://evil.example]y[/link] :smile:"
    table = Table()
    table.add_row(name)
    assert name in shown(name) and name in shown(table)


@given(TEXTS)
def test_a_cell_is_no_formula(text: str) -> None:
    """What a spreadsheet would compute begins with an apostrophe, also after spaces; nothing hides."""
    cell = str(csv_cell(text))
    assert cell.lstrip(" ")[:1] not in {*"=+-@\t\r\n"}
    assert not any(hides(char) for char in cell if char not in "\n\t")


def test_the_csv_of_zones_has_no_formula() -> None:
    """Names and reasons too; what is in it can be read back."""
    row = ZoneRow(
        index=0,
        id="a" * 32,
        name='=cmd|"/c calc"!A1',
        account="a",
        plan="pro",
        wave=0,
        place="failed",
        reason=f"+{EVIL}",
    )
    head, cells = csv.reader(io.StringIO(as_csv([row])))
    found = dict(zip(head, cells, strict=True))
    assert found["name"].startswith("'=cmd") and found["reason"].startswith("'+a\\x1b[2J")
    assert found["wave"] == "1"


@given(TEXTS)
def test_json_says_the_same_and_hides_nothing(text: str) -> None:
    """The document is the same one; on a terminal nothing of it is obeyed."""
    found = json_text(json.dumps({"name": text}, ensure_ascii=False, indent=2))
    assert json.loads(found) == {"name": text}
    assert not any(hides(char) for char in found if char != "\n")


def test_a_ticket_shows_all_of_it() -> None:
    """Whatever system shows it."""
    ticket = Ticket(
        key="waf-x-1",
        zone_id="a",
        zone_name=EVIL,
        account="a",
        cause="x",
        title=EVIL,
        body=EVIL,
        campaign="c",
    )
    for text in (ticket.zone_name, ticket.title, ticket.body):
        assert "\\x1b[2J" in text and not any(hides(char) for char in text if char != "\n")


@pytest.mark.parametrize("form", ["console", "json"])
def test_a_log_line_commands_nothing(form: str) -> None:
    """Neither the event nor its fields, in either form."""
    before = logging.getLogger().handlers[:], logging.getLogger().level
    out = io.StringIO()
    try:
        configure_logging(LogSettings(format=form, level="info"), stream=out)  # type: ignore[arg-type]
        logging.getLogger("of.a.library").info("zone %s", EVIL, extra={"zone": EVIL})
    finally:
        logging.getLogger().handlers[:], logging.getLogger().level = before
    found = out.getvalue()
    assert "zone a" in found
    assert not any(unicodedata.category(char) in ("Cc", "Cf") for char in found if char != "\n"), found
