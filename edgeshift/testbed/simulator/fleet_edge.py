"""The models of what a fleet's edge does: Edge Side Code, features, origins (docs/fleet-format.md)."""

from typing import Literal, get_args

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from edgeshift.profiles import PROFILES
from edgeshift.testbed.simulator.fleet_strict import Strict

EscKind = Literal[
    "redirect",
    "tls_sni",
    "resolved_host",
    "host_header",
    "url_rewrite",
    "request_header",
    "feature_exception",
    "custom_error",
    "response_header",
    "status_redirect",
]
EdgeFeature = Literal["email_obfuscation", "rocket_loader", "automatic_https_rewrites"]
EDGE_FEATURES: tuple[EdgeFeature, ...] = get_args(EdgeFeature)
Noise = Literal["request_id", "nonce", "timestamp", "cookies", "coin_flip"]
NOISE: tuple[Noise, ...] = get_args(Noise)
HeaderOperation = Literal["set", "add", "remove"]

SECRET_CHARACTERS = max(one.longest_esc_secret for one in PROFILES.values())
"""The longest secret of any profile (docs/service.md §8)."""

# What each kind needs, and what it can have besides; `kind` and `path` go with all.
_PARTS: dict[EscKind, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "redirect": (("to",), ("status",)),
    "tls_sni": (("to",), ()),
    "resolved_host": (("to",), ()),
    "host_header": (("to",), ()),
    "url_rewrite": ((), ("to", "query")),
    "request_header": (("name",), ("operation", "value")),
    "feature_exception": (("feature",), ("enabled",)),
    "custom_error": (("body",), ("statuses", "status", "content_type")),
    "response_header": (("name",), ("operation", "value")),
    "status_redirect": (("to",), ("statuses", "status")),
}
_REDIRECTS = (301, 302, 303, 307, 308)


class EscBehaviour(Strict):
    """One thing that a zone's Edge Side Code does to requests of a path (docs/service.md §1).

    Which of the fields a kind takes: docs/fleet-format.md.
    """

    kind: EscKind
    path: str = Field("/*", pattern="^/", description="the paths it acts on; * stands for anything")
    to: str | None = Field(
        None,
        min_length=1,
        description="a URL or path (redirects), a host (tls_sni, resolved_host, host_header), a path",
    )
    query: str | None = Field(None, description="of url_rewrite: the new query string, without ?")
    status: int | None = Field(None, ge=200, le=599, description="of redirects (302) and of custom_error")
    statuses: list[int] = Field(
        default_factory=list, description="origin statuses: 404 for status_redirect, 400 to 599 else"
    )
    name: str | None = Field(None, pattern=r"^[A-Za-z0-9!#$%&'*+.^_`|~-]+$", description="of a header")
    operation: HeaderOperation = "set"
    value: str = Field("", pattern=r"^[^\r\n]*$", description="of a header that is set or added")
    feature: EdgeFeature | None = None
    enabled: bool = Field(False, description="of feature_exception: what the feature becomes")
    body: str | None = Field(None, description="of custom_error")
    content_type: str = "text/html"

    @model_validator(mode="after")
    def _fits_its_kind(self) -> "EscBehaviour":
        needed, allowed = _PARTS[self.kind]
        known = {"kind", "path", *needed, *allowed}
        given = self.model_dump(exclude_defaults=True)
        for part in needed:
            if getattr(self, part) is None:
                raise PydanticCustomError(
                    "bad_behaviour", "{kind} needs {part}", {"kind": self.kind, "part": part}
                )
        if strange := sorted(set(given) - known):
            text = "{kind} takes no {part}; it takes {known}"
            told = {"kind": self.kind, "part": strange[0], "known": ", ".join(sorted(known))}
            raise PydanticCustomError("bad_behaviour", text, told)
        if self.kind in ("redirect", "status_redirect") and self.status not in (None, *_REDIRECTS):
            raise PydanticCustomError(
                "bad_behaviour", "the status of a redirect is 301, 302, 303, 307 or 308"
            )
        if self.kind == "url_rewrite" and not (self.to or "/").startswith("/"):
            raise PydanticCustomError("bad_behaviour", "url_rewrite goes to a path, which begins with /")
        if self.kind == "url_rewrite" and self.to is None and self.query is None:
            raise PydanticCustomError("bad_behaviour", "url_rewrite needs to, query or both")
        if self.kind == "request_header" and self.operation == "add":
            raise PydanticCustomError("bad_behaviour", "a request header is set or removed, never added")
        return self


class EscScope(Strict):
    """The disable setting that a zone or an account begins with (docs/service.md §2.1)."""

    always: bool = False
    with_secret: str | None = Field(
        None, min_length=1, max_length=SECRET_CHARACTERS, repr=False, description="a customer's own secret"
    )


class ZoneEsc(EscScope):
    """What Edge Side Code does in a zone, and the zone's disable setting."""

    behaviours: list[EscBehaviour] = Field(default_factory=list)


class OriginFailure(Strict):
    """An origin that answers an error. `when` `esc_off`: only while Edge Side Code is disabled for the whole
    zone, so that a probe with the cookie cannot foresee it.
    """

    path: str = Field("/*", pattern="^/")
    status: int = Field(503, ge=400, le=599)
    when: Literal["any", "esc_off"] = "any"


class ZoneEdge(Strict):
    """The zone's features, its origin's pages and how noisy its answers are by nature."""

    features: list[EdgeFeature] = Field(default_factory=lambda: list(EDGE_FEATURES))
    paths: list[str] = Field(
        default_factory=list, description="known paths, which the sitemap lists; the usual ones if empty"
    )
    noise: list[Noise] = Field(default_factory=list)
    failures: list[OriginFailure] = Field(default_factory=list)

    @model_validator(mode="after")
    def _paths_are_paths(self) -> "ZoneEdge":
        for path in self.paths:
            if not path.startswith("/"):
                raise PydanticCustomError(
                    "bad_path", "a path begins with /, and {path} does not", {"path": path}
                )
        return self
