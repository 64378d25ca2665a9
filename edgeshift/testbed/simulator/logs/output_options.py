"""The object `output_options` of a log job, in which usual clients give what `logpull_options` is for
(docs/simulator.md, "Log jobs")."""

from typing import Any, get_args

from edgeshift.testbed.simulator.logs.field_names import fields_problem
from edgeshift.testbed.simulator.logs.pull_options import Timestamps

_TEXTS = (
    "batch_prefix",
    "batch_suffix",
    "field_delimiter",
    "record_delimiter",
    "record_prefix",
    "record_suffix",
    "record_template",
)


def problem(options: Any, dataset: str, *, any_field: bool = False) -> tuple[str, str] | None:
    """The key that is wrong in `output_options` ("" for all of it) and why; None if nothing. Keys that are
    not known here are let through, with `any_field` fields too."""
    if not isinstance(options, dict):
        return "", "must be an object"
    names = options.get("field_names")
    if names is not None:
        if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
            return "field_names", "must be an array of strings"
        if why := fields_problem(names, dataset, any_field=any_field):
            return "field_names", why
    for key, allowed in (("timestamp_format", get_args(Timestamps)), ("output_type", ("ndjson", "csv"))):
        if options.get(key) not in (None, "", *allowed):
            return key, f"must be one of {', '.join(allowed)}"
    rate = options.get("sample_rate")
    if rate is not None and (
        isinstance(rate, bool) or not isinstance(rate, int | float) or not 0 <= rate <= 1
    ):
        return "sample_rate", "must be a number of 0 to 1"
    for key in _TEXTS:
        if not isinstance(options.get(key) or "", str):
            return key, "must be a string"
    return None
