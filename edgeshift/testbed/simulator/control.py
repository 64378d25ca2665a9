"""The control API under /_simulator: what a test or an operator of the simulator asks of it, not its
clients."""

import inspect
import os
from collections.abc import Callable
from typing import Any

from pydantic import ValidationError
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from edgeshift.testbed.simulator.calls import parse_json
from edgeshift.testbed.simulator.clock import parse_timestamp, timestamp
from edgeshift.testbed.simulator.control_edge import EdgeControl, SyntheticTraffic
from edgeshift.testbed.simulator.control_logs import LogControl
from edgeshift.testbed.simulator.control_zones import ZoneControl
from edgeshift.testbed.simulator.esc_settings import account_scope
from edgeshift.testbed.simulator.faults import FaultSpec
from edgeshift.testbed.simulator.state import State
from edgeshift.testbed.simulator.zone_records import ZoneRecord

MOST_ENTRIES = 10_000


class ControlError(ValueError):
    """A control request that cannot be carried out; the text names the field and what would be right."""

    def __init__(self, message: str, status: int = 400) -> None:
        super().__init__(message)
        self.status = status


class Control:
    """The handlers of the control API over a state."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._zones = ZoneControl(state)
        self._edge = EdgeControl(state)
        self._logs = LogControl(state)

    def routes(self) -> list[Route]:
        return [
            Route("/health", self._guarded(self._health), methods=["GET"]),
            Route("/journal", self._guarded(self._journal), methods=["GET"]),
            Route("/zones", self._guarded(self._list_zones), methods=["GET"]),
            Route("/zones/{zone_id}", self._guarded(self._zone), methods=["GET", "PATCH"]),
            Route("/zones/{zone_id}/rulesets/{phase}/write", self._guarded(self._stranger), methods=["POST"]),
            Route("/stranger-writes", self._guarded(self._strangers), methods=["GET", "DELETE"]),
            Route("/logs", self._guarded(self._log_standing), methods=["GET"]),
            Route("/logs/flush", self._guarded(self._flush_logs), methods=["POST"]),
            Route("/edge", self._guarded(self._edge_zones), methods=["GET"]),
            Route("/edge/zones/{zone_id}", self._guarded(self._edge_zone), methods=["GET", "PUT"]),
            Route("/edge/accounts/{account_id}", self._guarded(self._edge_account), methods=["GET"]),
            Route("/edge/requests", self._guarded(self._edge_requests), methods=["GET", "POST"]),
            Route("/credentials", self._guarded(self._credentials), methods=["GET"]),
            Route("/credentials/{label}", self._guarded(self._credential), methods=["PUT"]),
            Route("/faults", self._guarded(self._faults), methods=["GET", "POST", "DELETE"]),
            Route("/faults/{fault_id}", self._guarded(self._fault), methods=["GET", "DELETE"]),
            Route("/clock", self._guarded(self._clock), methods=["GET", "PUT"]),
            Route("/options", self._guarded(self._options), methods=["GET", "PUT"]),
            Route("/rate-limits", self._guarded(self._rate_limits), methods=["GET"]),
        ]

    def _guarded(self, handler: Callable[[Request, Any], Any]) -> Callable[[Request], Any]:
        async def endpoint(request: Request) -> Response:
            try:
                body: Any = None
                if request.method in ("POST", "PUT", "PATCH"):
                    try:
                        body = parse_json(await request.body() or b"null")
                    except ValueError:
                        raise ControlError("the request body must be JSON") from None
                found = handler(request, body)
                if inspect.isawaitable(found):
                    found = await found
            except ControlError as error:
                return JSONResponse({"error": str(error)}, error.status)
            except ValidationError as error:
                return JSONResponse({"error": _told(error)}, 400)
            return found if isinstance(found, Response) else JSONResponse(found)

        return endpoint

    def _health(self, request: Request, body: Any) -> Any:
        state = self._state
        return {
            "status": "ok",
            "process": os.getpid(),
            "edge": state.edge_url,
            "now": timestamp(state.clock.now()),
            "time_scale": state.clock.time_scale,
            "zones": state.database.connection.execute("SELECT count(*) FROM zones").fetchone()[0],
            "journal": state.journal.last(),
        }

    def _journal(self, request: Request, body: Any) -> Any:
        after = _number(request, "after", 0, 2**62)
        limit = _number(request, "limit", 1000, MOST_ENTRIES)
        entries, following = self._state.journal.read(
            after=after,
            limit=max(1, limit),
            zone=request.query_params.get("zone"),
            call=request.query_params.get("call"),
        )
        return {"entries": entries, "next": following}

    def _list_zones(self, request: Request, body: Any) -> Any:
        return {"zones": self._zones.list()}

    def _zone(self, request: Request, body: Any) -> Any:
        record = self._record(request)
        if request.method == "PATCH":
            try:
                self._zones.change(record, body)
            except ValidationError:
                raise
            except ValueError as error:
                raise ControlError(str(error)) from None
        return self._zones.show(record)

    def _record(self, request: Request) -> ZoneRecord:
        record = self._state.zones.get(request.path_params["zone_id"])
        if record is None:
            raise ControlError("there is no such zone", 404)
        return record

    def _stranger(self, request: Request, body: Any) -> Any:
        record = self._record(request)
        try:
            return self._logs.write(record, request.path_params["phase"], body)
        except ValidationError:
            raise
        except ValueError as error:
            raise ControlError(str(error)) from None

    def _strangers(self, request: Request, body: Any) -> Any:
        return self._logs.forget() if request.method == "DELETE" else self._logs.writes()

    def _log_standing(self, request: Request, body: Any) -> Any:
        return self._logs.standing()

    async def _flush_logs(self, request: Request, body: Any) -> Any:
        return await self._logs.flush()

    def _edge_zones(self, request: Request, body: Any) -> Any:
        return self._edge.overview()

    def _edge_zone(self, request: Request, body: Any) -> Any:
        record = self._state.zones.get(request.path_params["zone_id"])
        if record is None:
            raise ControlError("there is no such zone", 404)
        if request.method == "PUT":
            if not isinstance(body, dict) or set(body) != {"behaviours"}:
                raise ControlError("give an object with behaviours, in the fleet file's words")
            self._edge.plant(record, body["behaviours"])
        return self._edge.zone(record)

    def _edge_account(self, request: Request, body: Any) -> Any:
        account_id = request.path_params["account_id"]
        if account_id not in self._state.accounts:
            raise ControlError("there is no such account", 404)
        return self._edge.scope(account_scope(account_id))

    async def _edge_requests(self, request: Request, body: Any) -> Any:
        if request.method == "GET":
            visits, following = self._state.visits.read(
                after=_number(request, "after", 0, 2**62),
                limit=max(1, _number(request, "limit", 1000, MOST_ENTRIES)),
                host=request.query_params.get("host"),
            )
            return {"requests": visits, "next": following}
        try:
            return await self._edge.send(SyntheticTraffic.model_validate({} if body is None else body))
        except ValidationError:
            raise
        except ValueError as error:
            raise ControlError(str(error)) from None

    def _credentials(self, request: Request, body: Any) -> Any:
        return {"credentials": self._state.credentials.statuses()}

    def _credential(self, request: Request, body: Any) -> Any:
        known = ("active", "disabled", "expired")
        if not isinstance(body, dict) or set(body) != {"status"} or body["status"] not in known:
            raise ControlError(f"give an object with status, one of {', '.join(known)}")
        label = request.path_params["label"]
        try:
            self._state.credentials.change(label, body["status"])
        except KeyError:
            raise ControlError(f"there is no credential with the label {label!r}", 404) from None
        return {"label": label, "status": body["status"]}

    def _faults(self, request: Request, body: Any) -> Any:
        book = self._state.faults
        if request.method == "GET":
            return {"faults": [one.describe() for one in book.all()]}
        if request.method == "DELETE":
            with self._state.database.transaction():
                return {"removed": book.clear()}
        specs = [FaultSpec.model_validate(one) for one in (body if isinstance(body, list) else [body])]
        with self._state.database.transaction():
            made = [book.add(spec).describe() for spec in specs]
        return JSONResponse(made if isinstance(body, list) else made[0], 201)

    def _fault(self, request: Request, body: Any) -> Any:
        text = request.path_params["fault_id"]
        fault = self._state.faults.get(int(text)) if text.isascii() and text.isdigit() else None
        if fault is None:
            raise ControlError("there is no such fault", 404)
        if request.method == "DELETE":
            with self._state.database.transaction():
                self._state.faults.remove(fault.id)
        return fault.describe()

    def _clock(self, request: Request, body: Any) -> Any:
        state = self._state
        if request.method == "PUT":
            known = ("now", "offset_seconds", "time_scale")
            if not isinstance(body, dict) or not body or set(body) - set(known):
                raise ControlError(f"give an object with some of {', '.join(known)}")
            if "time_scale" in body:
                state.change_options({"time_scale": body["time_scale"]})
            if "now" in body:
                try:
                    state.clock.set(parse_timestamp(str(body["now"])))
                except ValueError:
                    raise ControlError("now must be a moment such as 2000-01-01T00:00:00Z") from None
            if "offset_seconds" in body:
                offset = body["offset_seconds"]
                if isinstance(offset, bool) or not isinstance(offset, int | float) or abs(offset) > 3e9:
                    raise ControlError("offset_seconds must be a number of seconds")
                state.clock.offset_seconds = float(offset)
            state.keep_clock()
        return {
            "now": timestamp(state.clock.now()),
            "offset_seconds": state.clock.offset_seconds,
            "time_scale": state.clock.time_scale,
        }

    def _options(self, request: Request, body: Any) -> Any:
        if request.method == "PUT":
            if not isinstance(body, dict):
                raise ControlError("give an object with the options that are to change")
            if "faults" in body:
                raise ControlError("faults are added by POST to /_simulator/faults")
            if "profile" in body:
                raise ControlError("the profile is chosen when the simulator starts")
            if "clock" in body:
                raise ControlError("the clock is set by PUT to /_simulator/clock")
            self._state.change_options(body)
        return self._state.options.model_dump(mode="json")

    def _rate_limits(self, request: Request, body: Any) -> Any:
        state = self._state
        return {"users": state.limits.summary(state.clock.now(), state.options.rate_limit)}


def _number(request: Request, name: str, usual: int, most: int) -> int:
    text = request.query_params.get(name)
    if text is None:
        return usual
    if not text.isascii() or not text.isdigit() or int(text[:19]) > most:
        raise ControlError(f"{name} must be a whole number, at most {most}")
    return int(text)


def _told(error: ValidationError) -> str:
    problems = error.errors(include_url=False, include_input=False)[:5]
    return "; ".join(f"{'.'.join(map(str, one['loc'])) or 'body'}: {one['msg']}" for one in problems)
