"""Reading the body of a request: what usual clients send too much of, and the refusal of what does not fit
a model."""

from pydantic import ValidationError

from edgeshift.testbed.simulator.answers import ApiError, Json, error, refuse
from edgeshift.testbed.simulator.calls import Call

MAX_AT_ONCE = 500


def sent_object(call: Call) -> dict[str, Json]:
    """The body as a JSON object, without what is null where the options say so. Raises a 400 when it is
    none."""
    body = call.object()
    found: dict[str, Json] = without_nulls(body) if call.options.bodies.nulls == "ignore" else body
    return found


def sent_items(call: Call) -> list[Json]:
    """The body as an array that is not empty, for a call that takes many at once; nulls as above.

    One object stands for an array of it where the options say so. Raises a 400.
    """
    body = call.json()
    if isinstance(body, dict) and body and call.options.bodies.single_items == "accept":
        body = [body]
    if not isinstance(body, list) or not body:
        raise refuse(400, "the request body must be a JSON array that is not empty", 10026)
    if len(body) > MAX_AT_ONCE:
        raise refuse(400, f"at most {MAX_AT_ONCE} items can be sent at once", 10026)
    found: list[Json] = without_nulls(body) if call.options.bodies.nulls == "ignore" else body
    return found


def without_nulls(value: Json) -> Json:
    """`value` without the keys of its objects, at any depth, whose value is null."""
    if isinstance(value, dict):
        return {key: without_nulls(one) for key, one in value.items() if one is not None}
    return [without_nulls(one) for one in value] if isinstance(value, list) else value


def first_problem(found: ValidationError, at: str = "") -> ApiError:
    """A 400 with an error object for each of the first five problems, each with its pointer below `at`."""
    errors = []
    for problem in found.errors(include_url=False, include_input=False)[:5]:
        pointer = at + "".join(f"/{part}" for part in problem["loc"])
        errors.append(
            error(f"{pointer.strip('/') or 'request body'}: {problem['msg']}"[:200], 1003, pointer=pointer)
        )
    return ApiError(400, *errors)
