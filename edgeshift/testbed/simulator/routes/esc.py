"""The calls that disable Edge Side Code for a zone or an account (docs/service.md §2.1, §3.1, §4.1).

One POST path does two things, told apart by the body's field. The answers are bare objects, and what is not
known of them is an option (docs/simulator.md).
"""

from typing import Any

from edgeshift.testbed.simulator.answers import Answer, Json, refuse, succeeded
from edgeshift.testbed.simulator.calls import Call, Route
from edgeshift.testbed.simulator.credentials import no_permission
from edgeshift.testbed.simulator.esc_settings import EscSetting, Operation, account_scope, zone_scope
from edgeshift.testbed.simulator.migration import refusal
from edgeshift.testbed.simulator.options import Refusal


def get_setting(call: Call) -> Answer:
    """The status or the secret of the scope, as far as reads show it already."""
    scope = _scope(call)
    setting = call.state.esc.visible(scope)
    _noted(call, scope, "get", call.state.esc.accepted(scope))
    shown: Json
    match setting:
        case EscSetting(always=True, secret=str()):
            both = {"always": True, "with_secret": setting.secret}
            choice = call.options.esc.both_configured
            shown = both if choice == "both" else {choice: both[choice]}
        case EscSetting(always=True):
            shown = {"always": True}
        case EscSetting(secret=str()):
            shown = {"with_secret": setting.secret}
        case _:
            choices: dict[str, Json] = {"always_false": {"always": False}, "empty": {}, "null": None}
            if call.options.esc.nothing_configured == "not_found":
                raise refuse(404, "no setting is configured for disabling Edge Side Code")
            shown = choices[call.options.esc.nothing_configured]
    return _shown(call, shown)


def set_setting(call: Call) -> Answer:
    """Configure a secret, or disable for all requests: whichever the body says."""
    scope = _scope(call)
    before = call.state.esc.accepted(scope)
    _noted(call, scope, "refused", before)
    body = _checked(call)
    secret = body.get("with_secret")
    if body.get("always") is False and call.options.esc.always_false == "ignore":
        operation: Operation | None = None
    elif "always" in body and secret is not None:
        operation = "both"
    elif secret is not None:
        operation = "secret"
    else:
        operation = "always" if body["always"] else "enable"
    if operation is not None:
        call.state.esc.change(scope, operation, call.options, always=body.get("always"), secret=secret)
        call.effect = "scheduled" if call.options.esc_effect_seconds else "applied"
    _noted(call, scope, operation or "ignored", before)
    return _answered(call, call.options.esc.post, {key: body[key] for key in sorted(body)})


def delete_setting(call: Call) -> Answer:
    """Enable again for the scope; the secret stays unless an option says otherwise. Raises where it is on, if
    an option says so.
    """
    scope = _scope(call)
    before = call.state.esc.accepted(scope)
    if not before.always and call.options.esc.delete_when_on == "refuse":
        _noted(call, scope, "refused", before)
        raise refuse(404, "Edge Side Code is not disabled for this scope")
    clear = call.options.esc.delete_clears_secret
    call.state.esc.change(scope, "delete", call.options, always=False, clear_secret=clear)
    call.effect = "scheduled" if call.options.esc_effect_seconds else "applied"
    _noted(call, scope, "delete", before)
    return _answered(call, call.options.esc.delete, {"always": False})


def _scope(call: Call) -> str:
    """The scope that the path names. Raises where the caller does not reach it, after the removal, and where
    the zone may have no Edge Side Code.
    """
    account_id = call.params.get("account_id")
    if account_id is not None:
        if account_id not in call.state.accounts:
            raise refuse(400, "Invalid account identifier", 7003)
        if not call.caller.reaches_account(account_id):
            raise no_permission(call.options)
    scope = zone_scope(call.zone.id) if account_id is None else account_scope(account_id)
    if call.state.esc.removed:
        _noted(call, scope, "refused", EscSetting())
        raise _worded(call, call.options.esc.removed)
    choices = call.options.esc
    reads = call.method == "GET" and choices.not_entitled_get == "unconfigured"
    if account_id is None and call.zone.zone.name in choices.not_entitled and not reads:
        _noted(call, scope, "refused", call.state.esc.accepted(scope))
        raise refusal(choices.not_entitled_refusal)
    return scope


def _checked(call: Call) -> dict[str, Any]:
    """The body's known fields, at least one. Raises as the options say; no refusal shows the secret."""
    choices = call.options.esc
    document = call.json()
    if not isinstance(document, dict):
        raise refusal(choices.bad_body)
    body = {key: document[key] for key in ("always", "with_secret") if key in document}
    if not body or (len(body) == 2 and choices.both_fields == "refuse"):
        raise refusal(choices.bad_body)
    if "with_secret" in body:
        secret = body["with_secret"]
        if not isinstance(secret, str) or not secret:
            raise refusal(choices.bad_body)
        if len(secret) > call.options.facts.longest_esc_secret:
            raise _worded(call, choices.secret_too_long)
    if "always" in body:
        always = body["always"]
        if not isinstance(always, bool) or (not always and choices.always_false == "refuse"):
            raise refusal(choices.bad_body)
    return body


def _worded(call: Call, answer: Refusal) -> Exception:
    """A refusal with the profile's limit and date in the places that its words have for them."""
    facts = call.options.facts
    message = answer.message.replace("{characters}", str(facts.longest_esc_secret))
    message = message.replace("{removal}", f"{facts.esc_removal:%Y-%m-%d}")
    return refusal(answer.model_copy(update={"message": message}))


def _noted(call: Call, scope: str, operation: str, before: EscSetting) -> None:
    """Describe the call for the journal; `before` is what the setting was, or was to become."""
    covered = 1
    if scope.startswith("accounts/"):
        row = call.state.database.connection.execute(
            "SELECT count(*) FROM zones WHERE account = ?", (call.params["account_id"],)
        ).fetchone()
        covered = row[0]
    call.esc = {
        "scope": scope,
        "operation": operation,
        "before": before.checker(),
        "after": call.state.esc.accepted(scope).checker(),
        "zones": covered,
    }


def _answered(call: Call, choice: str, echo: Json) -> Answer:
    match choice:
        case "no_content":
            return Answer(204)
        case "empty":
            return _shown(call, {})
        case "envelope":
            return succeeded(echo)
    return _shown(call, echo)


def _shown(call: Call, document: Json) -> Answer:
    if call.options.esc.envelope:
        return succeeded(document)
    if document is None:
        return Answer(200, text="null", headers={"content-type": "application/json"})
    return Answer(200, document)


_READ, _EDIT = ("esc:read",), ("esc:edit",)
ROUTES = [
    route
    for scope in ("/zones/{zone_id}", "/accounts/{account_id}")
    for route in (
        Route("GET", f"{scope}/disable_esc", "esc.get", get_setting, _READ, confidential=True),
        Route("POST", f"{scope}/disable_esc", "esc.set", set_setting, _EDIT, confidential=True),
        Route("DELETE", f"{scope}/disable_esc", "esc.delete", delete_setting, _EDIT, confidential=True),
    )
]
