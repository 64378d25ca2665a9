"""The scripts of an export: legacy resources out of Terraform's state, entry points into it. Pure."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from edgeshift.model.fleet import Zone

LEGACY = {
    "cloudflare_waf_override": "overrides name rules and groups",
    "cloudflare_waf_rule": "rules belong to a group and a package",
    "cloudflare_waf_group": "groups belong to a package",
    "cloudflare_waf_package": "packages have nothing above them",
}
"""Resources of the previous WAF, what refers to others before what it refers to; and why there."""

BACKUP = "state-before-edgeshift.tfstate"

_STATE_HEAD = """\
#!/bin/sh
# Takes the resources of the previous WAF out of Terraform's state, of the zones below and of no others: these
# zones have migrated, and the API of these resources is gone for them. A refresh would fail there, and a
# destroy too. Nothing is sent to the service: `state rm` only forgets.
#
# Run it before you change the version of the provider: 4.0 and later do not know these resources.
set -eu
umask 077

is_ours() {
  grep -qxF "$1" <<'ZONES'
"""

_STATE_FUNCTIONS = r"""ZONES
}

forget() { # a resource type
  terraform state list > "$work/list"
  grep -E "(^|\\.)$1\\." "$work/list" > "$work/some" || true
  while IFS= read -r address; do
    terraform state show -no-color "$address" < /dev/null > "$work/one"
    # An index of another resource may look like an address.
    grep -q "^resource \"$1\" " "$work/one" || continue
    zone=$(sed -n 's/^ *zone_id *= *"\([0-9a-f]*\)".*/\1/p' "$work/one" | head -n 1)
    if [ -z "$zone" ]; then
      echo "$address has no zone_id in the state; nothing more is done" >&2
      exit 1
    fi
    if is_ours "$zone"; then
      terraform state rm "$address" < /dev/null
    fi
  done < "$work/some"
}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"""


def state_script(zones: Sequence[Zone]) -> str:
    """The script that takes the legacy resources of these zones out of the state."""
    lines = [
        f"if [ ! -e {BACKUP} ]; then",
        f"  terraform state pull > {BACKUP} # it may hold secrets: delete it when all is done",
        "fi",
        "",
        "# What refers to others goes first, so that the state is whole wherever this ends.",
    ]
    lines += [f"forget {kind} # {why}" for kind, why in LEGACY.items()]
    ids = "".join(f"{zone.id}\n" for zone in zones)
    return _STATE_HEAD + ids + _STATE_FUNCTIONS + "\n".join([*lines, ""])


def import_script(imports: Sequence[tuple[str, str]]) -> str:
    """The script that imports each address by its identifier, for Terraform without import blocks. What is in
    the state already is left as it is.
    """
    lines = [
        "#!/bin/sh",
        "# Takes the zones' entry points into Terraform's state. It changes nothing at the service.",
        "set -eu",
        "",
        "known=$(terraform state list 2> /dev/null || true)",
        "",
        "take() { # an address and what it is imported by",
        '  if printf \'%s\\n\' "$known" | grep -qxF "$1"; then',
        '    echo "$1 is in the state already"',
        "  else",
        '    terraform import -input=false "$1" "$2" < /dev/null',
        "  fi",
        "}",
        "",
        *(f"take {shlex.quote(where)} {shlex.quote(what)}" for where, what in imports),
    ]
    return "\n".join([*lines, ""])


def by_hand(campaign: str = "CAMPAIGN", zone: str = "ZONE") -> tuple[str, ...]:
    """The same steps for one zone, as a report has room for."""
    return (
        "# first take the legacy resources out of the configuration and out of the state: their API is gone",
        *(f"terraform state rm '{kind}.<name>' # {why}" for kind, why in LEGACY.items()),
        "terraform plan # it must create, destroy and replace nothing",
        "terraform apply # the import block takes the ruleset over",
        f"edgeshift check {shlex.quote(zone)} # whether the zone still is as signed",
        f"# all files, other ranges and import commands: edgeshift export terraform {campaign}"
        f" --zone {shlex.quote(zone)}",
    )
