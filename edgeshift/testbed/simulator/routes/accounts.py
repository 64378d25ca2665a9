"""Users, tokens, accounts and zones (docs/service.md §4, §5)."""

from typing import Any

from edgeshift.testbed.simulator.answers import Answer, refuse, succeeded
from edgeshift.testbed.simulator.calls import Call, Route, page_numbers, paged, result_info
from edgeshift.testbed.simulator.credentials import Caller, no_permission
from edgeshift.testbed.simulator.fleet_file import FleetAccount, FleetZone

PLANS = {
    "free": "Free Website",
    "pro": "Pro Website",
    "business": "Business Website",
    "enterprise": "Enterprise Website",
}
_PERMISSION_MARK = {
    "zone": "#zone",
    "zone_settings": "#zone_settings",
    "firewall": "#waf",
    "waf": "#waf",
    "analytics": "#analytics",
    "logs": "#logs",
}
_ORDERS = {"name": "name", "status": "status", "account.id": "account", "plan.id": "plan"}
# Operators of the `name` filter, such as name=contains:shop, as patterns of GLOB.
_NAME_FILTERS = {"starts_with": "{}*", "ends_with": "*{}", "contains": "*{}*"}


def user(call: Call) -> Answer:
    """The caller's own user."""
    mine = call.caller.user
    return succeeded({"id": mine.id, "email": mine.email, "username": mine.email, "suspended": False})


def verify_token(call: Call) -> Answer:
    """Whether the token that is sent is active; keys have nothing to verify."""
    if call.caller.credential.kind != "token":
        raise refuse(400, "Valid user-level authentication not found", 9106)
    answer = succeeded({"id": call.caller.user.id, "status": "active"})
    answer.document["messages"] = [
        {"code": 10000, "message": "This API Token is valid and active", "type": None}
    ]
    return answer


def list_accounts(call: Call) -> Answer:
    """The accounts in the caller's scope."""
    name = call.query.get("name")
    mine = [
        _account(one)
        for one in call.state.accounts.values()
        if call.caller.reaches_account(one.id) and name in (None, one.name)
    ]
    return paged(call, mine, least=5, most=50, usual=20)


def get_account(call: Call) -> Answer:
    """One account."""
    found = call.state.accounts.get(call.params["account_id"])
    if found is None:
        raise refuse(400, "Invalid account identifier", 7003)
    if not call.caller.reaches_account(found.id):
        raise no_permission(call.options)
    return succeeded(_account(found))


def list_zones(call: Call) -> Answer:
    """The zones in the caller's scope, filtered, ordered and paged."""
    page, per_page = page_numbers(call, least=5, most=50, usual=20)
    where, values = _filters(call)
    scope, scoped = _scope(call.caller)
    where = f"({where}) AND ({scope})"
    values += scoped
    order = call.query.get("order") or "name"
    if order not in _ORDERS:
        raise refuse(400, f"order must be one of {', '.join(_ORDERS)}", 1003)
    direction = call.query.get("direction") or "asc"
    if direction not in ("asc", "desc"):
        raise refuse(400, "direction must be asc or desc", 1003)
    connection = call.state.database.connection
    total = connection.execute(f"SELECT count(*) FROM zones WHERE {where}", values).fetchone()[0]
    # The clauses are put together from the constants of this module; what the caller sent is bound.
    rows = connection.execute(
        f"SELECT id FROM zones WHERE {where} ORDER BY {_ORDERS[order]} {direction}, name LIMIT ? OFFSET ?",
        [*values, per_page, (page - 1) * per_page],
    ).fetchall()
    zones = [
        _zone(record.zone, call)
        for (identity,) in rows
        if (record := call.state.zones.get(identity)) is not None
    ]
    return succeeded(zones, result_info=result_info(page, per_page, len(zones), total))


def get_zone(call: Call) -> Answer:
    """One zone."""
    return succeeded(_zone(call.zone.zone, call))


def _filters(call: Call) -> tuple[str, list[Any]]:
    clauses: list[str] = []
    values: list[Any] = []
    for name, column in (("status", "status"), ("account.id", "account")):
        if call.query.get(name):
            clauses.append(f"{column} = ?")
            values.append(call.query[name])
    if call.query.get("account.name"):
        wanted = call.query["account.name"].lower()
        ids = [one.id for one in call.state.accounts.values() if one.name.lower() == wanted]
        clauses.append("account = ?")
        values.append(ids[0] if ids else "")
    if call.query.get("name"):
        operator, colon, rest = call.query["name"].partition(":")
        if colon and operator in _NAME_FILTERS:
            clauses.append("name GLOB ?")
            values.append(_NAME_FILTERS[operator].format(_literal(rest)))
        elif colon and operator == "not_equal":
            clauses.append("name != ?")
            values.append(rest)
        else:
            clauses.append("name = ?")
            values.append(rest if colon and operator == "equal" else call.query["name"])
    match = call.query.get("match") or "all"
    if match not in ("all", "any"):
        raise refuse(400, "match must be any or all", 1003)
    return (" AND " if match == "all" else " OR ").join(clauses) or "1", values


def _literal(text: str) -> str:
    return "".join(f"[{sign}]" if sign in "*?[" else sign for sign in text)


def _scope(caller: Caller) -> tuple[str, list[Any]]:
    clauses: list[str] = []
    values: list[Any] = []
    for column, scope in (("account", caller.credential.accounts), ("id", caller.credential.zones)):
        if scope != "all":
            clauses.append(f"{column} IN ({', '.join('?' * len(scope))})")
            values += scope
    return " AND ".join(clauses) or "1", values


def _account(account: FleetAccount) -> dict[str, Any]:
    return {
        "id": account.id,
        "name": account.name,
        "type": "standard",
        "settings": {"enforce_twofactor": False},
    }


def _zone(zone: FleetZone, call: Call) -> dict[str, Any]:
    account = call.state.accounts[zone.account]
    granted = {
        f"{mark}:{verb}"
        for one in call.caller.credential.permissions
        for group, _, verb in [one.partition(":")]
        if (mark := _PERMISSION_MARK.get(group))
    }
    return {
        "id": zone.id,
        "name": zone.name,
        "status": zone.status,
        "paused": zone.paused,
        "type": "full",
        "development_mode": 0,
        "name_servers": ["ada.ns.example", "bob.ns.example"],
        "permissions": sorted(granted),
        "account": {"id": account.id, "name": account.name},
        "owner": {"id": None, "type": "user", "email": None},
        "plan": {
            "id": f"plan-{zone.plan}",
            "name": PLANS[zone.plan],
            "legacy_id": zone.plan,
            "currency": "USD",
        },
    }


ROUTES = [
    Route("GET", "/user", "user.get", user, ("user:read",)),
    Route("GET", "/user/tokens/verify", "user.verify_token", verify_token),
    Route("GET", "/accounts", "accounts.list", list_accounts, ("account:read",)),
    Route("GET", "/accounts/{account_id}", "accounts.get", get_account, ("account:read",)),
    Route("GET", "/zones", "zones.list", list_zones, ("zone:read",)),
    Route("GET", "/zones/{zone_id}", "zones.get", get_zone, ("zone:read",)),
]
