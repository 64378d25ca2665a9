"""Folders and object stores by their URLs, with the credentials of the environment or of the instance, as
docs/operators.md lists them: never with any in the URL, and none of a profile.
"""

from __future__ import annotations

import os
import re
from datetime import timedelta
from pathlib import Path
from urllib.parse import SplitResult, unquote

from obstore.exceptions import BaseError, NotFoundError
from obstore.store import ObjectStore, from_url

_CREDENTIALS: dict[str, tuple[tuple[tuple[str, ...], str], ...]] = {
    "S3": (
        (
            (
                "AWS_ACCESS_KEY_ID",
                "AWS_WEB_IDENTITY_TOKEN_FILE",
                "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
                "AWS_CONTAINER_CREDENTIALS_FULL_URI",
            ),
            "AWS_ACCESS_KEY_ID is not set here, and profiles are not read",
        ),
        (("AWS_REGION", "AWS_DEFAULT_REGION"), "AWS_REGION is not set here"),
    ),
    "MicrosoftAzure": (
        (("AZURE_STORAGE_ACCOUNT_NAME",), "AZURE_STORAGE_ACCOUNT_NAME is not set here"),
        (
            (
                "AZURE_STORAGE_ACCOUNT_KEY",
                "AZURE_STORAGE_ACCESS_KEY",
                "AZURE_STORAGE_MASTER_KEY",
                "AZURE_STORAGE_SAS_KEY",
                "AZURE_STORAGE_SAS_TOKEN",
                "AZURE_STORAGE_TOKEN",
                "AZURE_STORAGE_CLIENT_ID",
                "AZURE_CLIENT_ID",
                "AZURE_FEDERATED_TOKEN_FILE",
                "AZURE_USE_AZURE_CLI",
            ),
            "AZURE_STORAGE_ACCOUNT_KEY is not set here, and `az login` counts only with"
            " AZURE_USE_AZURE_CLI=true",
        ),
    ),
    "GCS": (
        (
            (
                "GOOGLE_APPLICATION_CREDENTIALS",
                "GOOGLE_SERVICE_ACCOUNT",
                "GOOGLE_SERVICE_ACCOUNT_PATH",
                "GOOGLE_SERVICE_ACCOUNT_KEY",
                "GOOGLE_BEARER_TOKEN",
            ),
            "GOOGLE_APPLICATION_CREDENTIALS is not set here",
        ),
    ),
}
"""By the name that a store has in its failures: variables of which one is needed where the instance gives no
credentials, and what is said where none is set.
"""


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
            f"the {parts.scheme} URL carries credentials or options; set them in the environment"
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
    """The kind of a store's failure in words: "permission denied". Its text can carry a whole request. Of one
    that has no kind, what of the store's variables is not set.
    """
    kind = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", type(why).__name__.removesuffix("Error")).lower()
    if kind == "generic":
        return "the store says no more" + (f"; {lacking}" if (lacking := _not_set(why)) else "")
    return "the system says no more" if kind == "os" else kind


def _not_set(why: Exception) -> str:
    """What is said of the first variable that the store of this failure may need, and that is not set."""
    store = re.match(r"Generic (\w+) error", str(why))
    for names, said in _CREDENTIALS.get(store.group(1) if store else "", ()):
        if not any(os.environ.get(name) for name in names):
            return said
    return ""


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
