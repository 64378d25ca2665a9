"""Objects on their way out: into a bucket's folder, or by HTTP POST."""

import asyncio
import gzip
import http.client
import os
import ssl
from datetime import datetime
from pathlib import Path
from urllib.parse import urlsplit

from edgeshift.testbed.simulator.logs.destinations import DATE, Destination, on_this_machine

POST_SECONDS = 5.0


class DeliveryError(Exception):
    """Something could not be delivered; the text says why, without the destination's address."""


def bucket_folder(buckets: Path, destination: Destination) -> Path:
    """The folder that stands for a destination's bucket: SCHEME/BUCKET below `buckets`."""
    return buckets / destination.scheme / destination.name.replace(":", "_")


def put_object(
    buckets: Path, destination: Destination, key: str, content: bytes, at: datetime | None = None
) -> None:
    """Write an object of a bucket, whole or not at all. `at`: when, if not now. Raises `DeliveryError`."""
    file = bucket_folder(buckets, destination) / key
    partial = file.with_name(f".{file.name}.partial")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        partial.write_bytes(content)
        if at is not None:
            os.utime(partial, (at.timestamp(),) * 2)
        partial.replace(file)
    except OSError as error:
        said = error.strerror or type(error).__name__
        raise DeliveryError(f"error writing object: {said}") from None


def object_key(destination: Destination, day: str, name: str) -> str:
    """Where an object lies in its bucket: below the path, in a folder of the day (YYYYMMDD), which stands
    where the path says {DATE}."""
    path = destination.path
    folder = path.replace(DATE, day) if DATE in path else f"{path}/{day}"
    return f"{folder}/{name}".lstrip("/")


async def deliver(
    buckets: Path,
    destination: Destination,
    *,
    day: str,
    name: str,
    lines: bytes,
    compressed: bool,
    at: datetime,
) -> None:
    """Push lines of NDJSON to a destination. `at`: when, by the simulator's clock, by which its buckets say
    it. Raises `DeliveryError`."""
    content = gzip.compress(lines, mtime=0) if compressed else lines
    if destination.posts:
        await asyncio.to_thread(_post, destination, content, compressed)
    else:
        suffix = ".log.gz" if compressed else ".log"
        put_object(buckets, destination, object_key(destination, day, name + suffix), content, at)


def _post(destination: Destination, content: bytes, compressed: bool) -> None:
    parts = urlsplit(destination.url)
    host = parts.hostname or ""
    if not on_this_machine(host):
        raise DeliveryError("the simulator posts to this machine alone")
    headers = {"content-type": "application/x-ndjson", **dict(destination.headers)}
    if compressed:
        headers["content-encoding"] = "gzip"
    target = f"{parts.path}?{parts.query}" if parts.query else parts.path
    try:
        connection: http.client.HTTPConnection
        if parts.scheme == "https":
            context = ssl.create_default_context()
            connection = http.client.HTTPSConnection(host, parts.port, timeout=POST_SECONDS, context=context)
        else:
            connection = http.client.HTTPConnection(host, parts.port, timeout=POST_SECONDS)
        try:
            connection.request("POST", target, body=content, headers=headers)
            status = connection.getresponse().status
        finally:
            connection.close()
    except (OSError, http.client.HTTPException) as error:
        raise DeliveryError(f"error posting: {type(error).__name__}") from None
    if not 200 <= status < 300:
        raise DeliveryError(f"error posting: the destination answered {status}")
