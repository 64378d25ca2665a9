"""What a log job pushes: by its `output_options`, or by its parameter string (docs/service.md §2.3, §10)."""

from typing import Any
from urllib.parse import urlencode

from edgeshift.profiles import ServiceProfile
from edgeshift.testbed.simulator.logs import pull_options
from edgeshift.testbed.simulator.logs.pull_options import PullOptions

Document = dict[str, Any]


def of_job(job: Document, dataset: str, facts: ServiceProfile) -> PullOptions:
    """What a stored job pushes: by its `output_options` where it has some and the profile knows them, else by
    its parameter string. Both were checked when they were written.
    """
    given = job.get("output_options")
    if facts.takes_output_options and given is not None:
        return parsed(given, dataset)
    return pull_options.parsed(job["logpull_options"], dataset, any_field=True)


def parsed(given: Any, dataset: str) -> PullOptions:
    """The options in such an object; what it leaves out, or empty, is as usual, and other keys are passed
    over. Raises ValueError saying what is wrong.
    """
    if not isinstance(given, dict):
        raise ValueError("it must be an object")
    names = given.get("field_names") or []
    if not isinstance(names, list) or not all(isinstance(one, str) for one in names):
        raise ValueError("field_names must be an array of names")
    parameters = {
        "fields": ",".join(names),
        "timestamps": given.get("timestamp_format"),
        "sample_rate": given.get("sample_rate"),
    }
    text = urlencode({key: value for key, value in parameters.items() if value})
    return pull_options.parsed(text, dataset, any_field=True)
