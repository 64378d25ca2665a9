"""From an answer's bytes to its result, or to the error that it is (docs/service.md §2.2, §5, §7). Pure but
for the clock of a ``Retry-After`` date in an answer without ``Date``.

What decides is the HTTP status together with ``success``; error codes only help to name a failure.
"""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from edgeshift.rate_limit.others import limit_items
from edgeshift.service_api.dates import http_date
from edgeshift.service_api.documents import NotADocument, document_of
from edgeshift.service_api.errors import (
    Conflict,
    Forbidden,
    GatewayError,
    Gone,
    InvalidCredential,
    NotFound,
    NotUnderstood,
    RateLimited,
    Redirected,
    Refused,
    ServerError,
    ServiceError,
    TimedOut,
    Unauthorized,
    Unsuccessful,
)
from edgeshift.service_api.transport import Call, Received

BLOCKED = 10100
"""The code that says that every call of the user is refused for a while (docs/service.md §8, observed)."""

NOT_THERE = frozenset({1001, 7000, 7003})
"""The codes that say that there is no such zone, account or path, and nothing of what one has
(docs/service.md §7, observed).
"""

_BAD_CREDENTIAL = frozenset({6003, 6102, 6103, 6111, 9103, 9106})
_NOT_AUTHORIZED = 9109
_INVALID_TOKEN = re.compile(r"invalid\s+(access|api)\s+token", re.IGNORECASE)
_LONGEST_WAIT = 3600.0
_KINDS: dict[int, type[ServiceError]] = {
    401: Unauthorized,
    403: Forbidden,
    404: NotFound,
    408: TimedOut,
    409: Conflict,
    410: Gone,
    429: RateLimited,
}


@dataclass(frozen=True)
class Envelope:
    """What an answer carries: ``result``, and ``info``, the place of a page in its list. ``size``: bytes."""

    result: Any
    info: Any = None
    size: int = 0


def opened(call: Call, received: Received, *, secrets: tuple[str, ...] = ()) -> Envelope:
    """The envelope of an answer that succeeded. Raises the ServiceError that any other answer is."""
    if received.status == 204 or (
        200 <= received.status < 300 and call.method == "DELETE" and not received.body
    ):
        return Envelope(result=None)
    document = received.document
    if not 200 <= received.status < 300:
        raise refusal(call, received, document, secrets=secrets)
    if not isinstance(document, dict):
        raise understood_not(
            call, received, f"expected a JSON object with success and result{_oddity(received.body)}"
        )
    success = document.get("success")
    if success is False:
        codes, messages = said(document)
        raise call.failed(
            _bad_credential(codes, messages) or Unsuccessful,
            f"{received.status}, but success is false",
            status=received.status,
            codes=codes,
            messages=messages,
            ray=received.ray,
            secrets=secrets,
        )
    if success is not True:
        raise understood_not(call, received, "expected success: true or false beside the result")
    if document.get("errors"):
        # Success comes with an empty array of errors, or without one (docs/service.md §2.2, §7).
        codes, messages = said(document)
        raise call.failed(
            Unsuccessful,
            f"{received.status}, but success is true beside errors",
            status=received.status,
            codes=codes,
            messages=messages,
            ray=received.ray,
            secrets=secrets,
        )
    return Envelope(document.get("result"), document.get("result_info"), len(received.body))


def unwrapped(call: Call, received: Received, *, secrets: tuple[str, ...] = ()) -> Any:
    """The result of a reading that may come without the envelope, or without a body: then None
    (docs/service.md §2.1). Raises what ``opened`` raises.
    """
    if not 200 <= received.status < 300:
        raise refusal(call, received, received.document, secrets=secrets)
    body = received.body.strip()
    document = parsed(body)
    if document is None and body not in (b"", b"null"):
        raise understood_not(call, received, f"expected JSON, or no body{_oddity(body)}")
    if not isinstance(document, dict) or "success" not in document:
        return document
    result = opened(call, received, secrets=secrets).result
    if "result" not in document:
        raise understood_not(call, received, "expected the result beside success")
    return result


def acknowledged(call: Call, received: Received, *, secrets: tuple[str, ...] = ()) -> Any:
    """What a write was answered whose answer is not shown, with or without the envelope; None where it is
    no JSON. Any 2xx counts, unless its ``success`` is false, or it is a page, which somebody between has
    sent. Raises what ``opened`` raises of others.
    """
    document = received.document
    failure = isinstance(document, dict) and document.get("success") is False
    if not 200 <= received.status < 300 or failure:
        return opened(call, received, secrets=secrets).result
    if is_page(received.body):
        raise understood_not(call, received, "expected the service's answer, and it is a page")
    return document.get("result") if isinstance(document, dict) and "success" in document else document


def of_the_target(refusal: Refused) -> bool:
    """Whether the service itself refuses a zone or an account what it was asked for, with or without words
    (docs/service.md §7). Without leave to ask, somebody has to see to the credential, a page is of something
    between, and a zone or path that is not there may have anything: these are no property of the target.
    """
    if isinstance(refusal, Unauthorized | Forbidden):
        return False
    return refusal.refused and not NOT_THERE & set(refusal.codes)


def says_nothing(received: Received) -> bool:
    """Whether an answer is a bare 404: no page of something between, and no word of the service's either.
    The calls of Edge Side Code, whose answers are not shown, may say so that nothing is configured.
    """
    return received.status == 404 and received.body.strip() in (b"", b"{}")


def is_page(body: bytes) -> bool:
    """Whether a body is a page, as proxies and log-ins send it, which is no answer of a program's."""
    return body.removeprefix(codecs.BOM_UTF8).lstrip()[:1] == b"<"


def parsed(body: bytes) -> Any:
    """The JSON document that the body is, or None where it is none, or none that can be trusted."""
    try:
        return document_of(body)
    except NotADocument:
        return None


def _oddity(body: bytes) -> str:
    """Why the body is no document, as the end of a sentence; empty where it is one."""
    try:
        document_of(body)
    except NotADocument as why:
        return f", but {why}"
    return ""


def understood_not(call: Call, received: Received, what: str) -> ServiceError:
    """The error of an answer that is not what was expected."""
    return call.failed(NotUnderstood, what, status=received.status, ray=received.ray)


def refusal(call: Call, received: Received, document: Any, *, secrets: tuple[str, ...] = ()) -> ServiceError:
    """The error that an answer other than 2xx is. A 404 is NotFound where the service itself says so, by its
    envelope. Any other may be a page of something between, which knows of nothing that is there or not.
    """
    status = received.status
    codes, messages = said(document)
    refused = isinstance(document, dict) and document.get("success") is False
    kind = _kind(status, codes, messages)
    contradiction = isinstance(document, dict) and document.get("success") is True
    what = f"{status}, but success is true" if contradiction else _title(status, kind)
    if kind is NotFound and not refused:
        kind = NotUnderstood
        what = what if contradiction else _not_of_the_service(received)
    error = call.failed(
        kind,
        what,
        refused=refused,
        status=status,
        codes=codes,
        messages=messages,
        ray=received.ray,
        secrets=secrets,
    )
    if isinstance(error, RateLimited):
        wait_told(error, received)
        error.blocked = BLOCKED in codes
    return error


def wait_told(refused: RateLimited, received: Received) -> None:
    """Have a refusal by the rate limit say how long to wait, as far as the answer's headers do."""
    asked = retry_after(received)
    refused.outright = asked is not None
    refused.retry_after = limit_resets(received) if asked is None else asked


def said(document: Any) -> tuple[tuple[int, ...], tuple[str, ...]]:
    """Codes and messages of the error objects, those of an ``error_chain`` after their own; null and
    nonsense pass.
    """
    codes: list[int] = []
    messages: list[str] = []

    def read(items: Any, depth: int) -> None:
        for item in items if isinstance(items, list) and depth < 4 else ():
            if isinstance(item, str):
                messages.append(item)
            if not isinstance(item, dict):
                continue
            if isinstance(code := item.get("code"), int) and not isinstance(code, bool):
                codes.append(code)
            if isinstance(message := item.get("message"), str):
                messages.append(message)
            read(item.get("error_chain"), depth + 1)

    if isinstance(document, dict):
        read(document.get("errors"), 0)
    return tuple(codes[:20]), tuple(messages[:20])


def retry_after(received: Received) -> float | None:
    """Seconds to wait, where ``Retry-After`` (seconds or a date) says so, an hour at most; None where it says
    nothing, or that no time is to pass, which no refusal can mean. A date is the service's: it counts from
    the ``Date`` of the same answer, since a worker's clock may differ by more than a block lasts.
    """
    value = received.headers.get("retry-after", "").strip()
    seconds = 0.0
    if re.fullmatch(r"\d+(\.\d+)?", value):
        seconds = float(value)
    elif (moment := http_date(value)) is not None:
        answered = http_date(received.headers.get("date")) or datetime.now(UTC)
        seconds = (moment - answered).total_seconds()
    return min(seconds, _LONGEST_WAIT) if seconds > 0 else None


def limit_resets(received: Received) -> float | None:
    """Seconds until the limits that ``Ratelimit`` shows as used up have something left again, an hour at
    most: until the last of them has. None where it shows none.
    """
    items = limit_items(received.headers.get("ratelimit", "")).values()
    seconds = max((said.get("t", 0) for said in items if said.get("r", 0) == 0), default=0)
    return min(float(seconds), _LONGEST_WAIT) if seconds > 0 else None


def _kind(status: int, codes: tuple[int, ...], messages: tuple[str, ...]) -> type[ServiceError]:
    if 300 <= status < 400:
        return Redirected
    if 400 <= status < 500:
        named = _KINDS.get(status, Refused)
        return named if status in (408, 409, 429) else _bad_credential(codes, messages) or named
    if status in (502, 503, 504) or 520 <= status <= 530:
        return GatewayError
    return ServerError if status >= 500 else NotUnderstood


def _bad_credential(codes: tuple[int, ...], messages: tuple[str, ...]) -> type[ServiceError] | None:
    if _BAD_CREDENTIAL & set(codes) or any(map(_INVALID_TOKEN.search, messages)):
        return InvalidCredential
    return Forbidden if _NOT_AUTHORIZED in codes else None


def _not_of_the_service(received: Received) -> str:
    where = f", from {received.at}" if received.at else ""
    return f"{received.status} without the service's envelope{where}"


def _title(status: int, kind: type[ServiceError]) -> str:
    if kind is Redirected:
        return f"{status}, a redirect, which is not followed"
    if kind is NotUnderstood:
        return f"{status}, which is no status that the service is known to answer"
    return str(status)
