"""How messages become payloads of Temporal, and how they are read: by pydantic, as its own converter does.

The SDK makes a converter for each workflow and two for each of its tasks. Pydantic's own begins each time
without the types that it has learnt to read; these share them.
"""

from __future__ import annotations

from temporalio.contrib.pydantic import PydanticPayloadConverter
from temporalio.converter import CompositePayloadConverter, DataConverter

_SHARED = PydanticPayloadConverter().converters
"""By their encodings. They keep nothing of what they convert, and may be used by several threads."""


class PayloadConverter(CompositePayloadConverter):
    """Converts as PydanticPayloadConverter does."""

    def __init__(self) -> None:
        # Not the base's, which would put together what there is already.
        self.converters = _SHARED


data_converter = DataConverter(payload_converter_class=PayloadConverter)
"""Of each client, worker and replay."""
