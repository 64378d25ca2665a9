"""Who is calling: both authentication schemes, and what a credential may do (docs/service.md §5)."""

import hmac
import re
from collections.abc import Mapping
from dataclasses import dataclass

from edgeshift.testbed.simulator.answers import ApiError, error, refuse
from edgeshift.testbed.simulator.fleet_file import Credential, Fleet, FleetUser
from edgeshift.testbed.simulator.options import SimulatorOptions

_TOKEN = re.compile(r"[A-Za-z0-9_-]{40,80}")
_KEY = re.compile(r"[0-9a-f]{37}")
_EMAIL = re.compile(r"[^@\s]+@[^@\s]+\.[^@\s]+")


@dataclass(frozen=True)
class Caller:
    """A recognised credential and its user, whose rate limit counts."""

    credential: Credential
    user: FleetUser

    def may(self, permissions: tuple[str, ...]) -> bool:
        """Whether it holds one of `permissions`; no permission asked is always held."""
        return not permissions or any(self.credential.allows(one) for one in permissions)

    def reaches(self, zone_id: str, account_id: str) -> bool:
        return self.credential.covers(zone_id, account_id)

    def reaches_account(self, account_id: str) -> bool:
        scope = self.credential.accounts
        return scope == "all" or account_id in scope


class Credentials:
    """The credentials of a fleet. Secrets are compared, never shown."""

    def __init__(self, fleet: Fleet) -> None:
        users = {user.id: user for user in fleet.users}
        self._status: dict[str, str] = {}
        self._tokens: dict[str, Caller] = {}
        self._keys: dict[tuple[str, str], Caller] = {}
        for credential in fleet.credentials:
            caller = Caller(credential, users[credential.user])
            if credential.kind == "token":
                self._tokens[credential.value] = caller
            else:
                self._keys[caller.user.email.lower(), credential.value] = caller

    def _is_active(self, credential: Credential) -> bool:
        return self._status.get(credential.label, credential.status) == "active"

    def statuses(self) -> dict[str, str]:
        """What each credential is worth now, by its label."""
        callers = [*self._tokens.values(), *self._keys.values()]
        known = {caller.credential.label: caller.credential.status for caller in callers}
        return {**known, **self._status}

    def change(self, label: str, status: str) -> None:
        """Let a credential expire, be revoked, or count again. Raises KeyError for one that is not there."""
        if label not in self.statuses():
            raise KeyError(label)
        self._status[label] = status

    def identify(self, headers: Mapping[str, str], options: SimulatorOptions) -> Caller:
        """The caller of a request, by its lower-case headers. Raises `ApiError` as docs/service.md §5
        says."""
        authorization = headers.get("authorization")
        key, email = headers.get("x-auth-key"), headers.get("x-auth-email")
        if authorization is not None:
            return self._by_token(authorization, options)
        if key is None or email is None:
            raise refuse(400, "Missing X-Auth-Key, X-Auth-Email or Authorization headers", 9106)
        return self._by_key(key, email)

    def _by_token(self, authorization: str, options: SimulatorOptions) -> Caller:
        scheme, _, token = authorization.partition(" ")
        if scheme.lower() != "bearer" or not _TOKEN.fullmatch(token):
            raise _malformed(6111, "Invalid format for Authorization header")
        caller = self._tokens.get(token)
        if caller is None or not self._is_active(caller.credential):
            if options.invalid_token_code == 1000:
                raise refuse(401, "Invalid API Token", 1000)
            raise refuse(403, "Invalid access token", 9109)
        return caller

    def _by_key(self, key: str, email: str) -> Caller:
        if not _KEY.fullmatch(key):
            raise _malformed(6103, "Invalid format for X-Auth-Key header")
        if not _EMAIL.fullmatch(email):
            raise _malformed(6102, "Invalid format for X-Auth-Email header")
        # compare_digest over every key keeps the time from telling how near a guess was.
        found = None
        for (known_email, known_key), caller in self._keys.items():
            if hmac.compare_digest(known_key, key) and known_email == email.lower():
                found = caller
        if found is None or not self._is_active(found.credential):
            raise refuse(403, "Unknown X-Auth-Key or X-Auth-Email", 9103)
        return found


def no_permission(options: SimulatorOptions) -> ApiError:
    """The refusal of a credential that lacks a permission or the scope."""
    if options.no_permission_code == 10000:
        return refuse(403, "Authentication error", 10000)
    return refuse(403, "Unauthorized to access requested resource", 9109)


def _malformed(code: int, message: str) -> ApiError:
    return ApiError(400, error("Invalid request headers", 6003, chain=[{"code": code, "message": message}]))
