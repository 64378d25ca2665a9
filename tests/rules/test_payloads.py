"""Payloads: as pydantic's own converter makes and reads them, by converters that are made once."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from temporalio.contrib.pydantic import pydantic_data_converter
from temporalio.converter import DataConverter

from edgeshift.messages import Permit, Step
from edgeshift.runtime.payloads import data_converter

PERMIT = Permit(
    number=1, name="p-1", index=0, step=Step.COMMIT, expires_at=datetime(2026, 1, 2, 3, 4, tzinfo=UTC)
)


@pytest.mark.parametrize(
    "value, hint",
    [(PERMIT, Permit), ([PERMIT], list[Permit]), (b"bytes", bytes), (None, type(None)), ({"a": [1.5]}, Any)],
)
def test_payloads_are_those_of_pydantics_own_converter(value: Any, hint: type) -> None:
    """Histories of before are read, and whoever reads with the usual converter reads what is written."""
    ours, usual = data_converter.payload_converter, pydantic_data_converter.payload_converter
    payloads = ours.to_payloads([value])
    assert payloads == usual.to_payloads([value])
    assert ours.from_payloads(payloads, [hint]) == usual.from_payloads(payloads, [hint]) == [value]


def test_what_one_converter_has_learnt_to_read_the_next_one_knows() -> None:
    """The SDK makes some for each task of a workflow."""

    def reader(converter: DataConverter) -> Any:
        made = DataConverter(payload_converter_class=converter.payload_converter_class)
        return made.payload_converter_class().converters[b"json/plain"]  # type: ignore[attr-defined]

    assert reader(data_converter) is reader(data_converter)
