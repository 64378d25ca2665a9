"""Where a log job pushes to: `<scheme>://<bucket_path>?region=<region>` and the other forms (docs/service.md
§2.3, §4.2).

An address may carry credentials: nothing here puts it, or a part of it, into a text.
"""

import ipaddress
import re
from dataclasses import dataclass, field
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

DATE = "{DATE}"
BUCKETS = ("s3", "gs", "azure", "r2")
SERVICES = ("datadog", "splunk")
SCHEMES = (*BUCKETS, *SERVICES, "https", "http")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:-]*")
_PART = re.compile(r"[A-Za-z0-9!_.*'()=+@,:{} -]+")
_REGION = re.compile(r"[a-z0-9-]+")
_HEADER = "header_"


@dataclass(frozen=True)
class Destination:
    """A destination's address, taken apart. `name` is the bucket or the host; `path` neither begins nor ends
    with a slash.

    `url` and `headers` say where to post to, for https and http alone; they stay out of every repr.
    """

    scheme: str
    name: str
    path: str
    endpoint: bool = False
    url: str = field(default="", repr=False)
    headers: tuple[tuple[str, str], ...] = field(default=(), repr=False)

    @property
    def place(self) -> str:
        """What an ownership challenge is good for: the address without its parameters."""
        return f"{self.scheme}://{self.name}/{self.path}"

    @property
    def needs_challenge(self) -> bool:
        return self.scheme in ("s3", "gs", "azure") and not self.endpoint

    @property
    def posts(self) -> bool:
        return self.scheme in ("https", "http")


def parsed(address: str) -> Destination:
    """The destination that an address names. Raises ValueError saying what is wrong, without the address."""
    try:
        parts = urlsplit(address)
        port_is_right = parts.port != 0
    except ValueError:
        raise ValueError("it is no address") from None
    if parts.scheme not in SCHEMES or "://" not in address:
        raise ValueError(f"it must begin with one of {', '.join(f'{one}://' for one in SCHEMES)}")
    if not parts.netloc or not port_is_right:
        raise ValueError("it names no bucket or host")
    given = dict(parse_qsl(parts.query, keep_blank_values=True))
    if parts.scheme in ("https", "http"):
        return _posting(parts.scheme, parts.netloc, parts.path, parts.query, parts.hostname or "")
    path = parts.path.removeprefix("/").removesuffix("/")
    below = path.split("/") if path else []
    if not _NAME.fullmatch(parts.netloc) or not all(_PART.fullmatch(one) for one in below):
        raise ValueError("its bucket or path has a sign that cannot stand there")
    if any(one.strip(". ") == "" for one in below):
        raise ValueError("its path has an empty part, or one of dots alone")
    if parts.scheme == "s3" and "region" not in given:
        raise ValueError("the parameter region is required")
    if "region" in given and not _REGION.fullmatch(given["region"]):
        raise ValueError("the parameter region must be small letters, digits and '-'")
    endpoint = parts.scheme == "s3" and bool(given.get("endpoint"))
    return Destination(parts.scheme, parts.netloc, path, endpoint)


def on_this_machine(host: str) -> bool:
    """Whether a host name is this machine's own."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _posting(scheme: str, netloc: str, path: str, query: str, host: str) -> Destination:
    if not host or "@" in netloc:
        raise ValueError("it must name a host; credentials go into parameters such as header_Authorization")
    if scheme == "http" and not on_this_machine(host):
        raise ValueError("http:// goes to this machine alone; use https://")
    pairs = parse_qsl(query, keep_blank_values=True)
    headers = tuple((key[len(_HEADER) :], value) for key, value in pairs if key.startswith(_HEADER))
    if any(not name or not _NAME.fullmatch(name) or not value.isprintable() for name, value in headers):
        raise ValueError("a parameter header_NAME is no header")
    kept = urlencode([(key, value) for key, value in pairs if not key.startswith(_HEADER)])
    url = urlunsplit((scheme, netloc, path or "/", kept, ""))
    return Destination(scheme, netloc, path.strip("/"), url=url, headers=headers)
