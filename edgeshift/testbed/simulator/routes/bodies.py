"""Turning a body that does not fit a model into the service's refusal."""

from pydantic import ValidationError

from edgeshift.testbed.simulator.answers import ApiError, error


def first_problem(found: ValidationError, at: str = "") -> ApiError:
    """A 400 with an error object for each of the first five problems, each with its pointer below `at`."""
    errors = []
    for problem in found.errors(include_url=False, include_input=False)[:5]:
        pointer = at + "".join(f"/{part}" for part in problem["loc"])
        errors.append(
            error(f"{pointer.strip('/') or 'request body'}: {problem['msg']}"[:200], 1003, pointer=pointer)
        )
    return ApiError(400, *errors)
