"""The files of an export: configuration, imports, and what is done by hand before and after. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from textwrap import wrap

from pydantic import BaseModel

from edgeshift.areas.waf.terraform.hcl import Item, block, quoted
from edgeshift.areas.waf.terraform.ranges import IMPORT_BLOCKS, LEAST_TERRAFORM, SOURCE, ProviderRange
from edgeshift.areas.waf.terraform.ruleset import EntryPoint, address, import_block, resource
from edgeshift.areas.waf.terraform.scripts import import_script, state_script
from edgeshift.model.counts import counted
from edgeshift.model.fleet import Zone

VERSIONS = "versions.tf"
IMPORTS = "import.sh"
STATE = "state-rm.sh"
README = "README.md"


class ExportedZone(BaseModel):
    """A zone of an export. ``address``: of its resource; ``import_id``: by what it is imported; ``file``: its
    configuration's; ``digest``: of the body that was signed.
    """

    zone: Zone
    address: str
    import_id: str
    file: str
    digest: str
    text: str


class TerraformVersion(BaseModel):
    """A version of Terraform, as far as it decides what is written."""

    major: int
    minor: int

    @property
    def import_blocks(self) -> bool:
        """Whether a configuration may have import blocks."""
        return (self.major, self.minor) >= IMPORT_BLOCKS

    @property
    def least(self) -> str:
        """The first version that takes what is written for this one."""
        return ".".join(map(str, IMPORT_BLOCKS if self.import_blocks else LEAST_TERRAFORM))


def terraform_version(text: str) -> TerraformVersion:
    """The version that a person names, such as ``1.5`` or ``1.11.4``. Raises ValueError."""
    found = re.fullmatch(r"v?(\d{1,4})\.(\d{1,4})(?:\.\d{1,4})?", text.strip())
    if not found:
        raise ValueError(f"{text!r} is not a version of Terraform, such as 1.5 or 1.11.4")
    version = TerraformVersion(major=int(found[1]), minor=int(found[2]))
    if (version.major, version.minor) < LEAST_TERRAFORM:
        least = ".".join(map(str, LEAST_TERRAFORM))
        raise ValueError(f"the provider needs Terraform {least} or later, not {text}")
    return version


def zone_file(
    zone: Zone,
    label: str,
    body: Mapping[str, object],
    entry: EntryPoint,
    provider: ProviderRange,
    version: TerraformVersion,
    *,
    digest: str = "",
) -> ExportedZone:
    """One zone's configuration, with its import where Terraform takes it so. Raises Unwritable."""
    lines = [
        f"# {zone.name}: the entry point of WAF Managed Rules, as signed"
        + (f" (digest {digest[:12]})." if digest else "."),
        f"# For provider {SOURCE} {provider.constraint}; do not use it with another range.",
        *(line for warning in provider.warnings for line in _comment(f"Warning: {warning}.")),
        "",
    ]
    if version.import_blocks and entry.id:
        lines += [*import_block(zone, label, entry, provider), ""]
    lines += resource(zone, label, body, entry, provider)
    return ExportedZone(
        zone=zone,
        address=address(label),
        import_id=provider.import_id(zone.id, entry.id),
        file=f"{label}.tf",
        digest=digest,
        text="\n".join([*lines, ""]),
    )


def _comment(text: str) -> list[str]:
    return wrap(text, 110, initial_indent="# ", subsequent_indent="# ", break_on_hyphens=False)


def versions_file(provider: ProviderRange, version: TerraformVersion) -> str:
    """The provider that the configuration is for, and the least Terraform."""
    required = (Item("source", quoted(SOURCE)), Item("version", quoted(provider.constraint)))
    lines = [
        "terraform {",
        f"  required_version = {quoted(f'>= {version.least}.0')}",
        "",
        "  required_providers {",
        *(f"    {line}" for line in block("cloudflare =", *required)),
        "  }",
        "}",
    ]
    return "\n".join([*lines, ""])


def exported_files(
    campaign: str, zones: Sequence[ExportedZone], provider: ProviderRange, version: TerraformVersion
) -> dict[str, str]:
    """Every file of an export by its name."""
    files = {VERSIONS: versions_file(provider, version)}
    files |= {one.file: one.text for one in zones}
    files[STATE] = state_script(tuple(one.zone for one in zones))
    if not version.import_blocks:
        files[IMPORTS] = import_script(tuple((one.address, one.import_id) for one in zones))
    files[README] = readme(campaign, zones, provider, version)
    return files


def readme(
    campaign: str, zones: Sequence[ExportedZone], provider: ProviderRange, version: TerraformVersion
) -> str:
    """What to do in which order."""
    many = counted(len(zones), "zone")
    steps = [
        "Let nobody else apply this configuration until you are done.",
        "Take the resources `cloudflare_waf_override`, `cloudflare_waf_rule`, `cloudflare_waf_group` and"
        " `cloudflare_waf_package` of these zones out of your configuration, and the data sources"
        " `cloudflare_waf_rules`, `cloudflare_waf_groups` and `cloudflare_waf_packages`. Apply nothing yet:"
        " Terraform would try to undo them at an API that these zones no longer have.",
        f"Run `sh {STATE}`, still with the version of the provider that you have used so far: it takes these"
        " resources out of the state, of these zones only, and keeps a copy of the state from before."
        " Provider 4 and 5 do not know them any more.",
        f"Copy `{VERSIONS}` and the zones' files into your configuration, then `terraform init -upgrade`."
        f" If you have a `required_providers` of your own, merge the two; the range must stay"
        f" `{provider.constraint}`.",
        f"Run `sh {IMPORTS}`: it takes the entry points into the state."
        if not version.import_blocks
        else "The `import` blocks take the entry points into the state with the next apply; take them out"
        " after it if you like.",
        "Run `terraform plan`, and read it. It must create nothing, destroy nothing and replace nothing. A"
        " change of a rule's action, expression, `enabled`"
        + (" or `status`" if provider.status else "")
        + " or overrides is not what was signed: stop there. Never delete the entry point to get past"
        ' "exceeded maximum number of zone rulesets": import it.',
        "Run `terraform apply`.",
        "Run `edgeshift check ZONE` for each zone: it reads the entry point again, and says whether it is"
        " still as it was signed.",
    ]
    warnings = [f"- **Warning**: {warning}." for warning in provider.warnings]
    listed = [f"| {one.zone.name} | `{one.file}` | `{one.address}` | `{one.import_id}` |" for one in zones]
    return "\n".join(
        [
            f"# WAF Managed Rules of {many}, from campaign {campaign}",
            "",
            "For people who keep these zones in Terraform. The files say what was signed and read back after"
            f" the migration. They are for provider `{SOURCE}`, versions `{provider.constraint}`, and"
            f" Terraform {version.least} or later. Another range needs another export"
            " (`edgeshift export terraform`, option `--provider`).",
            *(["", *warnings] if warnings else []),
            "",
            "## Steps",
            "",
            *(f"{number}. {step}" for number, step in enumerate(steps, 1)),
            "",
            "## Zones",
            "",
            "| Zone | File | Resource | Imported by |",
            "|---|---|---|---|",
            *listed,
            "",
        ]
    )
