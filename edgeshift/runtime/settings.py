"""What a process of edgeshift is told by its surroundings: environment variables named EDGESHIFT_…"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from ipaddress import IPv6Address
from pathlib import Path
from typing import Annotated, Any, Literal, Self

import platformdirs
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    field_validator,
    model_validator,
)
from pydantic_core import ErrorDetails, PydanticCustomError
from pydantic_settings import BaseSettings, SettingsConfigDict
from pydantic_settings import SettingsError as Unreadable

from edgeshift.runtime.queues import LOOKS, Queue
from edgeshift.runtime.secret_refs import SecretRef, SecretRefError

__all__ = [
    "LogSettings",
    "SecretRef",
    "SecretRefError",
    "Settings",
    "SettingsError",
    "TemporalSettings",
    "WorkerSettings",
    "known_keys",
    "load_settings",
    "mistake",
    "settings_from",
    "without_settings",
]

PREFIX = "EDGESHIFT_"
"""What the name of every variable begins with."""


_SERVICE_LINK = re.compile(
    r"(.+?)_(SERVICE_(HOST|PORT(_\w+)?)|PORT(_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)?)"
)
"""The variables that Kubernetes sets by itself, for each service of a pod's namespace."""


class SettingsError(ValueError):
    """Settings that cannot be used; names the variable and what is wrong with it."""


def _given(value: object) -> object:
    if value == "":
        # As a path it would be the working folder.
        raise PydanticCustomError("empty", "it is empty; give it a value, or unset it")
    return value


def _reachable(address: str) -> str:
    host, _, port = address.rpartition(":")
    if not 1 <= int(port) <= 65_535:
        raise PydanticCustomError("address", "its port must be from 1 to 65535; write it as HOST:PORT")
    if host.startswith("["):
        try:
            IPv6Address(host[1:-1])
        except ValueError:
            raise PydanticCustomError("address", "what is in brackets must be an IPv6 address") from None
    return address


Address = Annotated[
    str, Field(pattern=r"^(\[[0-9a-fA-F:]+\]|[^\s:/]+):[0-9]{1,5}$"), AfterValidator(_reachable)
]
File = Annotated[Path, BeforeValidator(_given)]
Text = Annotated[str, BeforeValidator(_given)]


class TemporalSettings(BaseModel):
    """Where Temporal is, and how to be let in (EDGESHIFT_TEMPORAL_ADDRESS and so on)."""

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)

    address: Address = "127.0.0.1:7233"
    """HOST:PORT of the frontend."""
    namespace: Annotated[str, Field(min_length=1)] = "default"
    tls: bool = False
    """TLS with the system's trusted roots; given by itself by any of the files or the API key."""
    tls_cert: File | None = None
    """This client's certificate, PEM; together with `tls_key`."""
    tls_key: File | None = None
    tls_ca: File | None = None
    """The certificate authority of the server, PEM, where the system does not know it."""
    tls_server_name: Text | None = None
    """The name in the server's certificate, where it differs from the address."""
    api_key: SecretRef | None = None
    ui: Annotated[str, Field(pattern=r"^https?://[^\s/?#@]+(/[^\s?#]*)?$")] | None = None
    """Where Temporal's web pages are, for `edgeshift open ui`."""
    cli: Path | None = None
    """The CLI for the embedded server. This field and the next two are here so that their variables are
    known: any other of this group is refused. `edgeshift.testbed.temporal_server` reads the variables.
    """
    cli_sha256: str | None = None
    """What its SHA-256 has to be; nothing reads it from here (see `cli`)."""
    test_server: Path | None = None
    """The time-skipping test server; nothing reads it from here (see `cli`)."""

    @property
    def encrypted(self) -> bool:
        """Whether the connection uses TLS."""
        return self.tls or any((self.tls_cert, self.tls_key, self.tls_ca, self.api_key))

    @model_validator(mode="after")
    def _certificate_and_key(self) -> Self:
        if (self.tls_cert is None) != (self.tls_key is None):
            raise ValueError("tls_cert and tls_key go together: give both or neither")
        return self


class AuthoritySettings(BaseModel):
    """Whose word counts (EDGESHIFT_AUTHORITY_ROOTS)."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    roots: File | None = None
    """The worker's roots file: who may sign what, with which keys, and where credentials may be sent. Without
    one nothing but a rehearsal on this machine is changed."""
    key: File | None = None
    """With what a person signs: a private key of OpenSSH's, or the public one of a key in ssh-agent or of a
    hardware key."""
    worker_key: File | None = None
    """With what a worker signs the results that it has read at the service, likewise. A worker with roots
    that ask for signatures needs one, which they have in the role of a worker."""


class LogSettings(BaseModel):
    """How a process logs (EDGESHIFT_LOG_LEVEL, EDGESHIFT_LOG_FORMAT)."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    level: Literal["debug", "info", "warning", "error"] = "info"
    format: Literal["auto", "console", "json"] = "auto"
    """auto: console lines in a terminal, JSON elsewhere."""


Cached = Annotated[int, Field(ge=0, le=100_000)]
"""Workflows that are kept in memory."""

Tasks = Annotated[int, Field(ge=2, le=1_000)]
Activities = Annotated[int, Field(ge=1, le=20_000)]
Pollers = Annotated[int, Field(ge=2, le=200)]


class WorkerSettings(BaseModel):
    """What a worker serves, and with how many slots and pollers (EDGESHIFT_WORKER_ZONES_CACHED and so on).
    Each task queue has slots and pollers of its own, so that a full one starves no other queue.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    queues: str = ",".join(queue.short for queue in Queue)
    """The task queues that this process serves (edgeshift/runtime/queues.py), with commas between them."""
    processes: Annotated[int, Field(ge=1, le=2)] = 2
    """2: campaigns and quotas, which people wait for, are served by a process of their own beside that of the
    zones' work. 1: one process serves all, with less memory, and answers late while many zones are at work.
    """
    control_cached: Cached = 200
    control_workflow_tasks: Tasks = 20
    control_workflow_pollers: Pollers = 5
    control_activities: Activities = 50
    control_activity_pollers: Pollers = 5
    control_local_activities: Activities = 100
    zones_cached: Cached = 2_000
    """A cached waiting zone holds about 50 KB."""
    zones_workflow_tasks: Tasks = 100
    zones_workflow_pollers: Pollers = 20
    zones_activities: Activities = 40
    zones_activity_pollers: Pollers = 5
    zones_local_activities: Activities = 200
    changes_activities: Activities = 40
    """Changes that are made at the same time. More than the rate limit serves would only wait here, each with
    a heartbeat a second; in the server they wait for nothing, and one that is called off is gone at once."""
    changes_activity_pollers: Pollers = 10
    long_activities: Activities = LOOKS
    """Each waits most of its time: one for every change that is looked at until it shows. With more of those
    than slots, all readings wait for them, also those that rollbacks need."""
    long_activity_pollers: Pollers = 10
    quota_cached: Cached = 200
    """One for each user of the service."""
    quota_workflow_tasks: Tasks = 20
    quota_workflow_pollers: Pollers = 5
    workflow_task_timeout_seconds: Annotated[int, Field(ge=1, le=120)] = 30
    """Of a zone's workflow tasks. Local readings may take most of it without costing events."""
    address: Annotated[str, Field(pattern=r"^[\w.+-]{1,100}$")] = "one"
    """A name for the address that this worker calls the service from. Workers of one name share what the
    service takes from one address, where it counts by address too (docs/service.md §8)."""
    deployment: Text | None = None
    """Name of the worker deployment, with `build_id`: then this worker is versioned."""
    build_id: Text | None = None
    """A versioned worker gets no work until its build is made the deployment's current version."""

    @property
    def served(self) -> tuple[Queue, ...]:
        """The task queues that this process serves."""
        named = {part.strip() for part in self.queues.split(",")}
        return tuple(queue for queue in Queue if queue.short in named)

    @field_validator("queues")
    @classmethod
    def _known_queues(cls, value: str) -> str:
        known = [queue.short for queue in Queue]
        if odd := sorted({part.strip() for part in value.split(",")} - set(known)):
            raise ValueError(f"{odd[0]!r} is no task queue; write some of {', '.join(known)}")
        return value

    @model_validator(mode="after")
    def _deployment_and_build(self) -> Self:
        if (self.deployment is None) != (self.build_id is None):
            raise ValueError("deployment and build_id go together: give both or neither")
        return self


class Settings(BaseSettings):
    """All settings; every one has a default. `load_settings` reads them with errors for people."""

    model_config = SettingsConfigDict(
        env_prefix=PREFIX,
        # One split only: EDGESHIFT_TEMPORAL_TLS_CERT is the tls_cert of temporal.
        env_nested_delimiter="_",
        env_nested_max_split=1,
        extra="forbid",
        frozen=True,
        hide_input_in_errors=True,
    )

    temporal: TemporalSettings = TemporalSettings()
    log: LogSettings = LogSettings()
    worker: WorkerSettings = WorkerSettings()
    authority: AuthoritySettings = AuthoritySettings()
    state_dir: File = Field(default_factory=lambda: platformdirs.user_state_path("edgeshift"))
    """Where the embedded stack keeps its state."""
    archive_url: Annotated[str, Field(min_length=1)] | None = None
    """The archive's URL: file:///…, s3://…, gs://…, az://…; by default a folder within `state_dir`."""

    @property
    def archive(self) -> str:
        """The URL of the archive that counts."""
        if self.archive_url is not None:
            return self.archive_url
        return (self.state_dir.absolute() / "archive").as_uri()


def load_settings() -> Settings:
    """The settings of this process's environment. Raises SettingsError, naming each wrong variable."""
    try:
        return settings_from({})
    except ValidationError as error:
        lines = [
            f"{PREFIX}{_key_of(found).upper()}: {mistake(found)}"
            for found in error.errors(include_input=False, include_url=False)
        ]
        raise SettingsError("\n".join(lines)) from None


def mistake(found: ErrorDetails) -> str:
    """What is said of a setting that is wrong, after its name."""
    if found["type"] != "extra_forbidden":
        return found["msg"]
    link = _SERVICE_LINK.fullmatch(PREFIX + _key_of(found).upper())
    if link is None:
        return "there is no such setting"
    service = link.group(1).lower().replace("_", "-")
    return (
        f"there is no such setting; Kubernetes sets it for the service {service}:"
        " set `enableServiceLinks: false` for the pod"
    )


def _key_of(found: ErrorDetails) -> str:
    return "_".join(str(part) for part in found["loc"])


def settings_from(values: dict[str, Any]) -> Settings:
    """The settings with these values, and for all else those of the process's environment. Raises
    ValidationError for a value that is not right, and SettingsError for a variable that names no setting,
    but a group of them, or nearly one.
    """
    if troubles := [*_groups_alone(), *_nearly_named()]:
        raise SettingsError("\n".join(troubles))
    try:
        return Settings(**values)
    except Unreadable as why:
        raise SettingsError(str(why)) from None


def known_keys() -> list[str]:
    """The keys of all settings: their variables without ``EDGESHIFT_``, in lower-case letters."""
    keys: list[str] = []
    for name, field in Settings.model_fields.items():
        part = field.annotation
        if isinstance(part, type) and issubclass(part, BaseModel):
            keys += [f"{name}_{inner}" for inner in part.model_fields]
        else:
            keys.append(name)
    return keys


def _groups_alone() -> Iterator[str]:
    """What is said of each variable that is named like a group of settings, and is not all of it as JSON."""
    known = known_keys()
    for key, value in _set_here().items():
        if key in Settings.model_fields and key not in known and not _is_group(value):
            some = [PREFIX + one.upper() for one in known if one.startswith(f"{key}_")]
            listed = ", ".join(some[:3]) + (", …" if len(some) > 3 else "")
            yield f"{PREFIX}{key.upper()}: no such setting by itself; its settings are {listed}"


def _nearly_named() -> Iterator[str]:
    """What is said of each variable that nearly has the name of a setting. Others may be secrets."""
    known = [*known_keys(), *_READ_ELSEWHERE]
    for key in _set_here():
        if key in known or key.partition("_")[0] in Settings.model_fields:
            continue
        longer = [one for one in Settings.model_fields if one.startswith(f"{key}_")]
        if near := longer or get_close_matches(key, known, n=1, cutoff=0.85):
            yield f"{PREFIX}{key.upper()}: there is no such setting; did you mean {PREFIX}{near[0].upper()}?"


_READ_ELSEWHERE = ("user", "env")
"""Keys of variables that the command line reads by itself."""

_OF_THE_MACHINE = ("log", "state_dir", "temporal_cli", "temporal_test_server")
"""How the keys of settings begin that hold whichever Temporal is meant."""


def without_settings(variables: Mapping[str, str]) -> dict[str, str]:
    """Variables for a process that is told by others which Temporal, archive and roots it has, and what it
    serves: without those that say that here, a named environment among them. How it logs, and where things
    are on this machine, stays; so does what is no setting, such as a secret.
    """
    return {name: value for name, value in variables.items() if not _says_which(name)}


def _says_which(variable: str) -> bool:
    if (key := _key(variable)) is None or key.startswith(_OF_THE_MACHINE):
        return False
    fields = Settings.model_fields
    return key == "env" or key in fields or key.partition("_")[0] in fields


def _key(variable: str) -> str | None:
    """A variable's name without what edgeshift's begin with, in lower-case letters; None of any other."""
    return variable[len(PREFIX) :].lower() if variable.upper().startswith(PREFIX) else None


def _set_here() -> dict[str, str]:
    return {key: value for name, value in os.environ.items() if (key := _key(name)) is not None}


def _is_group(value: str) -> bool:
    try:
        return isinstance(json.loads(value), dict)
    except (ValueError, RecursionError):
        return False
