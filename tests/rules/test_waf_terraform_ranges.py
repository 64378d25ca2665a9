"""Each range of the provider has its versions, its imports and its files; each zone a name of its own."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from edgeshift.areas.waf import skip_rule
from edgeshift.areas.waf.terraform import (
    RANGES,
    EntryPoint,
    ProviderRange,
    exported_files,
    label_of,
    labels_of,
    terraform_version,
    zone_file,
)
from edgeshift.model.digests import Body
from edgeshift.model.fleet import Plan, Zone
from tests.rules.hcl_kit import FACTS, parsed, text_of, versions_in

ZONE = Zone(id="a" * 32, name="shop.example", account="b" * 32, plan=Plan.ENTERPRISE)
ENTRY = EntryPoint(id="c" * 32, name="default")
BODY: Body = {"name": "default", "rules": [skip_rule("shop.example/api/*", "api")]}
NEW, OLD = terraform_version("1.5"), terraform_version("1.4")
EACH = pytest.mark.parametrize("provider", RANGES.values(), ids=RANGES)


def test_every_version_with_known_facts_is_of_one_range_at_most() -> None:
    """And each range has the facts of its first versions and of late ones. 4.0 and 4.1, which say ``status``
    as 3.x does, are of no range.
    """
    of = {name: versions_in(one.constraint) for name, one in RANGES.items()}
    assert of == {
        "3.35": ["3.34.0", "3.35.0"],
        "4": ["4.2.0", "4.20.0", "4.47.0", "4.52.8"],
        "5": ["5.10.1", "5.22.0"],
    }
    assert all(facts["date"] for facts in FACTS["versions"].values())
    assert RANGES["3.35"].warnings and not RANGES["4"].warnings


@EACH
def test_the_import_is_a_block_from_terraform_1_5_on(provider: ProviderRange) -> None:
    """Before, there is a command for it; both name the zone and the entry point as the range does."""
    level = "zones" if provider.attributes else "zone"
    new = zone_file(ZONE, label_of(ZONE), BODY, ENTRY, provider, NEW)
    (block,) = parsed(new.text)["import"]
    assert text_of(block["id"]) == new.import_id == f"{level}/{ZONE.id}/{ENTRY.id}"
    assert block["to"] == "${cloudflare_ruleset.shop_example_waf_managed}"
    old = zone_file(ZONE, label_of(ZONE), BODY, ENTRY, provider, OLD)
    assert "import" not in parsed(old.text)
    files = exported_files("waf-1", [old], provider, OLD)
    assert f"\ntake {old.address} {old.import_id}\n" in files["import.sh"]
    assert "import.sh" not in exported_files("waf-1", [new], provider, NEW)


@EACH
def test_the_required_provider_is_the_range(provider: ProviderRange) -> None:
    """So that a configuration is not read by a version that takes it otherwise."""
    for version, least in ((NEW, ">= 1.5.0"), (OLD, ">= 1.0.0")):
        (block,) = parsed(exported_files("w", [], provider, version)["versions.tf"])["terraform"]
        (required,) = block["required_providers"]
        assert text_of(required["cloudflare"]["version"]) == provider.constraint
        assert text_of(required["cloudflare"]["source"]) == "cloudflare/cloudflare"
        assert text_of(block["required_version"]) == least


@pytest.mark.parametrize("text", ["", "1", "one", "0.12", "0.15.5", "1.5;rm", "1.5.x"])
def test_what_is_no_version_of_terraform_is_refused(text: str) -> None:
    """Also one that is too old for the provider."""
    with pytest.raises(ValueError, match="Terraform"):
        terraform_version(text)


ZONE_NAMES = st.one_of(
    st.text(alphabet="ab.-_A1é", min_size=1, max_size=8),
    st.sampled_from(["a.b", "a_b", "A.b", "1a.b", "zone.1a.b", "a.b." + "0" * 32, "a_b_00000000"]),
)


@given(st.lists(ZONE_NAMES, max_size=8))
def test_no_two_zones_share_a_name(names: list[str]) -> None:
    """Whatever folds to the same; each is an identifier of Terraform."""
    zones = [
        Zone(id=f"{place:032x}", name=name, account="b" * 32, plan=Plan.PRO)
        for place, name in enumerate(names)
    ]
    labels = labels_of(zones)
    assert len(set(labels.values())) == len(labels) == len(zones)
    for label in labels.values():
        assert label.isascii() and label[0].isalpha() and label.replace("_", "").replace("-", "").isalnum()


def test_a_zone_is_called_the_same_in_every_export() -> None:
    """By its own name and identifier, whichever others are exported with it."""
    other = ZONE.model_copy(update={"id": "9" * 32, "name": "shop_example"})
    assert labels_of([ZONE, other]) == {ZONE.id: label_of(ZONE), other.id: label_of(other)}
    assert label_of(ZONE) == "shop_example_waf_managed"
    assert label_of(other) == "shop_example_99999999_waf_managed"
