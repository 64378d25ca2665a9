"""Named environments: which Temporal and which archive ``--env production`` means, as a file says it.

    [env.production]
    temporal_address = "temporal.example.com:7233"
    archive_url = "s3://edgeshift-production"

The file is ``edgeshift.toml`` in the folder, or ``config.toml`` in the person's configuration folder. Its
keys are the settings of edgeshift/runtime/settings.py, named as their variables are without ``EDGESHIFT_``.
Secrets do not belong in it: a key for one takes a reference.
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import platformdirs
from pydantic import ValidationError

from edgeshift.runtime.settings import PREFIX, Settings, SettingsError, known_keys, mistake, settings_from

FILE = "edgeshift.toml"
"""The file of a folder."""

NEEDED = ("temporal_address", "archive_url")
"""Keys that every environment has: with one of them alone, the other would be that of somewhere else."""

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,59}")


class EnvironmentTrouble(SettingsError):
    """A named environment that there is none of, or that cannot be used; names file and key."""

    hint = "docs/cli.md, Named environments, describes the file"


@dataclass(frozen=True)
class Environment:
    """A named environment. ``values``: its settings by their keys."""

    name: str
    file: Path
    values: Mapping[str, Any]

    def settings(self) -> Settings:
        """The settings with these values, and for all else those of the process's variables.

        Raises EnvironmentTrouble, naming file and key, for a key that there is none of, a value that is not
        right, a key that is missing, and a variable that says otherwise.
        """
        troubles = [*self._unknown(), *self._missing(), *self._contradicted()]
        if troubles:
            raise EnvironmentTrouble("\n".join(troubles))
        try:
            return settings_from(_nested(self.values))
        except ValidationError as error:
            raise EnvironmentTrouble("\n".join(self._named(error))) from None

    def _place(self, key: str) -> str:
        return f"{self.file}: env.{self.name}.{key}"

    def _unknown(self) -> Iterable[str]:
        known = known_keys()
        for key in self.values:
            if key not in known:
                near = get_close_matches(key, known, n=1)
                yield f"{self._place(key)}: unknown key" + (f"; did you mean {near[0]}?" if near else "")

    def _missing(self) -> Iterable[str]:
        return (f"{self._place(key)}: it is missing" for key in NEEDED if key not in self.values)

    def _contradicted(self) -> Iterable[str]:
        """Whoever named the environment did not mean what happens to be exported, nor the other way round."""
        set_here = {name.upper(): value for name, value in os.environ.items()}
        for key, value in self.values.items():
            variable = PREFIX + key.upper()
            if set_here.get(variable, _as_text(value)) != _as_text(value):
                yield f"{self._place(key)}: {variable} says otherwise; unset it, or name no environment"

    def _named(self, error: ValidationError) -> Iterable[str]:
        for found in error.errors(include_input=False, include_url=False):
            key = "_".join(str(part) for part in found["loc"])
            here = key in self.values
            yield f"{self._place(key) if here else PREFIX + key.upper()}: {mistake(found)}"


def environment_named(name: str, folder: Path | None = None) -> Environment:
    """The environment of this name, of the folder's file or else of the person's own. Raises
    EnvironmentTrouble where there is none, or a file is no TOML.
    """
    files = (folder or Path.cwd()) / FILE, platformdirs.user_config_path("edgeshift") / "config.toml"
    known: list[str] = []
    for file in files:
        found = _environments(file)
        if name in found:
            values = found[name]
            if not isinstance(values, dict):
                raise EnvironmentTrouble(f"{file}: env.{name}: it has to be a table: [env.{name}]")
            return Environment(name, file, values)
        known += found
    near = get_close_matches(name, known, n=1)
    listed = f"; there are {', '.join(sorted(set(known)))}" if known else ""
    meant = f"; did you mean {near[0]}?" if near else listed
    if not _NAME.fullmatch(name):
        raise EnvironmentTrouble(f"--env {name[:60]!r} is not an environment's name{meant}")
    raise EnvironmentTrouble(f"no [env.{name}] in {files[0]} or {files[1]}{meant}")


def names_here(folder: Path | None = None) -> list[str]:
    """The names of all environments that are known here, as far as they may be named so: a stranger may have
    written the folder's file. None of a file that cannot be read.
    """
    names: set[str] = set()
    for file in ((folder or Path.cwd()) / FILE, platformdirs.user_config_path("edgeshift") / "config.toml"):
        try:
            names |= set(filter(_NAME.fullmatch, _environments(file)))
        except EnvironmentTrouble:
            continue
    return sorted(names)


def _environments(file: Path) -> Mapping[str, Any]:
    try:
        with file.open("rb") as opened:
            # Whoever may write in the folder must not choose for others where they send their words.
            if (owner := os.fstat(opened.fileno()).st_uid) not in (os.getuid(), 0):
                raise EnvironmentTrouble(
                    f"{file}: it belongs to somebody else (user {owner}), and is not used"
                )
            found = tomllib.load(opened).get("env", {})
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except OSError as why:
        raise EnvironmentTrouble(f"{file}: {why.strerror}") from None
    except RecursionError:
        raise EnvironmentTrouble(f"{file}: it is no TOML: it is nested too deeply") from None
    except ValueError as why:
        if isinstance(why, EnvironmentTrouble):
            raise
        raise EnvironmentTrouble(f"{file}: it is no TOML: {why}") from None
    if not isinstance(found, dict):
        raise EnvironmentTrouble(f"{file}: env: it has to hold tables, such as [env.production]")
    return found


def _nested(values: Mapping[str, Any]) -> dict[str, Any]:
    """The values as the settings are nested: ``temporal_address`` is the address of temporal."""
    nested: dict[str, Any] = {}
    for key, value in values.items():
        part, _, inner = key.partition("_")
        if key in Settings.model_fields:
            nested[key] = value
        else:
            nested.setdefault(part, {})[inner] = value
    return nested


def _as_text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
