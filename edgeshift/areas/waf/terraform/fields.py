"""What a rule of a WAF entry point may have, and what each is called in Terraform: tables as data. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum


class Kind(Enum):
    """What a value is at the service, and how it is written.

    ``SWITCH``: true or false, written as the range says on and off. ``TEXTS``: texts whose order says
    nothing. ``LISTS``: lists of identifiers by the identifier of their ruleset. ``ONE``: an object.
    ``MANY``: objects in their order.
    """

    TEXT = "text"
    FLAG = "flag"
    SWITCH = "switch"
    WHOLE = "whole"
    TEXTS = "texts"
    LISTS = "lists"
    ONE = "one"
    MANY = "many"


@dataclass(frozen=True)
class Field:
    """One key of the service's JSON. ``inner``: what an object has. ``may_be_empty``: whether an empty text
    is sent as it is, or means the same as none.
    """

    kind: Kind
    inner: Mapping[str, Field] = field(default_factory=dict)
    may_be_empty: bool = False


Fields = Mapping[str, Field]

TEXT, FLAG, SWITCH = Field(Kind.TEXT), Field(Kind.FLAG), Field(Kind.SWITCH)
WHOLE, TEXTS, LISTS = Field(Kind.WHOLE), Field(Kind.TEXTS), Field(Kind.LISTS)

_RULE_OVERRIDE: Fields = {
    "id": TEXT,
    "action": TEXT,
    "enabled": SWITCH,
    "score_threshold": WHOLE,
    "sensitivity_level": TEXT,
}


def rule_fields(*, categories_have_sensitivity: bool) -> Fields:
    """Everything that a rule may have. ``categories_have_sensitivity``: whether an override of a category has
    a ``sensitivity_level``.
    """
    category: Fields = {"category": TEXT, "action": TEXT, "enabled": SWITCH}
    if categories_have_sensitivity:
        category = {**category, "sensitivity_level": TEXT}
    overrides: Fields = {
        "action": TEXT,
        "enabled": SWITCH,
        "sensitivity_level": TEXT,
        "categories": Field(Kind.MANY, category),
        "rules": Field(Kind.MANY, _RULE_OVERRIDE),
    }
    parameters: Fields = {
        "id": TEXT,
        "ruleset": TEXT,
        "rulesets": TEXTS,
        "phases": TEXTS,
        "products": TEXTS,
        "rules": LISTS,
        "increment": WHOLE,
        "matched_data": Field(Kind.ONE, {"public_key": TEXT}),
        "overrides": Field(Kind.ONE, overrides),
        "response": Field(Kind.ONE, {"status_code": WHOLE, "content_type": TEXT, "content": TEXT}),
    }
    return {
        "action": TEXT,
        "expression": TEXT,
        "description": Field(Kind.TEXT, may_be_empty=True),
        "enabled": FLAG,
        "action_parameters": Field(Kind.ONE, parameters),
        "exposed_credential_check": Field(
            Kind.ONE, {"username_expression": TEXT, "password_expression": TEXT}
        ),
        "logging": Field(Kind.ONE, {"enabled": SWITCH}),
        "ratelimit": Field(
            Kind.ONE,
            {
                "characteristics": TEXTS,
                "period": WHOLE,
                "requests_per_period": WHOLE,
                "score_per_period": WHOLE,
                "score_response_header_name": TEXT,
                "mitigation_timeout": WHOLE,
                "counting_expression": TEXT,
                "requests_to_origin": FLAG,
            },
        ),
    }
