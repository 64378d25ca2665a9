"""How a document becomes the bytes in the archive, and how it is read back.

Everything goes through one pair: ``encoded`` writes canonical JSON (RFC 8785), ``decoded`` reads it as the
model that it has to be. The functions below them do this for objects, by digest, and for named records, by
key.
"""

from __future__ import annotations

import asyncio
import json
import re
from datetime import datetime
from typing import Annotated, Any, ClassVar, TypeVar

from pydantic import AwareDatetime, BaseModel, ConfigDict, PlainSerializer, RootModel, ValidationError

from edgeshift.model.digests import NotCanonical, canonical_bytes
from edgeshift.stores.archive import Archive, ArchiveCorrupt, ArchiveError

Model = TypeVar("Model", bound=BaseModel)
Item = TypeVar("Item")

SLICE = 1_000
"""Items of a long list that are made at a time."""

MOST_NAMED = 3
"""How many mistakes of one document an error names."""

Moment = Annotated[AwareDatetime, PlainSerializer(datetime.isoformat, return_type=str, when_used="json")]
"""A time that is written as ISO 8601 with its offset, such as ``2024-02-01T09:30:00+00:00``."""


class DocumentUnreadable(ArchiveCorrupt):
    """What lies in the archive is not the document it has to be. The text names the document and its
    mistakes, and repeats no value of it.
    """


class Document(BaseModel):
    """A document of the archive. Keys of a later version are ignored; keys without a default must be there.

    ``verbatim``: fields with JSON of the service or of a signed body, written exactly as they are held.
    ``optional``: fields that are not written where they are None.
    """

    model_config = ConfigDict(frozen=True)

    verbatim: ClassVar[frozenset[str]] = frozenset()
    optional: ClassVar[frozenset[str]] = frozenset()

    def contents(self) -> dict[str, Any]:
        """The JSON object that is written."""
        held = self.model_dump(mode="json", exclude=set(self.verbatim))
        held |= {name: getattr(self, name) for name in self.verbatim}
        return {key: value for key, value in held.items() if value is not None or key not in self.optional}


def title_of(model: type[BaseModel]) -> str:
    """What an error calls a document, from its model's name: ``PlanReport`` is a plan report."""
    name = model.__name__.partition("[")[0]
    return re.sub(r"(?<!^)(?=[A-Z])", " ", name).lower()


def contents_of(document: BaseModel) -> Any:
    """The JSON value that a document is."""
    return document.contents() if isinstance(document, Document) else document.model_dump(mode="json")


def encoded(document: BaseModel) -> bytes:
    """The bytes of a document. Raises ArchiveError where it has no canonical JSON, such as a number past
    2^53.
    """
    try:
        return canonical_bytes(contents_of(document))
    except NotCanonical as why:
        raise ArchiveError(f"the {title_of(type(document))} was not archived: {why}") from None


def decoded(model: type[Model], data: bytes, name: str) -> Model:
    """The document that these bytes are. ``name``: where they lie, a digest or a key. Raises
    DocumentUnreadable.
    """
    what = f"the {title_of(model)} {name} in the archive cannot be read"
    try:
        return model.model_validate(json.loads(data))
    except ValidationError as why:
        raise DocumentUnreadable(f"{what}: {mistakes_of(why)}") from None
    except (ValueError, RecursionError):
        raise DocumentUnreadable(f"{what}: it is not JSON") from None


def mistakes_of(why: ValidationError) -> str:
    """What is wrong with a document: each place and what is the matter there, without its value."""
    found = [
        f"{'.'.join(map(str, one['loc'])) or 'it'}: {one['msg'][:80]}"
        for one in why.errors(include_url=False, include_input=False, include_context=False)
    ]
    more = [f"and {len(found) - MOST_NAMED} more"] if len(found) > MOST_NAMED else []
    return "; ".join([*found[:MOST_NAMED], *more])


async def put_document(archive: Archive, document: BaseModel, *, verify: bool = False) -> str:
    """Store a document as an object; its digest. ``verify``: it is read back first. Raises ArchiveError."""
    return await archive.put_object(encoded(document), verify=verify)


async def get_document(archive: Archive, model: type[Model], digest: str) -> Model:
    """The document with this digest. Raises ArchiveError; DocumentUnreadable where it is another thing."""
    return decoded(model, await archive.get_object(digest), digest[:12])


async def get_list(archive: Archive, model: type[RootModel[tuple[Item, ...]]], digest: str) -> list[Item]:
    """The items of a document that is a list. Whatever else the process does goes on meanwhile, which the
    hundred thousand targets of a campaign would hold up for more than a second: a thread is no help, since
    the models are made in one go there, too. Raises as ``get_document``.
    """
    data = await archive.get_object(digest)
    try:
        return await _in_slices(model, json.loads(data))
    except (ValueError, TypeError, RecursionError):
        # What is wrong, and where, is told of the whole.
        return list(decoded(model, data, digest[:12]).root)


async def _in_slices(model: type[RootModel[tuple[Item, ...]]], values: Any) -> list[Item]:
    """Raises ValidationError, and TypeError where it is no list."""
    if not isinstance(values, list):
        raise TypeError
    found: list[Item] = []
    for first in range(0, len(values), SLICE):
        found += model.model_validate(values[first : first + SLICE]).root
        await asyncio.sleep(0)
    return found


async def create_record(archive: Archive, key: str, document: BaseModel, *, lasting: bool = True) -> bool:
    """Create a named record, once; False where one was there, which stays. ``lasting``: as of the archive.
    Raises ArchiveError.
    """
    return await archive.create_once(key, encoded(document), lasting=lasting)


async def get_record(archive: Archive, model: type[Model], key: str) -> Model | None:
    """The named record, or None where there is none. Raises ArchiveError; DocumentUnreadable where it is
    another thing.
    """
    data = await archive.get_named(key)
    return None if data is None else decoded(model, data, key)
