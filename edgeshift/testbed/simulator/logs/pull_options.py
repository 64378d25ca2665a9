"""The parameter string `logpull_options` of a log job (docs/service.md §2.3)."""

from dataclasses import dataclass
from typing import Literal, cast, get_args
from urllib.parse import parse_qsl

from edgeshift.testbed.simulator.logs.field_names import DEFAULT_FIELDS, fields_problem

Timestamps = Literal["rfc3339", "unix", "unixnano"]


@dataclass(frozen=True)
class PullOptions:
    """What a job pushes: the names of its fields in their order, how moments are written, and which part of
    the requests (0 to 1)."""

    fields: tuple[str, ...] = DEFAULT_FIELDS
    timestamps: Timestamps = "unixnano"
    sample_rate: float = 1.0


def parsed(text: str | None, dataset: str, *, any_field: bool = False) -> PullOptions:
    """The options in a parameter string; what it does not say is as usual, other parameters are passed over.

    `any_field`: fields that the dataset does not have are let through. Raises ValueError saying what is
    wrong.
    """
    given: dict[str, str] = {}
    for key, value in parameters(text):
        if key in given:
            raise ValueError(f"{key[:40]} is given twice")
        given[key] = value
    timestamps = given.get("timestamps", "unixnano")
    if timestamps not in get_args(Timestamps):
        raise ValueError(f"timestamps must be one of {', '.join(get_args(Timestamps))}")
    fields = _fields(given["fields"], dataset, any_field) if "fields" in given else DEFAULT_FIELDS
    name = "sample" if "sample" in given else "sample_rate"
    return PullOptions(fields, cast(Timestamps, timestamps), _rate(name, given.get(name, "1")))


def parameters(text: str | None) -> list[tuple[str, str]]:
    """The parameters of such a string in their order. It may be the address of a pull, or its query with the
    question mark."""
    address, mark, query = (text or "").partition("?")
    is_address = mark and not {"=", "&"} & set(address)
    return parse_qsl(query if is_address else text or "", keep_blank_values=True)


def _fields(text: str, dataset: str, any_field: bool) -> tuple[str, ...]:
    names = text.split(",")
    if why := fields_problem(names, dataset, any_field=any_field):
        raise ValueError(why)
    return tuple(names)


def _rate(name: str, text: str) -> float:
    try:
        rate = float(text)
    except ValueError:
        rate = 0.0
    if not 0 < rate <= 1:
        raise ValueError(f"{name} must be a number greater than 0 and at most 1")
    return rate
