"""What the validators of a campaign file's models share: how they refuse, at which place, in which words.
Pure.

A validator of a field raises ValueError where the field as a whole is wrong, and calls ``refuse`` where a
part of it is, or another field beside it. A rule between two fields belongs to the later one, which finds the
earlier one in ``info.data`` if that is right by itself: so one answer has the mistakes of all fields.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import timedelta

from pydantic import BaseModel, BeforeValidator, ConfigDict, Strict, ValidationError
from pydantic.config import JsonDict
from pydantic_core import InitErrorDetails, PydanticCustomError

from edgeshift.model.durations import say_duration

Where = tuple[str | int, ...]
"""The path to a value: keys and indexes."""

Trouble = tuple[Where, str]
"""What is wrong, and where, from the field that is validated."""

UP = -1
"""In the path of a trouble: out of the value that was reached, as ``..`` in a path of files. No list has it
as an index.
"""

RIGHT = "patternErrorMessage"
"""The key of a field's JSON schema for what would be right where a pattern says it only to machines. Editors
show it, and so do errors.
"""


class Part(BaseModel):
    """A part of a campaign file: frozen, without unknown keys. The text of its errors leaves out pydantic's
    copy of what was given, since that may be a secret.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)


WHOLE = "rightIsWhole"
"""The key of a field's extra that says of what would be right that it says what is wrong as well. It is for
errors alone, and in no schema.
"""


def right(text: str, *, whole: bool = False) -> JsonDict:
    """What would be right, as a field's ``json_schema_extra``. ``whole``: it is a sentence that says what is
    wrong as well.
    """
    return {RIGHT: text, WHOLE: True} if whole else {RIGHT: text}


def refuse(troubles: Iterable[Trouble]) -> None:
    """Raise all of the troubles together, if there are any, as pydantic's ValidationError."""
    found = [
        InitErrorDetails(type=PydanticCustomError("rule", text), loc=where, input=None)
        for where, text in troubles
    ]
    if found:
        raise ValidationError.from_exception_data("campaign file", found, hide_input=True)


def place_of(loc: Sequence[str | int]) -> Where:
    """The path that the ``loc`` of an error means, with each ``UP`` followed."""
    where: list[str | int] = []
    for part in loc:
        if part == UP:
            where = where[:-1]
        else:
            where.append(part)
    return tuple(where)


def _no_truth(value: object) -> object:
    if isinstance(value, bool):
        raise PydanticCustomError(
            "rule", "is true; it must be a number" if value else "is false; it must be a number"
        )
    if isinstance(value, str):
        try:
            float(value)
        except ValueError:
            # Of another text pydantic says which kind of number is right.
            return value
        raise PydanticCustomError(QUOTED, "it is a text; it must be a number without quotes")
    return value


QUOTED = "number_in_quotes"
"""The type of the error of a number that is written as a text."""

NUMBER = BeforeValidator(_no_truth)
"""Refuses true and false, which Python counts as 1 and 0, and numbers in quotes, as the JSON schema does. In
an annotation it stands after the limits of the number, so that these reach the JSON schema.
"""

TRUTH = Strict()
"""Takes true and false alone, as the JSON schema does: ``yes`` is a text in YAML 1.2, and 1 a number."""


def at_least(least: timedelta) -> Callable[[timedelta], timedelta]:
    """A validator: the duration is no shorter."""

    def check(value: timedelta) -> timedelta:
        if value < least:
            raise ValueError(f"is {say_duration(value)}; at least {say_duration(least)} is right")
        return value

    return check


def at_most(most: timedelta) -> Callable[[timedelta], timedelta]:
    """A validator: the duration is no longer."""

    def check(value: timedelta) -> timedelta:
        if value > most:
            raise ValueError(f"is {say_duration(value)}; at most {say_duration(most)} is right")
        return value

    return check


def listed_once(names: Sequence[str]) -> Iterator[Trouble]:
    """What is wrong with a list of names whose case does not count: an empty one, one that comes again."""
    seen: dict[str, int] = {}
    for index, name in enumerate(names):
        if not name.strip():
            yield (index,), "is empty; remove it or give a name"
        elif name.lower() in seen:
            yield (index,), f"{name!r} is listed twice, first as item {seen[name.lower()] + 1}"
        seen.setdefault(name.lower(), index)


MOST_LOOKS = 1_000
"""Looks at one target after a change. Each takes steps of its workflow's history, which has room for four
times as many.
"""


def check_looks(every: timedelta, whole: timedelta, usual: timedelta, length: str) -> None:
    """Raise ValueError where the pause between two looks is longer than the time in which is looked, or far
    too short for it. ``length``: the option that says how long is looked, such as ``esc.observe``.

    The ``usual`` pause is right with any shorter time: a file that says nothing of it is read the same again
    when it was archived, with every default written out.
    """
    if every > whole and every != usual:
        raise ValueError(
            f"is longer than {length}, so nothing would be looked at in between; make it shorter"
        )
    if every and whole > every * MOST_LOOKS:
        least = timedelta(seconds=-(-whole // (MOST_LOOKS * timedelta(seconds=1))))
        raise ValueError(
            f"is {say_duration(every)}, too often for {length} of {say_duration(whole)}:"
            f" {MOST_LOOKS:,} looks are made at most; at least {say_duration(least)} is right"
        )
