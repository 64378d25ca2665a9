"""References to secrets: where one lies, never what it is."""

from __future__ import annotations

import os
from typing import Any

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler, SecretStr
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import PydanticCustomError, core_schema

from edgeshift.runtime.files import path_named
from edgeshift.runtime.redaction import register_destination, register_secret
from edgeshift.runtime.references import is_reference

_FORMS = "write env:NAME (an environment variable) or file:PATH (a file that holds the secret alone)"


class SecretRefError(ValueError):
    """A reference to a secret that is malformed, or that leads to none; never shows a value."""


class CredentialMissing(SecretRefError):
    """The reference of one of the service's credentials leads to no secret."""

    def __init__(self, credential: str, why: str) -> None:
        super().__init__(why)
        self.credential = credential


class SecretRef(str):
    """Where a secret lies: `env:NAME` or `file:PATH`. Safe to store, log and send; `resolve` reads it.

    Anything else is refused without being repeated, since it may be the secret itself.
    """

    __slots__ = ()

    def __new__(cls, reference: str) -> SecretRef:
        kind, _, name = reference.partition(":")
        if kind not in ("env", "file") or not name.strip() or "\n" in name:
            raise SecretRefError(f"not a reference to a secret (it is not repeated here): {_FORMS}")
        return super().__new__(cls, reference)

    def resolve(self) -> SecretStr:
        """The secret, read now, so that a changed one is found; blanks around it are dropped.

        Raises SecretRefError for an unset variable, an unreadable file, or nothing in either.
        """
        kind, _, name = self.partition(":")
        value = (_from_variable(name) if kind == "env" else _from_file(name)).strip()
        if not value:
            raise SecretRefError(f"{self}: the {'variable' if kind == 'env' else 'file'} is empty")
        register_secret(value)
        return SecretStr(value)

    def __repr__(self) -> str:
        return f"SecretRef({str(self)!r})"

    @classmethod
    def __get_pydantic_core_schema__(
        cls, source: type[Any], handler: GetCoreSchemaHandler
    ) -> core_schema.CoreSchema:
        # Two steps, because pydantic repeats the input of the step that failed: the second one never
        # sees what may be a literal secret.
        return core_schema.chain_schema(
            [
                core_schema.no_info_plain_validator_function(_read),
                core_schema.no_info_plain_validator_function(_accept),
            ],
            serialization=core_schema.plain_serializer_function_ser_schema(str),
        )

    @classmethod
    def __get_pydantic_json_schema__(
        cls, schema: core_schema.CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        return {"type": "string", "pattern": "^(env|file):.+$", "description": _FORMS}


def said_or_kept(text: str | None) -> str | None:
    """A setting that stands in the file as it is, or that lies where the file says. Raises SecretRefError.

    What is kept elsewhere is a secret, and of a URL every part that may be one by itself.
    """
    if text is None or not is_reference(text):
        return text
    value = SecretRef(text).resolve().get_secret_value()
    register_destination(value)
    return value


class _Hidden:
    def __repr__(self) -> str:
        return "[not shown]"


def _read(value: object) -> SecretRef | _Hidden:
    try:
        return SecretRef(value) if isinstance(value, str) else _Hidden()
    except SecretRefError:
        return _Hidden()


def _accept(value: object) -> SecretRef:
    if isinstance(value, SecretRef):
        return value
    raise PydanticCustomError("secret_reference", f"not a reference to a secret: {_FORMS}")


def _from_variable(name: str) -> str:
    try:
        value = os.environ.get(name)
    except ValueError:
        # No variable can be named so.
        value = None
    if value is None:
        raise SecretRefError(f"env:{name}: the variable {name} is not set")
    return value


def _from_file(name: str) -> str:
    try:
        return path_named(name).read_text()
    except FileNotFoundError:
        raise SecretRefError(f"file:{name}: there is no such file") from None
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not text"
        raise SecretRefError(f"file:{name}: the file cannot be read ({reason})") from None
