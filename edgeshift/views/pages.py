"""What all pages are made with: HTML files that need nothing else, no request and no script. Everything in
them is escaped.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from shlex import quote

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from edgeshift.messages import wrong_text
from edgeshift.model.durations import say_duration
from edgeshift.views import charts
from edgeshift.views.parts import ViewPart
from edgeshift.views.rows import look_of
from edgeshift.views.words import lasting, look, moment, printable, short, word

LONG = 32
"""Characters of a word that may be broken, after its dots, slashes and the like, and within an identifier:
shorter ones never are.
"""

_CELL = re.compile(r"<(t[hd])([^>]*)>(.*?)</\1>", re.DOTALL)
_TEXT = re.compile(r"(?<=>)[^<]+|^[^<]+")
_LONG_WORD = re.compile(rf"[^\s<]{{{LONG},}}")
_TAG = re.compile(r"<[^>]*>")
_JOINT = re.compile(r"(?<=[/._:?,=-])(?=[^\s/])|(?<=\b[0-9a-f]{16})(?=[0-9a-f]{16}\b)")
_SIXTEEN = re.compile(r".{1,16}", re.DOTALL)


@cache
def environment(part: ViewPart) -> Environment:
    """The templates of edgeshift and of an area, with the filters that they share, and its own."""
    found = Environment(
        loader=ChoiceLoader([PackageLoader("edgeshift.views"), PackageLoader(part.package)]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_safe,
    )
    found.filters |= part.filters()
    found.filters |= {
        "quote": quote,
        "moment": moment,
        "short": short,
        "lasting": lasting,
        "duration": say_duration,
        "number": lambda value: f"{value:,}",
        "numbers": lambda headings: [f"#{heading}" for heading in headings],
        "percent": lambda value: f"{value:.1f} %" if 0 < value < 10 else f"{value:.0f} %",
        "look": look,
        "look_of": look_of,
        "word": word,
        "parts": charts.parts_of,
        "labelled": labelled,
        "breakable": breakable,
        "whole": whole,
        "wrong": wrong_text,
        "digest": lambda value: Markup("<wbr>").join(_SIXTEEN.findall(str(value))),
    }
    return found


@cache
def style() -> Markup:
    """The style sheet. It is ours, so it goes in as it is; the policy in a page's head keeps all else out."""
    return Markup(files("edgeshift.views").joinpath("templates/report.css").read_text("utf-8"))


def labelled(cells: Markup, headings: Sequence[str]) -> Markup:
    """The cells of a row, each with its column's heading, which stands before it where a narrow screen has no
    room for columns. A long word may be broken at its joints, as after a dot.
    """
    left = iter(headings)

    def one(cell: re.Match[str]) -> str:
        tag, attributes, content = cell.groups()
        heading = next(left, "")
        classes = "n" if heading.startswith("#") else "wide" if not heading else ""
        if tag == "th" and " " not in content and len(content) < LONG:
            # A name: it is not broken at a hyphen either.
            classes = "t"
        content = _joints(content)
        if _LONG_WORD.search(_TAG.sub(" ", content)):
            classes = f"{classes} long".strip()
        extra = f' data-label="{escape(heading.removeprefix("#"))}"' if tag == "td" and heading else ""
        if classes and "class=" not in attributes:
            extra += f' class="{classes}"'
        return f"<{tag}{attributes}{extra}>{content}</{tag}>"

    return Markup(_CELL.sub(one, str(cells)))


def whole(names: Sequence[str], between: str = ", ") -> Markup:
    """Names in a row, or words of a command, none of which is broken, but for very long ones."""
    return escape(between).join(
        Markup('<span class="{}">{}</span>').format("t" if len(name) < LONG else "long", breakable(name))
        for name in names
    )


def breakable(text: str) -> Markup:
    """``text``, whose long words may be broken at their joints."""
    return Markup(_joints(str(escape(printable(text)))))


def _joints(html: str) -> str:
    """Mark where long words of a piece of HTML may be broken. No joint lies within a tag or an entity."""
    return _TEXT.sub(
        lambda text: _LONG_WORD.sub(lambda long: _JOINT.sub("<wbr>", long.group()), text.group()), html
    )


def _safe(value: object) -> object:
    """Without control characters and without characters that turn the reading direction."""
    return printable(value) if isinstance(value, str) and not isinstance(value, Markup) else value
