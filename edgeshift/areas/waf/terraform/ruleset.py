"""A zone's entry point as a ``cloudflare_ruleset`` resource. Pure.

Everything that a body has is written or refused by name: what the provider would drop could switch a
protection off, or one on that people had switched off.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict

from edgeshift.areas.waf.plain import LATEST
from edgeshift.areas.waf.terraform.fields import Field, Fields, Kind
from edgeshift.areas.waf.terraform.hcl import Item, block, listed, mapped, quoted, unkept
from edgeshift.areas.waf.terraform.ranges import ProviderRange
from edgeshift.model.digests import SERVICE_ASSIGNED
from edgeshift.model.fleet import Zone

PHASE = "http_request_firewall_managed"
RESOURCE = "cloudflare_ruleset"


class Unwritable(ValueError):
    """Something of a body cannot be written for a range of the provider. ``place``: where it stands, such as
    ``rules[0].action_parameters.overrides.score_threshold``.
    """

    def __init__(self, place: str, why: str, provider: ProviderRange) -> None:
        super().__init__(f"{place} cannot be written for provider {provider.name}: {why}")
        self.place = place


class EntryPoint(BaseModel):
    """An entry point as it is stored. Its name must be written exactly: another one would have the provider
    delete the entry point and make a new one. ``id``: empty where nobody knows it.
    """

    model_config = ConfigDict(frozen=True)

    id: str
    name: str = ""
    description: str = ""


def address(label: str) -> str:
    """The resource's address in a configuration."""
    return f"{RESOURCE}.{label}"


def import_block(zone: Zone, label: str, entry: EntryPoint, provider: ProviderRange) -> list[str]:
    """The lines of the block that takes the entry point into the state, from Terraform 1.5 on."""
    return block(
        "import",
        Item("to", address(label)),
        Item("id", quoted(provider.import_id(zone.id, entry.id))),
    )


def resource(
    zone: Zone, label: str, body: Mapping[str, Any], entry: EntryPoint, provider: ProviderRange
) -> list[str]:
    """The lines of the resource. Raises Unwritable."""
    if others := sorted(set(body) - {"name", "rules"}):
        raise Unwritable(others[0], "edgeshift does not know it", provider)
    name = entry.name or str(body.get("name") or "default")
    items = [
        Item("zone_id", quoted(zone.id)),
        Item("name", _text("name", name, provider)),
        *(
            [Item("description", _text("description", entry.description, provider))]
            if entry.description
            else []
        ),
        Item("kind", quoted("zone")),
        Item("phase", quoted(PHASE)),
    ]
    bodies = tuple(
        _rule(f"rules[{place}]", rule, provider) for place, rule in enumerate(body.get("rules") or ())
    )
    if bodies:
        items.append(Item("rules", bodies=bodies, many=True))
    lines = block(f'resource "{RESOURCE}" "{label}"', *items, attributes=provider.attributes)
    # Without it, a change of what cannot be changed deletes the entry point, and makes another.
    kept = ["  lifecycle {", "    prevent_destroy = true", "  }"]
    return [*lines[:-1], "", *kept, "}"]


def _rule(place: str, rule: object, provider: ProviderRange) -> tuple[Item, ...]:
    if not isinstance(rule, Mapping):
        raise Unwritable(place, "it is not an object", provider)
    for key in ("action", "expression"):
        if rule.get(key) is None:
            raise Unwritable(f"{place}.{key}", "it is missing", provider)
    said = {key: value for key, value in rule.items() if key not in SERVICE_ASSIGNED}
    if said.get("enabled") is None:
        # Provider 3.x takes a rule that does not say it for one that is off.
        said["enabled"] = True
    if said["action"] == "skip" and said.get("logging") is None:
        # The service stores it so (docs/service.md §2.4), and without it each plan would take it away.
        said["logging"] = {"enabled": True}
    parameters = said.get("action_parameters")
    if isinstance(parameters, Mapping) and "version" in parameters:
        if parameters["version"] not in (None, LATEST):
            why = f"its versions do not all send one, and it is not {LATEST!r}"
            raise Unwritable(f"{place}.action_parameters.version", why, provider)
        said["action_parameters"] = {key: item for key, item in parameters.items() if key != "version"}
    return tuple(_items(place, said, provider.rule, provider))


def _items(place: str, value: Mapping[str, Any], known: Fields, provider: ProviderRange) -> Iterator[Item]:
    """What an object has, single values before what is nested, in the order of the table."""
    if others := [key for key in value if key not in known and value[key] is not None]:
        raise Unwritable(f"{place}.{others[0]}", "the provider has no attribute for it", provider)
    found = [
        item
        for key, field in known.items()
        if value.get(key) is not None and (item := _item(f"{place}.{key}", key, value[key], field, provider))
    ]
    yield from (item for item in found if not item.bodies)
    yield from (item for item in found if item.bodies)


def _item(place: str, key: str, value: Any, field: Field, provider: ProviderRange) -> Item | None:
    """One key of an object, None where it says nothing."""
    match field.kind:
        case Kind.TEXT:
            if value == "" and not field.may_be_empty:
                raise Unwritable(place, "it is empty, which is not sent", provider)
            return Item(key, _text(place, value, provider))
        case Kind.FLAG | Kind.SWITCH:
            return _switch(place, key, value, field, provider)
        case Kind.WHOLE:
            return Item(key, _whole(place, value, provider))
        case Kind.TEXTS:
            texts = _texts(place, value, provider)
            return Item(key, listed(texts)) if texts else None
        case Kind.LISTS:
            return _lists(place, key, value, provider)
        case Kind.ONE:
            if not isinstance(value, Mapping):
                raise Unwritable(place, "it is not an object", provider)
            inner = tuple(_items(place, value, field.inner, provider))
            return Item(key, bodies=(inner,)) if inner else None
    if not isinstance(value, list) or not all(isinstance(item, Mapping) for item in value):
        raise Unwritable(place, "it is not a list of objects", provider)
    bodies = tuple(
        tuple(_items(f"{place}[{at}]", item, field.inner, provider)) for at, item in enumerate(value)
    )
    return Item(key, bodies=bodies, many=True) if bodies else None


def _text(place: str, value: object, provider: ProviderRange) -> str:
    if not isinstance(value, str):
        raise Unwritable(place, "it is not a text", provider)
    if why := unkept(value):
        raise Unwritable(place, why, provider)
    return quoted(value)


def _switch(place: str, key: str, value: object, field: Field, provider: ProviderRange) -> Item:
    if not isinstance(value, bool):
        raise Unwritable(place, "it is neither true nor false", provider)
    if field.kind is Kind.SWITCH and provider.status:
        return Item("status", quoted("enabled" if value else "disabled"))
    return Item(key, "true" if value else "false")


def _whole(place: str, value: object, provider: ProviderRange) -> str:
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if not isinstance(value, int) or isinstance(value, bool):
        raise Unwritable(place, "it is not a whole number", provider)
    if value == 0 and not provider.sends_zero:
        raise Unwritable(place, "it is 0, which the provider does not send", provider)
    return str(value)


def _texts(place: str, value: object, provider: ProviderRange) -> list[str]:
    if not isinstance(value, list):
        raise Unwritable(place, "it is not a list of texts", provider)
    for at, item in enumerate(value):
        _text(f"{place}[{at}]", item, provider)
    return value


def _lists(place: str, key: str, value: object, provider: ProviderRange) -> Item | None:
    if not isinstance(value, Mapping):
        raise Unwritable(place, "it is not an object of lists", provider)
    found: dict[str, str] = {}
    for ruleset, rules in value.items():
        _text(place, ruleset, provider)
        texts = _texts(f"{place}.{ruleset}", rules, provider)
        if not texts:
            continue
        if any("," in text or text != text.strip() or not text for text in texts):
            raise Unwritable(
                f"{place}.{ruleset}", "an identifier is empty, or has a comma or a space", provider
            )
        found[ruleset] = quoted(",".join(texts)) if provider.joins else listed(texts)
    return Item(key, mapped(found)) if found else None
