"""Opening an archive by its URL."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from urllib.parse import urlsplit

from obstore.store import ObjectStore

from edgeshift.runtime.files import path_named
from edgeshift.stores.archive_errors import ArchiveMisconfigured
from edgeshift.stores.archive_keys import IDENTITY
from edgeshift.stores.folder_place import FolderPlace
from edgeshift.stores.object_stores import StoreRefused, folder_of, remote_store

_REMOTE = ("s3", "s3a", "gs", "az", "adl", "abfs", "abfss")
_REMOTE_LIMIT = timedelta(seconds=60)


def opened(url: str, *, make: bool) -> tuple[FolderPlace | None, ObjectStore | None, str]:
    """The folder, or the store, and its name: a folder's store is opened once the folder is there. ``make``:
    see FolderPlace. Raises ArchiveMisconfigured.
    """
    if "://" not in url:
        return _folder(url, make=make)
    try:
        parts = urlsplit(url)
    except ValueError:
        parts = urlsplit("")
    if (folder := folder_of(parts)) is not None:
        return _folder(folder, make=make)
    if parts.scheme not in _REMOTE or not parts.netloc:
        raise ArchiveMisconfigured(
            "archive: write it as a folder (/path or file:///path), s3://BUCKET/PREFIX, gs://BUCKET/PREFIX or"
            " az://CONTAINER/PREFIX (it is not repeated here)"
        )
    try:
        return None, *remote_store(parts, limit=_REMOTE_LIMIT)
    except StoreRefused as why:
        raise ArchiveMisconfigured(f"archive: {why}") from None


def _folder(named: str | Path, *, make: bool) -> tuple[FolderPlace, None, str]:
    path = Path(named)
    try:
        path = path_named(path).absolute()
        return FolderPlace(path, make=make, named_by=IDENTITY), None, str(path)
    except OSError as why:
        raise ArchiveMisconfigured(f"archive: the folder {path} cannot be used: {why.strerror}") from None
