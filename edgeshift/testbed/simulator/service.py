"""The service over HTTP: every request goes through here, is judged in one transaction, journalled and
answered."""

import logging
from dataclasses import dataclass, field
from datetime import datetime
from hashlib import sha256
from urllib.parse import parse_qsl

from starlette.types import Receive, Scope, Send

from edgeshift.profiles import Counting
from edgeshift.testbed.simulator.answers import Answer, ApiError, failed, refuse
from edgeshift.testbed.simulator.calls import BASE_PATH, Call, Route, Routes, no_route, parse_json
from edgeshift.testbed.simulator.clock import timestamp, wall_time
from edgeshift.testbed.simulator.credentials import Caller, no_permission
from edgeshift.testbed.simulator.delivery import Deliverer
from edgeshift.testbed.simulator.faults import HTML_PAGE, FaultSpec, altered
from edgeshift.testbed.simulator.journal import JournalEntry, body_digest, is_log_only
from edgeshift.testbed.simulator.journal_details import Details
from edgeshift.testbed.simulator.migration import refusal
from edgeshift.testbed.simulator.state import State
from edgeshift.testbed.simulator.zone_records import MIGRATED

log = logging.getLogger("edgeshift.testbed.simulator")
MAX_BODY_BYTES = 16 * 1024 * 1024


@dataclass
class Request:
    """A request as it came in, and what is known of it so far."""

    method: str
    path: str
    query: str
    headers: dict[str, str]
    body: bytes
    arrived: datetime
    route: Route | None = None
    params: dict[str, str] = field(default_factory=dict)
    caller: Caller | None = None
    refused: ApiError | None = None
    counted: bool = False
    latencies: list[FaultSpec] = field(default_factory=list)
    fault: FaultSpec | None = None

    def counts_as(self, by: Counting) -> str:
        """Whose request it is to the rate limit: the user's, or the credential's by its label. A key has no
        limit of its own beside its user's.
        """
        assert self.caller is not None
        credential = self.caller.credential
        own = by == "credential" and credential.kind == "token"
        return credential.label if own else self.caller.user.id

    @property
    def zone_id(self) -> str | None:
        return self.params.get("zone_id")

    @property
    def call(self) -> str:
        return self.route.call if self.route else "unknown"


class Service:
    """The ASGI application of the service (docs/service.md §4)."""

    def __init__(self, state: State, routes: Routes, deliverer: Deliverer) -> None:
        self.state = state
        self.routes = routes
        self._deliverer = deliverer

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        body = await _read_body(receive)
        if body is None:
            return
        request = self._received(scope, body)
        await self._deliverer.delay([one for one in request.latencies if one.effect != "after"])
        answer = self._judged(request)
        await self._deliverer.delay([one for one in request.latencies if one.effect == "after"])
        await self._deliverer.deliver(answer, request.fault, scope, receive, send)

    def _received(self, scope: Scope, body: bytes) -> Request:
        """Recognise the route and the caller, count the request, and see what is to go wrong with it."""
        state = self.state
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        query = scope["query_string"].decode("latin-1")
        request = Request(scope["method"], scope["path"], query, headers, body, state.clock.now())
        try:
            if len(body) > MAX_BODY_BYTES:
                raise refuse(413, "the request body is too large", 10413)
            below = _below_base(request.path)
            # The route is only noted here: without credentials nobody learns which paths exist.
            routed: ApiError | None = None
            try:
                request.route, request.params = self.routes.find(request.method, below)
            except ApiError as error:
                routed = error
            self._admit_address(str((scope.get("client") or ("",))[0]), request.arrived)
            request.caller = state.credentials.identify(headers, state.options)
            self._count(request)
            self._meet_faults(request)
            if routed is not None:
                raise routed
        except ApiError as error:
            request.refused = error
        return request

    def _admit_address(self, address: str, now: datetime) -> None:
        most = self.state.options.rate_limit.per_address
        if most is not None and not self.state.addresses.admit(address, now, most):
            refused = refuse(429, f"More than {most} requests per second from one address", 10100)
            refused.headers = {"retry-after": "1"}
            raise refused

    def _count(self, request: Request) -> None:
        if request.caller is None:
            return
        with self.state.database.transaction():
            limit = self.state.options.rate_limit
            blocked = self.state.limits.admit(request.counts_as(limit.counts_by), request.arrived, limit)
        if blocked is not None:
            raise self._too_many(blocked if self.state.options.rate_limit.retry_after else None)
        request.counted = True

    def _too_many(self, retry_after: int | None) -> ApiError:
        limit = self.state.options.rate_limit
        said = (
            f"More than {limit.requests} requests per {limit.window_seconds:g} seconds reached. "
            "Please wait and consider throttling your request speed"
        )
        refused = refuse(429, said, 10100)
        refused.headers = {} if retry_after is None else {"retry-after": str(retry_after)}
        return refused

    def _meet_faults(self, request: Request) -> None:
        book = self.state.faults
        if request.caller is None or not book.all():
            return
        user = request.caller.user
        with self.state.database.transaction():
            for fault in book.striking(
                zone=request.zone_id,
                call=request.call,
                method=request.method,
                path=request.path,
                users=(user.id, user.email),
                credential=request.caller.credential.label,
            ):
                if fault.kind == "latency":
                    request.latencies.append(fault)
                else:
                    request.fault = fault
            if request.fault and request.fault.kind == "rate_limit" and request.fault.block:
                limit = self.state.options.rate_limit
                self.state.limits.block(request.counts_as(limit.counts_by), request.arrived, limit)

    def _judged(self, request: Request) -> Answer:
        """The answer, with its effect and its journal entry in one transaction."""
        entry = self._entry(request)
        try:
            _describe_body(entry, request)
            with self.state.database.transaction():
                answer = self._answered(request, entry)
                self.state.journal.append(entry, counted=request.counted)
        except Exception:
            log.exception("%s %s failed in the simulator itself", request.method, request.path)
            if request.zone_id:
                self.state.zones.forget(request.zone_id)
            answer = Answer(500, text="error code: 500")
            told, entry = entry, self._entry(request)
            entry.body_digest, entry.log_only = told.body_digest, told.log_only
            entry.status, entry.fault = 500, "internal"
            with self.state.database.transaction():
                self.state.journal.append(entry, counted=request.counted)
        return answer

    def _answered(self, request: Request, entry: JournalEntry) -> Answer:
        """The answer to be sent, the entry completed with what happened."""
        fault = request.fault if request.refused is None else None
        call: Call | None = None
        details: Details | None = None
        try:
            if request.refused is not None:
                raise request.refused
            if request.route is None or request.caller is None:
                raise no_route(request.path)
            call = self._call(request, request.route, request.caller, entry)
            details = Details(call)
            if fault is not None and not fault.carried_out:
                answer = self._instead(fault, None, request.zone_id)
            else:
                answer = self._handled(call)
                details.handled(answer)
                entry.effect = call.effect
                if fault is not None:
                    answer = self._instead(fault, answer, request.zone_id)
        except ApiError as error:
            # A refusal has no effect whatever the fault says, but the fault still spoils its delivery.
            entry.refusal = str(error.errors[0].get("message", ""))[:200] if error.errors else None
            refuse_by = request.route.refusal if request.route and error.status < 429 else failed
            answer = refuse_by(error.status, error.errors, error.headers)
            if fault is not None:
                answer = self._instead(fault, answer, request.zone_id)
        if call is not None and call.record is not None:
            self._describe(entry, call)
        if details is not None:
            details.fill(entry)
        if fault is not None:
            entry.fault = fault.name()
            if answer.poisoned is not None:
                entry.fault = f"{entry.fault}:{answer.poisoned.name}"[:200]
        elif request.latencies:
            entry.fault = request.latencies[0].name()
        silent = fault is not None and fault.kind in ("hang", "reset")
        entry.status = None if silent else (answer.poisoned or answer).status
        if request.caller is not None and self.state.options.rate_limit.headers:
            limit = self.state.options.rate_limit
            now = self.state.clock.now()
            left, reset = self.state.limits.remaining(request.counts_as(limit.counts_by), now, limit)
            window = round(self.state.clock.lasting(limit.window_seconds).total_seconds())
            answer.headers["ratelimit"] = f'"default";r={left};t={reset}'
            answer.headers["ratelimit-policy"] = f'"default";q={limit.requests};w={window}'
        return answer

    def _call(self, request: Request, route: Route, caller: Caller, entry: JournalEntry) -> Call:
        """The call with its zone looked up and brought up to date."""
        state = self.state
        now = state.clock.now()
        query = dict(parse_qsl(request.query, keep_blank_values=True))
        call = Call(
            state,
            route,
            caller,
            now,
            request.method,
            request.path,
            request.params,
            request.query,
            query,
            request.headers,
            request.body,
        )
        if request.zone_id is not None:
            call.record = state.zones.get(request.zone_id)
            if call.record is not None:
                state.migrations.settle(call.record, now)
                entry.state_before = call.record.checker(list(state.migrations.pending(call.record)))
        return call

    def _handled(self, call: Call) -> Answer:
        if "zone_id" in call.params:
            if call.record is None:
                raise refuse(400, "Invalid zone identifier", 1001)
            if not call.caller.reaches(call.record.id, call.record.zone.account):
                raise no_permission(call.options)
        if not call.caller.may(call.route.permissions):
            raise no_permission(call.options)
        if call.route.legacy_waf and call.zone.standing.actual in MIGRATED:
            raise refusal(call.options.legacy_after_migration)
        return call.route.handler(call)

    def _instead(self, fault: FaultSpec, real: Answer | None, asked: str | None) -> Answer:
        """What goes out in place of the real answer (None: the request was not carried out). `asked`: the
        zone's id."""
        match fault.kind:
            case "rate_limit":
                refused = self._too_many(fault.retry_after)
                return failed(429, refused.errors, refused.headers)
            case "server_error":
                status = fault.status or (502 if fault.carried_out else 500)
                return Answer(status, text=fault.body if fault.body is not None else f"error code: {status}")
            case "gateway_timeout":
                return failed(504, [{"message": "gateway time-out"}])
            case "not_json":
                return Answer(fault.status or 200, text=fault.body if fault.body is not None else HTML_PAGE)
            case "null_errors" | "wrong_types" | "unknown_enum" if real is not None:
                real.document = altered(fault, real.document)
                return real
            case "poisoned" if real is not None:
                others = [zone for zone in self.state.zones.some() if zone != asked]
                real.poisoned = fault.poison(real.status, real.document, others)
                return real
        return real or Answer(200, text=HTML_PAGE)

    def _entry(self, request: Request) -> JournalEntry:
        caller = request.caller
        entry = JournalEntry.model_construct(
            seq=0,
            time=timestamp(request.arrived),
            wall_time=timestamp(wall_time()),
            credential=caller.credential.label if caller else None,
            user=caller.user.id if caller else None,
            method=request.method,
            path=request.path,
            query=request.query,
            call=request.call,
            zone=request.zone_id,
            ahead_seconds=self.state.clock.offset_seconds,
        )
        if request.body and not (request.route and request.route.confidential):
            entry.body_sha256 = sha256(request.body).hexdigest()
        return entry

    def _describe(self, entry: JournalEntry, call: Call) -> None:
        record = call.zone
        facts = record.facts()
        entry.zone = record.id
        entry.state_after = record.checker(list(self.state.migrations.pending(record)))
        if entry.state_before is None:
            entry.state_before = entry.state_after
        entry.plan = record.zone.plan
        entry.rules_to_migrate = facts.rules_to_migrate
        entry.longest_expression_bytes = facts.longest_expression_bytes


def _describe_body(entry: JournalEntry, request: Request) -> None:
    """Note what the body of a ruleset says, as far as it is one."""
    if entry.body_sha256 is None or not request.call.startswith(("entrypoint.", "rulesets.")):
        return
    try:
        document = parse_json(request.body)
    except ValueError:
        return
    entry.body_digest, entry.log_only = body_digest(document), is_log_only(document)


def _below_base(path: str) -> str:
    if path == BASE_PATH or path.startswith(f"{BASE_PATH}/"):
        return path[len(BASE_PATH) :]
    raise no_route(path)


async def _read_body(receive: Receive) -> bytes | None:
    """The request's body, cut a byte after the limit; None when the client left before all of it came."""
    parts: list[bytes] = []
    size = 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            return None
        part = message.get("body", b"")
        if size <= MAX_BODY_BYTES:
            parts.append(part)
            size += len(part)
        if not message.get("more_body"):
            return b"".join(parts)[: MAX_BODY_BYTES + 1]
