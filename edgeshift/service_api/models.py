"""What the service answers, one model for each answer (docs/service.md §2, §4.3).

Models are tolerant: unknown fields are kept, unknown values of an enumeration pass, and what is missing is
None or empty. ``raw`` is the document as it came, for whatever is archived or sent back as it was returned.
"""

from __future__ import annotations

import re
from typing import Annotated, Any, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, PrivateAttr, StrictBool, StringConstraints

Document = dict[str, Any]


def _empty_for_null(value: object) -> object:
    return [] if value is None else value


class Answer(BaseModel):
    """The base of every answer."""

    model_config = ConfigDict(extra="allow", frozen=True, coerce_numbers_to_str=True)

    _raw: Document = PrivateAttr(default_factory=dict)

    @classmethod
    def of(cls, document: object) -> Self:
        """The answer that ``document`` is. Raises pydantic's ValidationError."""
        answer = cls.model_validate(document)
        if isinstance(document, dict):
            answer._raw = document
        return answer

    @property
    def raw(self) -> Document:
        """The document as the service sent it. It is shared: copy it before you change it."""
        return self._raw


HexId = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{32}$")]
"""An identifier as paths have it."""


_HOST_NAME = re.compile(r"[\w*-]+(\.[\w*-]+)*\.?")
_LONGEST_ODD = 100

ODD = "odd:"
"""What stands before a zone's name that is no host's."""


def _host_name(name: object) -> object:
    """The name; one that no host can have as what tells it apart and is safe to show, so that one zone does
    not keep a fleet from being read.
    """
    if not isinstance(name, str) or (len(name) <= 253 and _HOST_NAME.fullmatch(name)):
        return name
    return ODD + ("".join(map(_shown, name[:_LONGEST_ODD]))[:_LONGEST_ODD] or "(empty)")


def _shown(character: str) -> str:
    plain = (character.isascii() and character.isalnum()) or character in ".-_"
    return character if plain else f"(U+{ord(character):04X})"


class ResultInfo(Answer):
    """Where a page stands in its list (docs/service.md §2.2, observed)."""

    page: int | None = None
    per_page: int | None = None
    total_pages: int | None = None
    count: int | None = None
    total_count: int | None = None
    cursors: dict[str, Any] | None = None

    @property
    def next_cursor(self) -> str | None:
        """The name of the page that follows; None where it names none."""
        found = (self.cursors or {}).get("after")
        return found if isinstance(found, str) and found else None


class Account(Answer):
    """An account."""

    id: HexId
    name: str = ""


class ZonePlan(Answer):
    """A zone's plan; ``legacy_id`` is ``free``, ``pro``, ``business`` or ``enterprise``."""

    id: str | None = None
    name: str | None = None
    legacy_id: str | None = None


class Zone(Answer):
    """A zone (docs/service.md §4.3, observed). Names are those of hosts; any other is marked ``ODD``, and
    what no host's name has is escaped.
    """

    id: HexId
    name: Annotated[str, BeforeValidator(_host_name)]
    status: str | None = None
    paused: bool | None = None
    type: str | None = None
    permissions: Annotated[list[str], BeforeValidator(_empty_for_null)] = []
    account: Account | None = None
    plan: ZonePlan | None = None


class TokenVerification(Answer):
    """What the service says of a token: ``status`` is ``active`` for one that works (docs/service.md §5,
    observed).
    """

    id: str | None = None
    status: str | None = None
    expires_on: str | None = None


class CompatibilityCheck(Answer):
    """Whether a zone can update (docs/service.md §2.4). Anything but True means no."""

    compatible: StrictBool | None = None
    migration_state: str | None = None


class MigrationStatus(Answer):
    """Old and new managed rules and the state of the migration (docs/service.md §2.4, observed)."""

    created: Any = None
    migration_state: str | None = None
    new_waf_status: str | None = None
    old_waf_status: str | None = None
    source: str | None = None


class Rule(Answer):
    """A rule of a ruleset (docs/service.md §2.2). ``id`` and ``version`` may be empty in a new
    configuration.
    """

    id: str | None = None
    version: str | None = None
    action: str | None = None
    expression: str | None = None
    description: str | None = None
    ref: str | None = None
    enabled: bool | None = None
    last_updated: str | None = None
    action_parameters: dict[str, Any] | None = None


class Ruleset(Answer):
    """A ruleset (docs/service.md §2.2). Lists leave out ``rules``; then it is None."""

    id: Annotated[str, StringConstraints(pattern=r"^([0-9a-f]{32})?$")] | None = None
    name: str | None = None
    description: str | None = None
    kind: str | None = None
    phase: str | None = None
    version: str | None = None
    last_updated: str | None = None
    rules: list[Rule] | None = None


class Configuration(Ruleset):
    """The new WAF configuration of a zone: an entry point with its rules (docs/service.md §2.4). One without
    any may leave them out, or have null in their place.
    """


class Filter(Answer):
    """The filter of a firewall rule."""

    id: str | None = None
    expression: str | None = None


class FirewallRule(Answer):
    """A firewall rule; ``bypass`` with ``waf`` among its products migrates (docs/service.md §3.2, §4.3)."""

    id: str
    paused: bool | None = None
    description: str | None = None
    action: str | None = None
    priority: float | None = None
    filter: Filter | None = None
    products: Annotated[list[str], BeforeValidator(_empty_for_null)] = []
    ref: str | None = None


class WafPackage(Answer):
    """A package of the previous managed rules; an anomaly package has sensitivity and action mode."""

    id: HexId
    name: str | None = None
    detection_mode: str | None = None
    sensitivity: str | None = None
    action_mode: str | None = None


class WafGroup(Answer):
    """A group of the previous managed rules."""

    id: str
    name: str | None = None
    mode: str | None = None
    rules_count: int | None = None
    modified_rules_count: int | None = None


class WafRule(Answer):
    """A rule of the previous managed rules."""

    id: str
    description: str | None = None
    mode: str | None = None
    default_mode: str | None = None


class WafOverride(Answer):
    """A URI-based override: a zone that has one is not eligible (docs/service.md §3.2)."""

    id: HexId
    paused: bool | None = None
    description: str | None = None
    urls: Annotated[list[str], BeforeValidator(_empty_for_null)] = []
    priority: float | None = None
    groups: dict[str, Any] | None = None
    rules: dict[str, Any] | None = None
    rewrite_action: dict[str, Any] | None = None


class PageRuleConstraint(Answer):
    """What the URLs of a page rule's target are like, such as ``*shop.example/api/*``."""

    value: str | None = None


class PageRuleTarget(Answer):
    """Which URLs a page rule is about."""

    constraint: PageRuleConstraint | None = None


class PageRuleAction(Answer):
    """A setting that a page rule makes; its value is of any type."""

    id: str


class PageRule(Answer):
    """A page rule."""

    id: str
    status: str | None = None
    priority: float | None = None
    targets: Annotated[list[PageRuleTarget], BeforeValidator(_empty_for_null)] = []
    actions: Annotated[list[PageRuleAction], BeforeValidator(_empty_for_null)] = []


class WafSetting(Answer):
    """The zone's setting of the previous WAF, ``on`` or ``off``."""

    id: str | None = None
    value: str | None = None


class ZoneSetting(Answer):
    """A setting of a zone by its name. Those that edgeshift reads are ``on`` or ``off``."""

    id: str | None = None
    value: Any = None


class SecurityEvent(Answer):
    """A security event, named as the service's GraphQL names its fields (docs/service.md §4.3, observed)."""

    action: str | None = None
    source: str | None = None
    ruleId: str | None = None
    rulesetId: str | None = None
    description: str | None = None
    rayName: str | None = None
    datetime: str | None = None
    clientRequestHTTPHost: str | None = None
    clientRequestHTTPMethodName: str | None = None
    clientRequestPath: str | None = None
    clientRequestQuery: str | None = None
    clientIP: str | None = None
    sampleInterval: int | None = None
