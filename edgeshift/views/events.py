"""A workflow's history as plain records, payloads decoded, pairs of events findable by number. No calls.

Nothing here raises on an event, a payload or a failure that it does not know: newer servers and workers write
histories too, and whoever asks what happened wants the rest of the answer.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

from google.protobuf.message import Message as Proto
from pydantic import BaseModel, ConfigDict, Field
from temporalio.api.common.v1 import Payload
from temporalio.api.enums.v1 import EventType
from temporalio.api.failure.v1 import Failure
from temporalio.api.history.v1 import HistoryEvent
from temporalio.converter import DataConverter

LOCAL_ACTIVITY = "core_local_activity"
"""The marker under which the SDK records a local activity."""


class Event(BaseModel):
    """One event of a history.

    ``type``: its name as the SDK's enum has it, in camel case, or ``EventType<number>`` where it has none.
    ``name``: of the signal, activity, update, timer, marker or workflow type. ``refers``: the number of the
    event that this one answers. ``who``: the client's or worker's own word of who it is. ``facts``: what else
    people may want (attempt and the failure of the one before, seconds of a timer, data of a marker, memo).
    """

    model_config = ConfigDict(frozen=True)

    id: int
    at: datetime
    type: str
    name: str = ""
    input: tuple[Any, ...] = ()
    result: tuple[Any, ...] = ()
    failure: str = ""
    refers: int | None = None
    who: str = ""
    summary: str = ""
    facts: dict[str, Any] = Field(default_factory=dict)


class Run(BaseModel):
    """One run of a workflow: its identifier and its events, in their order."""

    model_config = ConfigDict(frozen=True)

    run_id: str
    events: tuple[Event, ...]


async def read_run(run_id: str, events: Iterable[HistoryEvent], converter: DataConverter) -> Run:
    """The run with its payloads decoded by ``converter`` (its codec included)."""
    return Run(run_id=run_id, events=tuple([await _event(event, converter) for event in events]))


async def _event(event: HistoryEvent, converter: DataConverter) -> Event:
    field = event.WhichOneof("attributes")
    attributes: Proto | None = getattr(event, field) if field else None
    reader = _Reader(attributes, converter)
    update = reader.message("accepted_request")
    outcome = _Reader(reader.message("outcome"), converter)
    asked = _Reader(_Reader(update, converter).message("input"), converter)
    return Event(
        id=event.event_id,
        at=event.event_time.ToDatetime(tzinfo=UTC),
        type=_type(event.event_type),
        name=reader.name() or asked.text("name"),
        input=tuple(await reader.payloads("input") or await asked.payloads("args")),
        result=tuple(await reader.payloads("result") or await outcome.payloads("success")),
        failure=await reader.failure("failure") or await outcome.failure("failure"),
        refers=reader.refers(),
        who=reader.text("identity"),
        summary=await _summary(event, converter),
        facts=await reader.facts(),
    )


def _type(number: int) -> str:
    try:
        words = EventType.Name(number).removeprefix("EVENT_TYPE_")  # type: ignore[arg-type]
    except ValueError:
        return f"EventType{number}"
    return "".join(word.capitalize() for word in words.split("_"))


async def _summary(event: HistoryEvent, converter: DataConverter) -> str:
    if not event.HasField("user_metadata") or not event.user_metadata.HasField("summary"):
        return ""
    return str(await _decoded(event.user_metadata.summary, converter))


class _Reader:
    """Takes what it can find from an event's attributes, whichever they are."""

    def __init__(self, attributes: Proto | None, converter: DataConverter) -> None:
        self._attributes = attributes
        self._converter = converter

    def _has(self, field: str) -> bool:
        return self._attributes is not None and field in self._attributes.DESCRIPTOR.fields_by_name

    def message(self, field: str) -> Proto | None:
        present = self._has(field) and self._attributes is not None and self._attributes.HasField(field)
        return getattr(self._attributes, field) if present else None

    def text(self, field: str) -> str:
        return str(getattr(self._attributes, field)) if self._has(field) else ""

    def name(self) -> str:
        for field in ("signal_name", "marker_name", "timer_id"):
            if found := self.text(field):
                return found
        for field in ("activity_type", "workflow_type"):
            if self._has(field):
                return str(getattr(self._attributes, field).name)
        return ""

    def refers(self) -> int | None:
        for field in ("scheduled_event_id", "accepted_event_id", "initiated_event_id", "started_event_id"):
            if self._has(field) and (found := int(getattr(self._attributes, field))):
                return found
        return None

    async def payloads(self, field: str) -> list[Any]:
        found = self.message(field)
        return [await _decoded(payload, self._converter) for payload in getattr(found, "payloads", ())]

    async def failure(self, field: str) -> str:
        found = self.message(field)
        return await _failed(found, self._converter) if isinstance(found, Failure) else ""

    async def facts(self) -> dict[str, Any]:
        facts: dict[str, Any] = {}
        for field in (
            "attempt",
            "continued_execution_run_id",
            "first_execution_run_id",
            "new_execution_run_id",
            "reason",
        ):
            if found := self._has(field) and getattr(self._attributes, field):
                facts[field] = found
        # Of tries that were made again, a history has no other trace.
        if before := await self.failure("last_failure"):
            facts["last_failure"] = before
        if (timer := self.message("start_to_fire_timeout")) is not None:
            facts["seconds"] = timer.ToTimedelta().total_seconds()  # type: ignore[attr-defined]
        if (memo := self.message("memo")) is not None:
            fields = memo.fields.items()  # type: ignore[attr-defined]
            facts["memo"] = {key: await _decoded(value, self._converter) for key, value in fields}
        if self._has("details") and self._has("marker_name"):
            for key, value in self._attributes.details.items():  # type: ignore[union-attr]
                facts[key] = [await _decoded(payload, self._converter) for payload in value.payloads]
        return facts


async def _decoded(payload: Payload, converter: DataConverter) -> Any:
    try:
        (found,) = await converter.decode([payload])
    except Exception as problem:  # whatever a codec or converter raises, the payload is not readable here
        return await _undecoded(payload, problem)
    return f"({len(found)} bytes)" if isinstance(found, bytes) else found


async def _undecoded(payload: Payload, problem: Exception) -> Any:
    encoding = payload.metadata.get("encoding", b"").decode("ascii", "replace")
    if encoding.startswith("json/"):
        try:
            return json.loads(payload.data)
        except ValueError:
            pass
    return f"(not readable: {type(problem).__name__}, encoding {encoding or 'unknown'})"


async def _failed(failure: Failure, converter: DataConverter) -> str:
    """The messages of a failure and its causes, outermost first, each once."""
    try:
        decoded = Failure()
        decoded.CopyFrom(failure)
        if converter.payload_codec:
            await converter.payload_codec.decode_failure(decoded)
        error: BaseException | None = converter.failure_converter.from_failure(
            decoded, converter.payload_converter
        )
    except Exception as problem:  # as above: an unreadable failure is still a failure
        return f"{failure.message or 'failed'} (not readable: {type(problem).__name__})"
    words: list[str] = []
    while error is not None:
        text = str(error) or type(error).__name__
        if text not in words:
            words.append(text)
        error = error.__cause__
    return " <- ".join(words)
