"""What the service answers with: the envelope, error objects, and answers that are not JSON."""

import json
import secrets
from dataclasses import dataclass, field
from typing import Any

from edgeshift.testbed.simulator.poison import Poisoned

Json = Any


@dataclass(slots=True)
class Answer:
    """One HTTP answer before it is written. `document` is JSON; `text` stands where there is none.
    `poisoned`: what goes out in its place."""

    status: int
    document: Json = None
    text: str | None = None
    headers: dict[str, str] = field(default_factory=dict)
    poisoned: Poisoned | None = None

    def body(self) -> bytes:
        """The bytes to send; empty for an answer without a body, such as 204."""
        if self.text is not None:
            return self.text.encode()
        if self.document is None:
            return b""
        return json.dumps(self.document, separators=(",", ":"), ensure_ascii=False).encode()

    def content_type(self) -> str:
        """By what the body looks like: a fault's text may be JSON."""
        is_json = self.text is None or self.text.lstrip().startswith(("{", "["))
        return "application/json" if is_json else "text/html; charset=UTF-8"


class ApiError(Exception):
    """A refusal in the envelope; `status` is HTTP's, `errors` are error objects (docs/service.md §7)."""

    def __init__(self, status: int, *errors: Json, headers: dict[str, str] | None = None) -> None:
        super().__init__(f"{status}: {errors}")
        self.status = status
        self.errors = list(errors)
        self.headers = headers or {}


def error(
    message: str, code: int | None = None, *, pointer: str | None = None, chain: list[Json] | None = None
) -> Json:
    """An error object: message, and where known its code, the place in the body, and the causes."""
    found: dict[str, Json] = {}
    if code is not None:
        found["code"] = code
    found["message"] = message
    if pointer is not None:
        found["source"] = {"pointer": pointer}
    if chain is not None:
        found["error_chain"] = chain
    return found


def refuse(status: int, message: str, code: int | None = None, *, pointer: str | None = None) -> ApiError:
    """A refusal with one error object."""
    return ApiError(status, error(message, code, pointer=pointer))


def wrong(value: Json, what: str, why: str, pointer: str) -> Json:
    """The error object for a value in a body that is not what it must be."""
    shown = (
        "null" if value is None else str(value)[:80] if not isinstance(value, dict | list) else "the value"
    )
    return error(f"'{shown}' is not a valid value for {what} because {why}", 20021, pointer=pointer)


def succeeded(result: Json, *, status: int = 200, result_info: Json = None) -> Answer:
    """The envelope of success around `result`."""
    document = {"result": result, "success": True, "errors": [], "messages": []}
    if result_info is not None:
        document["result_info"] = result_info
    return Answer(status, document)


def failed(status: int, errors: list[Json], headers: dict[str, str] | None = None) -> Answer:
    """The envelope of failure around `errors`."""
    document = {"result": None, "success": False, "errors": errors, "messages": []}
    return Answer(status, document, headers=dict(headers or {}))


def new_ray() -> str:
    """A value for the `cf-ray` header, which every answer carries."""
    return f"{secrets.token_hex(8)}-SIM"


def require_object(value: Json, what: str = "request body") -> dict[str, Json]:
    """`value` as a JSON object, else a 400 that says what must be one."""
    if not isinstance(value, dict):
        raise refuse(400, f"{what} must be a JSON object", 10026)
    return value
