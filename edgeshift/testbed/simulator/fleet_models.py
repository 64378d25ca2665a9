"""The models of a fleet: who may call the simulator, and which zones it holds (docs/fleet-format.md).

Everything but a name and a plan has a default. Ids that are left out are derived from the name, so that the
same file gives the same ids on every machine. The models can be changed in place: the simulator keeps a
zone's settings so, and the calls to the previous firewall (docs/service.md §4.3) change it.
"""

import hashlib
from datetime import datetime
from typing import Annotated, Any, Literal, get_args

from pydantic import AfterValidator, Field, model_validator
from pydantic_core import PydanticCustomError

from edgeshift.profiles import DEFAULT, PROFILES
from edgeshift.testbed.simulator.fleet_edge import EscScope, ZoneEdge, ZoneEsc
from edgeshift.testbed.simulator.fleet_logs import ZoneLogs
from edgeshift.testbed.simulator.fleet_strict import Strict

Plan = Literal["free", "pro", "business", "enterprise"]
OnOff = Literal["on", "off"]
SettingName = Literal["always_online", "always_use_https", "automatic_https_rewrites", "browser_check"]
"""Settings of a zone that are on or off and no part of anything else here."""
Permission = Literal[
    "user:read",
    "account:read",
    "zone:read",
    "zone:edit",
    "zone_settings:read",
    "zone_settings:edit",
    "firewall:read",
    "firewall:edit",
    "waf:read",
    "waf:edit",
    "page_rules:read",
    "page_rules:edit",
    "analytics:read",
    "logs:read",
    "logs:edit",
    "esc:read",
    "esc:edit",
]
PERMISSIONS: tuple[Permission, ...] = get_args(Permission)
Where = tuple[str | int, ...]


def derived_id(*parts: str) -> str:
    """32 lower-case hex digits that depend on `parts` alone."""
    return hashlib.sha256("\x1f".join(parts).encode()).hexdigest()[:32]


def _hex32(value: str) -> str:
    if value and (len(value) != 32 or value.strip("0123456789abcdef")):
        raise PydanticCustomError("bad_id", "an id is 32 digits of 0-9 and a-f; leave it out to get one")
    return value


def _domain(value: str) -> str:
    labels = value.split(".")
    bare = [part.replace("-", "") for part in labels]
    if len(labels) < 2 or value != value.lower() or not all(part.isalnum() for part in bare):
        raise PydanticCustomError("bad_domain", "a zone's name is a lower-case domain, such as shop.example")
    return value


def _profile(value: str) -> str:
    if value not in PROFILES:
        known = ", ".join(PROFILES)
        raise PydanticCustomError(
            "bad_profile", "there is no such profile; there are {known}", {"known": known}
        )
    return value


Profile = Annotated[str, AfterValidator(_profile)]
Id = Annotated[str, AfterValidator(_hex32)]


class FleetUser(Strict):
    """A user of the service: the rate limit counts against it (docs/service.md §8)."""

    email: str = Field(pattern=r"^[^@\s]+@[^@\s]+$", description="also the X-Auth-Email of the user's keys")
    id: Id = ""


class Credential(Strict):
    """An API token or an API key (docs/service.md §5). `value` is kept out of every repr."""

    label: str = Field(min_length=1, description="what the journal calls it; never the secret")
    kind: Literal["token", "key"] = "token"
    value: str = Field(
        "", repr=False, description="a token has 40 characters, a key 37 hex digits; derived if absent"
    )
    user: str = Field("", description="id or e-mail; the first user if absent")
    permissions: list[Permission] = Field(default_factory=lambda: list(PERMISSIONS))
    accounts: list[str] | Literal["all"] = Field("all", description="ids or names of the accounts it reaches")
    zones: list[str] | Literal["all"] = Field("all", description="ids or names of the zones it reaches")
    status: Literal["active", "disabled", "expired"] = "active"

    @model_validator(mode="after")
    def _complete(self) -> "Credential":
        if not self.value:
            digest = hashlib.sha256(f"edgeshift simulator {self.kind} {self.label}".encode()).hexdigest()
            self.value = f"simulated-{digest[:30]}" if self.kind == "token" else digest[:37]
        hexadecimal = not self.value.strip("0123456789abcdef")
        if self.kind == "key" and not (len(self.value) == 37 and hexadecimal):
            raise PydanticCustomError("bad_value", "the value of a key is 37 digits of 0-9 and a-f")
        if self.kind == "token" and not (
            len(self.value) == 40
            and self.value.isascii()
            and self.value.replace("-", "").replace("_", "").isalnum()
        ):
            raise PydanticCustomError("bad_value", "the value of a token is 40 letters, digits, '-' and '_'")
        return self

    def allows(self, permission: str) -> bool:
        """Whether it holds `permission` ("waf:read"); "edit" of a group includes "read"."""
        group, _, verb = permission.partition(":")
        return permission in self.permissions or (verb == "read" and f"{group}:edit" in self.permissions)

    def covers(self, zone_id: str, account_id: str) -> bool:
        """Whether a zone of an account (both by id) is in its scope."""
        in_zones = self.zones == "all" or zone_id in self.zones
        return in_zones and (self.accounts == "all" or account_id in self.accounts)


class FleetAccount(Strict):
    """An account, which owns zones."""

    name: str = Field(min_length=1)
    id: Id = ""
    esc: EscScope = Field(default_factory=EscScope)


class Owasp(Strict):
    """The previous core rule set: anomaly scoring (docs/service.md §3.2, legacy packages)."""

    sensitivity: Literal["high", "medium", "low", "default", "off"] = "high"
    action_mode: Literal["simulate", "block", "challenge"] = "challenge"
    groups: dict[str, OnOff] = Field(default_factory=dict, description="changed modes, by group id or name")
    rules: dict[str, OnOff] = Field(default_factory=dict, description="changed modes, by rule id")


class Managed(Strict):
    """The previous provider's rule set: groups of rules, each with its own mode."""

    enabled: bool = True
    groups: dict[str, OnOff] = Field(default_factory=dict, description="changed modes, by group id or name")
    rules: dict[str, Literal["default", "disable", "simulate", "block", "challenge", "on", "off"]] = Field(
        default_factory=dict, description="changed modes, by rule id"
    )


class PreviousWaf(Strict):
    """The previous WAF of a zone; `enabled` is the zone's setting `waf`."""

    enabled: bool = True
    owasp: Owasp = Field(default_factory=Owasp)
    managed: Managed = Field(default_factory=Managed)


class FirewallFilter(Strict):
    """What a firewall rule matches, where it stands by itself or is paused or described."""

    expression: str = Field(min_length=1)
    description: str = ""
    paused: bool = Field(False, description="the rules that use it do not act")
    ref: str = ""
    id: Id = ""


class FirewallRule(Strict):
    """A firewall rule; a `bypass` with `waf` among its products migrates (docs/service.md §3.2)."""

    expression: str = Field(min_length=1)
    action: Literal["bypass", "block", "challenge", "js_challenge", "managed_challenge", "allow", "log"] = (
        "bypass"
    )
    products: list[str] = Field(default_factory=list, description="what a bypass skips: waf, rateLimit ...")
    description: str = ""
    paused: bool = False
    priority: int | None = None
    ref: str = ""
    id: Id = ""
    filter_id: Id = ""


class UriOverride(Strict):
    """A URI-based WAF override: a zone that has one is not eligible (docs/service.md §3.2)."""

    urls: list[str] = Field(min_length=1)
    groups: dict[str, str] = Field(default_factory=dict)
    rules: dict[str, str] = Field(default_factory=dict)
    rewrite_action: dict[str, str] = Field(default_factory=dict)
    description: str = ""
    paused: bool = False
    priority: int = 1
    id: Id = ""


class PageRuleAction(Strict):
    """One setting of a page rule: `disable_security`, `waf` with "on" or "off", or any other."""

    id: str = Field(min_length=1)
    value: Any = None


class PageRule(Strict):
    """A page rule: `targets` are URL patterns in which `*` stands for anything."""

    targets: list[str] = Field(min_length=1)
    actions: list[PageRuleAction] = Field(min_length=1)
    status: Literal["active", "disabled"] = "active"
    priority: int = 1
    id: Id = ""


class Migration(Strict):
    """Where a zone stands at the start, and how its migration behaves (docs/service.md §3.2)."""

    state: Literal["start", "default", "validation", "complete"] = "start"
    since: datetime | None = Field(None, description="when it got there; the simulator's start if absent")
    entry_point: dict[str, Any] | Literal["equivalent", "log_only"] = Field(
        "equivalent",
        description="what is stored in every state but start: name and rules, or how to make them",
    )
    migration_seconds: float | None = Field(
        None, ge=0, description="how long it takes; else the simulator's option"
    )
    visibility_seconds: float | None = Field(None, ge=0, description="how late it is seen; the same")
    refuses_at: Literal["check", "config", "put"] | None = Field(
        None, description="which call asks for support; else the simulator's option"
    )
    managed_settings: Literal["carried", "lost"] = Field(
        "carried",
        description="whether the new configuration has what somebody set for the provider's groups and rules",
    )
    page_rules: Literal["carried", "left_out"] = Field(
        "carried",
        description="whether the new configuration has the page rules that turn the WAF off or on",
    )
    firewall_rules: Literal["carried", "left_out"] = Field(
        "carried",
        description="whether the new configuration has the firewall rules that bypass the WAF",
    )
    configuration: Literal["equivalent", "disabled"] = Field(
        "equivalent",
        description="disabled: the new configuration runs nothing, whatever the previous WAF does",
    )


FalsePositive = Literal["rich_text", "sql_in_text", "shell_in_text", "template_editor"]
Gap = Literal["cms_plugin_probe", "comment_spam", "email_harvester", "legacy_cgi"]


class PlantedFalsePositive(Strict):
    """Legitimate requests that the new rules stop and the previous ones let through."""

    kind: FalsePositive = "rich_text"
    path: str = Field("/editor/save", pattern="^/")
    per_hour: float = Field(6.0, gt=0, le=100_000)


class PlantedGap(Strict):
    """Attacks that the previous rules stop and the new ones let through."""

    kind: Gap = "cms_plugin_probe"
    path: str | None = Field(None, pattern="^/", description="the kind's own path if absent")
    per_hour: float = Field(6.0, gt=0, le=100_000)


class Traffic(Strict):
    """The requests a zone sees; the same seed gives the same requests."""

    requests_per_minute: float = Field(60.0, ge=0, le=1_000_000)
    attack_share: float = Field(0.02, ge=0, le=1, description="the part of the requests that attacks")
    seed: int | None = Field(None, description="derived from the zone's id if absent")
    false_positives: list[PlantedFalsePositive] = Field(default_factory=list)
    gaps: list[PlantedGap] = Field(default_factory=list)


class FleetZone(Strict):
    """A zone with its previous WAF, its rules, its place in the migration and its traffic."""

    name: Annotated[str, AfterValidator(_domain)]
    plan: Plan
    id: Id = ""
    account: str = Field("", description="id or name; the first account if absent")
    status: Literal["active", "pending", "initializing", "moved", "deleted", "deactivated"] = "active"
    paused: bool = False
    previous_waf: PreviousWaf = Field(default_factory=PreviousWaf)
    firewall_rules: list[FirewallRule] = Field(default_factory=list)
    filters: list[FirewallFilter] = Field(
        default_factory=list, description="filters that no rule uses, and those of which more is to be said"
    )
    uri_overrides: list[UriOverride] = Field(default_factory=list)
    page_rules: list[PageRule] = Field(default_factory=list)
    migration: Migration = Field(default_factory=Migration)
    traffic: Traffic = Field(default_factory=Traffic)
    esc: ZoneEsc = Field(default_factory=ZoneEsc)
    edge: ZoneEdge = Field(default_factory=ZoneEdge)
    logs: ZoneLogs = Field(default_factory=ZoneLogs)
    settings: dict[SettingName, OnOff] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _derive_ids(self) -> "FleetZone":
        self.id = self.id or derived_id("zone", self.name)
        for place, rule in enumerate(self.firewall_rules):
            rule.id = rule.id or derived_id(self.id, "firewall rule", str(place))
            rule.filter_id = rule.filter_id or derived_id(rule.id, "filter")
        for place, filtered in enumerate(self.filters):
            filtered.id = filtered.id or derived_id(self.id, "filter", str(place))
        for place, override in enumerate(self.uri_overrides):
            override.id = override.id or derived_id(self.id, "override", str(place))
        for place, page_rule in enumerate(self.page_rules):
            page_rule.id = page_rule.id or derived_id(self.id, "page rule", str(place))
        return self

    def acts(self, rule: FirewallRule) -> bool:
        """Whether neither a firewall rule nor its filter is paused."""
        return not rule.paused and not any(one.paused and one.id == rule.filter_id for one in self.filters)


class FleetParts(Strict):
    """Everything that a fleet has, each part right by itself."""

    version: Literal[1] = 1
    note: str = Field("", description="free text about the fleet; the simulator ignores it")
    profile: Profile = Field(DEFAULT, description="which known state of the service holds the fleet")
    users: list[FleetUser] = Field(default_factory=lambda: [FleetUser(email="operator@example.com")])
    credentials: list[Credential] = Field(default_factory=lambda: [Credential(label="operator")])
    accounts: list[FleetAccount] = Field(default_factory=lambda: [FleetAccount(name="Main account")])
    zones: list[FleetZone] = Field(default_factory=list)
