"""Whether a failed workflow has missed an object of the archive is told by its failure's type and digest, and
by no word of its text.
"""

from __future__ import annotations

from temporalio.exceptions import ApplicationError

from activities.boundary import named
from edgeshift.operations.calls import missing_object
from edgeshift.stores.archive import ArchiveCorrupt, ArchiveError, ArchiveMissing

DIGEST = "d" * 64


def test_an_object_that_is_not_there_is_told_by_its_digest() -> None:
    """Whatever the text says of it; as a message has it, too."""
    assert missing_object(named(ArchiveMissing("not there", DIGEST))) == DIGEST
    assert missing_object(ApplicationError("", {"digest": DIGEST}, type="ArchiveMissing")) == DIGEST


def test_what_is_something_else_is_not_taken_for_it() -> None:
    """A damaged object, of which the text has the digest; a record; what other versions and others say."""
    text = f"the archive has something else under {DIGEST}"
    others: list[ArchiveError] = [ArchiveCorrupt(text), ArchiveError(text), ArchiveMissing(text)]
    assert [missing_object(named(one)) for one in others] == [""] * 3
    for details in ((), ("d",), ({"digest": 1},)):
        assert missing_object(ApplicationError(text, *details, type="ArchiveMissing")) == ""
    assert missing_object(ValueError(text)) == "" and missing_object(None) == ""
