"""What the person chose by options of this call, such as ``--env production``, in the commands that are
offered in answer: without it they would act elsewhere.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Collection

from edgeshift.model.addresses import without_credentials

_chosen = ""
_command = re.compile(r"(?!)")


def choose(
    verbs: Collection[str] = (),
    *,
    env: str | None = None,
    address: str | None = None,
    namespace: str | None = None,
    archive: str | None = None,
) -> None:
    """Remember what was given by options, for commands of these verbs; None where nothing was. An address of
    an archive with credentials in it is left out.
    """
    global _chosen, _command
    if archive is not None and without_credentials(archive) != archive:
        archive = None
    given = {"--env": env, "--address": address, "--namespace": namespace, "--archive": archive}
    words = [word for option, value in given.items() if value is not None for word in (option, value)]
    _chosen = shlex.join(words)
    names = "|".join(re.escape(verb) for verb in verbs)
    _command = re.compile(rf"(?<![\w./-])edgeshift (?=(?:{names})(?![\w-]))" if words else r"(?!)")


def command(*words: str) -> str:
    """A command of edgeshift that a shell takes as it stands, whatever is in its words, such as names of
    zones and files; with what was chosen.
    """
    return as_chosen(shlex.join(("edgeshift", *words)))


def as_chosen(text: str) -> str:
    """A text with what was chosen in each command of it."""
    return _command.sub(lambda _: f"edgeshift {_chosen} ", text)
