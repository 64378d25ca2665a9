"""Names of custom fields: refused in the plan, before anything is sent, with a word on what is right."""

from __future__ import annotations

import pytest

from edgeshift.areas.log_fields import (
    CustomField,
    Kind,
    fields_document,
    fields_of,
    fields_of_document,
    mistakes,
    too_many,
)
from edgeshift.areas.log_fields.terms import FieldSet, LogFieldsSpec
from edgeshift.profiles import PUBLIC_2025_04, SPECIFICATION


def headers(count: int) -> tuple[str, ...]:
    return tuple(f"x-{number}" for number in range(count))


def only(field: CustomField) -> FieldSet:
    return FieldSet(**{field.kind.attribute: (field.name,)})


def test_right_names_are_no_mistake() -> None:
    """Header names in lower case, cookies as they are."""
    fields = FieldSet(
        request_headers=("x-foo", "content-type"), response_headers=("x-foo",), cookies=("Foo", "__Host-id")
    )
    assert mistakes(fields) == []


@pytest.mark.parametrize("kind", [Kind.REQUEST, Kind.RESPONSE])
def test_an_upper_case_header_is_told_how_to_be_written(kind: Kind) -> None:
    """The service takes header names in lower case."""
    (found,) = mistakes(only(CustomField(kind, "X-Foo")))
    assert f"{kind.attribute}: 'X-Foo'" in found and 'write "x-foo"' in found


def test_cookies_that_differ_in_case_are_two() -> None:
    """The case of a cookie counts."""
    assert mistakes(FieldSet(cookies=("Foo", "foo"))) == []
    (found,) = mistakes(FieldSet(cookies=("Foo", "Foo")))
    assert "twice" in found


def test_a_header_named_twice_is_a_mistake_also_in_another_case() -> None:
    """The campaign's list and a zone's additions may meet in one name."""
    found = mistakes(FieldSet(request_headers=("x-foo", "X-Foo")))
    assert len(found) == 2 and "twice" in found[1]
    assert mistakes(FieldSet(request_headers=("x-foo",), response_headers=("x-foo",))) == []


@pytest.mark.parametrize(
    ("name", "said"), [("", "empty"), ("x foo", "' '"), ("x-foo: 1", "':'"), ("é", "'é'"), ("a\nb", "n'")]
)
@pytest.mark.parametrize("kind", list(Kind))
def test_what_is_no_name_is_told_where(kind: Kind, name: str, said: str) -> None:
    """The list, the name and the sign that cannot be in it."""
    (found,) = mistakes(only(CustomField(kind, name)))
    assert found.startswith(kind.attribute) and said in found


def test_no_field_at_all_is_a_mistake() -> None:
    """A rule needs at least one field."""
    (found,) = mistakes(FieldSet())
    assert "at least one" in found


def test_forty_fields_are_right_and_the_next_is_refused() -> None:
    """The limit counts over the three kinds together; the later profile knows none."""
    fields = FieldSet(request_headers=headers(20), response_headers=headers(10), cookies=headers(10))
    assert mistakes(fields) == []
    assert too_many(fields, SPECIFICATION) == []
    more = fields.model_copy(update={"cookies": headers(11)})
    (found,) = too_many(more, SPECIFICATION)
    assert too_many(more, PUBLIC_2025_04) == []
    assert found.startswith("41 custom fields") and "leave out 1" in found


def test_a_zones_own_fields_come_after_the_campaigns() -> None:
    """By the zone's name or identifier; and a body that people sign gives the same fields again."""
    spec = LogFieldsSpec(
        request_headers=("x-all",), zones={"a.example": FieldSet(cookies=("Own",), request_headers=("x-a",))}
    )
    wanted = spec.wanted("0" * 32, "a.example")
    assert [str(field) for field in fields_of(wanted)] == [
        "request header x-all",
        "request header x-a",
        "cookie Own",
    ]
    assert fields_of_document(fields_document(wanted)) == wanted
