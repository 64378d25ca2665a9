"""The standard streams: there even where the caller closed them, and never at a loss for a character."""

from __future__ import annotations

import codecs
import io
import json
import os
import sys

_PLAIN = str.maketrans(
    {
        "…": "...", "→": "->", "←": "<-", "\u2013": "-", "—": "-", "\u00d7": "x", "·": ".", "•": "*",
        "✓": "+", "✗": "x",
        "“": '"', "”": '"', "\u2018": "'", "\u2019": "'", "≤": "<=", "≥": ">=", "\u00a0": " ",
        "█": "#", "░": ".", "▒": ":", "━": "-", "─": "-", "│": "|", "╸": "-", "╺": "-",
    }
)  # fmt: skip
"""What stands for a character of our own where the terminal's encoding lacks it."""

PLAIN = "edgeshift-plain"
"""The name of the error handler of encoders."""


def prepare() -> None:
    """Make stdin, stdout and stderr usable: a closed one reads and writes nothing, and a character that its
    encoding lacks is written in plainer ones.

    A closed descriptor must not stay free: the next file or connection would get its number, and output
    would go there.
    """
    codecs.register_error(PLAIN, _plain)
    for number in (0, 1, 2):
        try:
            os.fstat(number)
        except OSError:
            # The lowest free number is this one, since those below it are open.
            os.open(os.devnull, os.O_RDONLY if number == 0 else os.O_WRONLY)
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(number, "w" if number else "r", encoding="utf-8", closefd=False))
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=PLAIN)


def speaks_unicode(stream: object) -> bool:
    """Whether a stream's encoding has every character."""
    return str(getattr(stream, "encoding", None) or "utf-8").lower().startswith("utf")


def _plain(problem: UnicodeError) -> tuple[str, int]:
    if not isinstance(problem, UnicodeEncodeError):
        raise problem
    lacking = problem.object[problem.start : problem.end]
    return json.dumps(lacking.translate(_PLAIN))[1:-1].replace('\\"', '"'), problem.end
