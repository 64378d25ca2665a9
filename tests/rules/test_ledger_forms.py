"""A packed ledger has one form: in JSON it is Base64, and anything else is refused."""

from __future__ import annotations

from contextlib import suppress
from itertools import count

import pytest
from hypothesis import given
from hypothesis import strategies as st
from temporalio.contrib.pydantic import pydantic_data_converter

from edgeshift.campaign.ledger import FORM, PARTS, Ledger
from edgeshift.campaign.packing import (
    Bits,
    as_text,
    join,
    of_text,
    pack,
    pack_bits,
    pack_numbers,
    pack_wide,
    split,
    unpack,
    unpack_numbers,
    unpack_wide,
)
from edgeshift.campaign.start import campaign_start
from edgeshift.campaign.target_states import TargetState
from edgeshift.campaign_file.spec import CampaignSpec
from edgeshift.messages import Again, CampaignCarried, CampaignResult, CampaignStart, Step
from edgeshift.model.fleet import Wave
from edgeshift.model.sign_off import Choice, Decision
from tests.rules.ledger_kit import FORTNIGHT, HOUR, NOW, OTHER, SHAPE, awaiting, ledger, said
from tests.rules.test_campaign_spec import FULL


def full() -> Ledger:
    """A ledger that has something of everything that is carried."""
    found = ledger()
    for index, shape in enumerate((SHAPE, OTHER, SHAPE)):
        found.hear(awaiting(index=index, fingerprint=shape), NOW)
    said(found, Decision(choice=Choice.APPROVE, digest=SHAPE, by="ann", at=NOW, reason="fine"))
    said(found, Decision(choice=Choice.REJECT, digest="e" * 64, by="bob"), wave=2)
    found.permit(3, Step.VALIDATE, "c", NOW + HOUR, count(1).__next__)
    found.exclude(9, "taken")
    found.places[4] = TargetState.REJECTED
    found.again(4, named=True)
    for number, indexes in enumerate(
        (found.held, found.duplicate_sequences, found.newer_attempts, found.woken_after_end), 5
    ):
        indexes.add(number)
    found.accepted.add(8)
    found.asked[1] = "a-run"
    return found


PACKED = full().packed()


START = campaign_start(
    CampaignSpec.model_validate(FULL),
    "a" * 64,
    targets="b" * 64,
    count=10,
    waves=(Wave(number=0, name="all", first=0, end=10),),
    enterprise="",
    started_by="ann",
)


def unpacked(packed: bytes, many: int = 10) -> Ledger:
    found = Ledger(many, NOW, FORTNIGHT / 100)
    found.unpack(packed)
    return found


def with_part(name: str, part: bytes) -> bytes:
    parts = split(PACKED[1:])
    parts[PARTS.index(name)] = part
    return PACKED[:1] + join(parts)


def test_all_of_it_is_carried() -> None:
    """Whatever a next run has to know."""
    before, after = full(), unpacked(PACKED)
    assert after.packed() == PACKED and after.permits == before.permits and after.asked == before.asked
    assert (after.held, after.duplicate_sequences, after.newer_attempts, after.woken_after_end) == (
        {5},
        {6},
        {7},
        {8},
    )
    assert (after.accepted, after.reopened, after.ended_as) == ({8}, {4}, {4: TargetState.REJECTED})
    assert after.book.latest(9) == before.book.latest(9) and after.excluded == before.excluded
    assert list(after.waiters.numbers()) == list(before.waiters.numbers()) == [1, 2]
    groups = [group for shape in (1, 2) for group, _ in before.waiters.groups(shape)]
    assert [after.waiters.members(group) for group in groups] == [[0, 2], [1]]


@given(st.integers(0, len(PACKED) - 1))
def test_a_ledger_that_is_cut_off_is_refused(end: int) -> None:
    """Wherever it ends."""
    with pytest.raises(ValueError):
        unpacked(PACKED[:end])


@given(st.integers(0, len(PACKED) - 1), st.integers(1, 255))
def test_a_ledger_with_a_wrong_byte_is_refused_or_is_read(place: int, other: int) -> None:
    """It fails in no other way."""
    wrong = bytearray(PACKED)
    wrong[place] ^= other
    with suppress(ValueError):
        unpacked(bytes(wrong))


@pytest.mark.parametrize(
    "packed",
    [
        b"",
        bytes([FORM + 1]) + PACKED[1:],
        b"{}",
        PACKED + b"\0",
        PACKED + join([b""]),
        with_part("places", pack(bytes(9))),
        with_part("places", pack(bytes([15]) + bytes(9))),
        with_part("places", pack(bytes(10)) + b"more"),
        with_part("places", bytes(10)),
        with_part("ended_as", pack(bytes(11))),
        with_part("shapes", pack_numbers([3] * 10)),
        with_part("shapes", pack(bytes(19))),
        with_part("known", bytes(63)),
        with_part("steps", pack(bytes(3))),
        with_part("steps", pack(bytes([99, 99]))),
        with_part("book", join([b""] * 8)),
        with_part("book", b""),
        with_part("rest", pack(b"[]")),
        with_part("rest", pack(b'{"excluded": {}, "permits": [[1, 1, 0, 0, 5]]}')),
        with_part("rest", pack(b'{"excluded": {}, "permits": [[1, 1, 0, 9223372036854775807000, 0]]}')),
        PACKED[:1] + join([*split(PACKED[1:])[:-1], pack_bits([10], 11)]),
    ],
)
def test_what_does_not_have_the_form_is_refused(packed: bytes) -> None:
    """An unknown form, lengths that do not fit, and numbers of what is not there."""
    with pytest.raises(ValueError):
        unpacked(packed)


@pytest.mark.parametrize(
    ("column", "numbers"),
    [(1, [4, 0]), (2, [1, 9]), (2, [1, -1]), (4, [0, 0]), (5, [0, 9]), (6, [0]), (7, [2, 1]), (8, [0, 5])],
)
def test_a_book_that_does_not_fit_itself_is_refused(column: int, numbers: list[int]) -> None:
    """Each of its columns, with a number that names nothing, or of another length."""
    book = split(split(PACKED[1:])[PARTS.index("book")])
    book[column] = pack_wide(numbers)
    with pytest.raises(ValueError):
        unpacked(with_part("book", join(book)))


def test_a_ledger_of_other_targets_is_refused() -> None:
    """More or fewer than the campaign has."""
    for many in (9, 11):
        with pytest.raises(ValueError, match="another number of targets"):
            unpacked(PACKED, many)


# --- in messages


def test_a_campaign_takes_its_ledger_beside_its_start() -> None:
    """As bytes that nothing encodes; the start has none of it then, and is otherwise the same."""
    carried = CampaignCarried(ledger=PACKED, started_at=NOW, wave=1)
    start = START.model_copy(update={"carried": carried, "again": Again(by="ann")})
    alone, packed = start.arguments()
    assert packed == PACKED and alone.carried is not None and alone.carried.ledger == b""
    back = alone.model_copy(update={"carried": alone.carried.model_copy(update={"ledger": packed})})
    assert back == start and START.arguments() == (START, b"")
    payloads = pydantic_data_converter.payload_converter.to_payloads([alone, packed])
    assert payloads[1].metadata["encoding"] == b"binary/plain" and payloads[1].data == PACKED
    read = pydantic_data_converter.payload_converter.from_payloads(payloads, [CampaignStart, bytes])
    assert read == [alone, PACKED]


def test_a_result_has_the_ledger_in_base64() -> None:
    """And gives it back; what is no Base64 is refused."""
    carried = CampaignCarried(ledger=bytes(range(256)), started_at=NOW, wave=1)
    result = CampaignResult(outcomes={}, carried=carried)
    text = result.model_dump_json()
    assert CampaignResult.model_validate_json(text) == result
    with pytest.raises(ValueError):
        CampaignResult.model_validate_json(text.replace("AAECAw", "****"))


# --- packing


@given(st.lists(st.integers(-(2**62), 2**62)), st.lists(st.integers(0, 65_535)))
def test_numbers_come_back(wide: list[int], narrow: list[int]) -> None:
    """Of any size that they are packed for."""
    assert unpack_wide(pack_wide(wide)) == wide and list(unpack_numbers(pack_numbers(narrow))) == narrow


@given(st.lists(st.binary(max_size=300)), st.binary(max_size=9_000))
def test_parts_and_texts_come_back(parts: list[bytes], data: bytes) -> None:
    """Also empty ones."""
    assert split(join(parts), len(parts)) == parts and of_text(as_text(data)) == data
    assert unpack(pack(data)) == data


@pytest.mark.parametrize("wrong", ["****", "abc", "é"])
def test_text_that_is_not_packed_is_refused(wrong: str) -> None:
    """With one kind of error."""
    with pytest.raises(ValueError):
        Bits(of_text(wrong))
