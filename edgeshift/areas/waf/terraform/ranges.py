"""The ranges of the Terraform provider that configuration is written for, each as data. Pure.

docs/terraform.md says where each fact was read.
"""

from __future__ import annotations

from dataclasses import dataclass

from edgeshift.areas.waf.terraform.fields import Fields, rule_fields

SOURCE = "cloudflare/cloudflare"
"""The provider's address, as ``required_providers`` has it."""

LEAST_TERRAFORM = (1, 0)
"""The first version of Terraform that runs the provider in every range."""

IMPORT_BLOCKS = (1, 5)
"""The version of Terraform from which a configuration may have import blocks."""


@dataclass(frozen=True)
class ProviderRange:
    """Versions of the provider that take the same configuration.

    ``name``: as people name it. ``constraint``: of ``required_providers``. ``attributes``: whether nested
    objects are attributes, where not blocks. ``status``: whether overrides and logging say on and off by
    ``status``, where not by ``enabled``. ``sends_zero``: whether a 0 is sent; where not, it is as if it were
    not there. ``joins``: whether lists of rules to skip are texts with commas. ``level``: of the identifier
    to import by. ``warnings``: what people have to know of it.
    """

    name: str
    constraint: str
    rule: Fields
    attributes: bool = False
    status: bool = False
    sends_zero: bool = False
    joins: bool = True
    level: str = "zone"
    warnings: tuple[str, ...] = ()

    def import_id(self, zone: str, ruleset: str) -> str:
        """By what a zone's ruleset is imported."""
        return f"{self.level}/{zone}/{ruleset}"


_OLD = rule_fields(categories_have_sensitivity=False)

THREE = ProviderRange(
    name="3.35",
    constraint=">= 3.34.0, < 4.0.0",
    rule=_OLD,
    status=True,
    warnings=(
        "provider 3.x drops `enabled = false` in overrides, so that what is off comes back on: this"
        ' configuration says `status = "disabled"` instead; never change it to `enabled`',
        "provider 3.35 is the last 3.x, and the last that knows the resources of the previous WAF: once they"
        " are out of the state, export again for provider 4, which says `enabled`; import again there",
    ),
)
FOUR = ProviderRange(name="4", constraint=">= 4.2.0, < 5.0.0", rule=_OLD)
FIVE = ProviderRange(
    name="5",
    constraint=">= 5.10.1, < 6.0.0",
    rule=rule_fields(categories_have_sensitivity=True),
    attributes=True,
    sends_zero=True,
    joins=False,
    level="zones",
)

RANGES = {one.name: one for one in (THREE, FOUR, FIVE)}
"""Each range by its name, the oldest first."""

DEFAULT_RANGE = FOUR
