"""Terraform configuration of migrated zones: a zone's entry point as signed, for a named range of the
provider, with what is done by hand around it (docs/terraform.md). Pure.
"""

from edgeshift.areas.waf.terraform.files import (
    ExportedZone,
    TerraformVersion,
    exported_files,
    terraform_version,
    versions_file,
    zone_file,
)
from edgeshift.areas.waf.terraform.labels import label_of, labels_of
from edgeshift.areas.waf.terraform.ranges import DEFAULT_RANGE, IMPORT_BLOCKS, RANGES, SOURCE, ProviderRange
from edgeshift.areas.waf.terraform.ruleset import EntryPoint, Unwritable
from edgeshift.areas.waf.terraform.scripts import by_hand

__all__ = [
    "DEFAULT_RANGE",
    "IMPORT_BLOCKS",
    "RANGES",
    "SOURCE",
    "EntryPoint",
    "ExportedZone",
    "ProviderRange",
    "TerraformVersion",
    "Unwritable",
    "by_hand",
    "exported_files",
    "label_of",
    "labels_of",
    "terraform_version",
    "versions_file",
    "zone_file",
]
