"""Folders and object stores by their URLs, with the credentials that their own tools use (environment,
profile, instance): never with any in the URL.
"""

from __future__ import annotations

import os
import re
from datetime import timedelta
from pathlib import Path
from urllib.parse import SplitResult, unquote

from obstore.exceptions import BaseError, NotFoundError
from obstore.store import ObjectStore, from_url


class StoreRefused(ValueError):
    """A URL by which no store is opened. The text says why, and repeats nothing of the URL but its scheme."""


def folder_of(parts: SplitResult) -> Path | None:
    """The folder that a ``file:///PATH`` URL names; None for any other URL."""
    local = parts.scheme == "file" and not parts.netloc and len(parts.path) > 1
    return Path(unquote(parts.path)) if local else None


def remote_store(parts: SplitResult, *, limit: timedelta) -> tuple[ObjectStore, str]:
    """The store that the URL names, and its name. ``limit``: how long one call may take, tries included.

    Raises StoreRefused for a URL with credentials or options, and for one that cannot be opened.
    """
    if parts.username or parts.password or parts.query:
        raise StoreRefused(
            f"the {parts.scheme} URL carries credentials or options; set them in the environment, as its own"
            " tools have them"
        )
    name = f"{parts.scheme}://{parts.netloc}{parts.path.rstrip('/')}"
    try:
        store = from_url(
            name,
            client_options={"timeout": limit / 4, "allow_http": _plain_endpoint()},
            retry_config={"max_retries": 3, "retry_timeout": limit},
        )
    except (BaseError, OSError, ValueError) as why:
        # It may have a password after all: one with a slash in it is not told from a path.
        raise StoreRefused(f"the {parts.scheme} URL cannot be opened ({in_words(why)})") from None
    return store, name


def in_words(why: Exception) -> str:
    """The kind of a store's failure in words: "permission denied". Its text can carry a whole request."""
    kind = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", type(why).__name__.removesuffix("Error")).lower()
    return {"generic": "the store says no more", "os": "the system says no more"}.get(kind, kind)


def reason_of(why: Exception, *, local: bool) -> str:
    """Why something could not be done, in words. ``local``: in a folder. Texts of a store can carry whole
    requests: only their kind and, of a folder, the reason is named.
    """
    if isinstance(why, OSError) and why.strerror:
        return why.strerror
    if not local and isinstance(why, NotFoundError | FileNotFoundError):
        return "the store has no such bucket or container"
    if local and (found := re.search(r"\(os error (\d+)\)", str(why))):
        return os.strerror(int(found.group(1)))
    return in_words(why)


def _plain_endpoint() -> bool:
    """Whether the environment names an endpoint by http, as a store on one's own machine has it."""
    names = ("AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT")
    return any(os.environ.get(name, "").startswith("http://") for name in names)
