"""TLS towards outside systems: the usual authorities, and maybe those of a file of one's own."""

from __future__ import annotations

import ssl
from functools import lru_cache
from pathlib import Path

import httpx


class BadCaFile(ValueError):
    """A file of authorities that is not there, or that is none; the text names it."""


def tls_context(ca_file: str | None) -> ssl.SSLContext:
    """The context with the authorities of ``ca_file`` (PEM) beside the usual ones. Raises BadCaFile.

    It is the same one until the file changes, for as long as the process runs: reading the authorities takes
    as long as many requests.
    """
    if ca_file is None:
        return _context(None, 0)
    try:
        return _context(ca_file, Path(ca_file).stat().st_mtime_ns)
    except FileNotFoundError:
        raise BadCaFile(f"ca_file: there is no file {ca_file}") from None
    except (OSError, ValueError, ssl.SSLError):
        raise BadCaFile(f"ca_file: {ca_file} is not a readable file of PEM certificates") from None


@lru_cache(maxsize=16)
def _context(ca_file: str | None, changed: int) -> ssl.SSLContext:
    context: ssl.SSLContext = httpx.create_ssl_context(trust_env=False)
    if ca_file is not None:
        context.load_verify_locations(cafile=ca_file)
    return context
