"""Answers that carry secrets (docs/service.md §2.1, §2.3): they have them as SecretStr, ``raw`` has a mask in
their place, and no other text of theirs repeats them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Self

from pydantic import ConfigDict, SecretStr, StrictBool, field_validator

from edgeshift.runtime.redaction import (
    destination_mask,
    holds_credentials,
    redact,
    redact_text,
    register_destination,
    register_secret,
)
from edgeshift.service_api.models import Answer, Document


class EscSetting(Answer):
    """The ESC disable setting of a scope (docs/service.md §2.1). Both are None where nothing is configured,
    or where the service shows only the other.
    """

    # What is not known by name could be anybody's secret: it stays out of the model.
    model_config = ConfigDict(extra="ignore")

    always: StrictBool | None = None
    with_secret: SecretStr | None = None

    @classmethod
    def of(cls, document: object) -> Self:
        """The setting that ``document`` is; its secret is masked in every text from now on. An empty secret
        is none. Raises pydantic's ValidationError.
        """
        if isinstance(document, dict):
            given = document.get("with_secret")
            if isinstance(given, str):
                register_secret(given)
            document = {**document, "with_secret": None if given == "" else given}
        setting = cls.model_validate(document)
        setting._raw = redact(document) if isinstance(document, dict) else {}
        return setting


class LogJob(Answer):
    """A log job (docs/service.md §2.3). ``error_message`` is the service's, without secrets."""

    # What is sent back must be what came: a number in place of a text is not taken for one.
    model_config = ConfigDict(extra="ignore", coerce_numbers_to_str=False)

    id: int
    name: str | None = None
    dataset: str | None = None
    destination_conf: SecretStr | None = None
    logpull_options: str | None = None
    output_options: Document | None = None
    ownership_challenge: SecretStr | None = None
    enabled: StrictBool | None = None
    frequency: str | None = None
    last_complete: str | None = None
    last_error: str | None = None
    error_message: str | None = None

    @field_validator("name", "dataset", "logpull_options", "frequency", "last_complete", "last_error")
    @classmethod
    def _no_destination(cls, text: str | None) -> str | None:
        """These are kept as they came, so that none of them may be a destination with its keys."""
        if text is not None and holds_credentials(text):
            register_destination(text)
            raise ValueError("it is a destination with credentials, in another field than its own")
        return text

    @field_validator("output_options")
    @classmethod
    def _no_destination_inside(cls, options: Document | None) -> Document | None:
        """They are sent back as they came, so that none of their texts may be a destination with its keys."""
        for text in _texts(options):
            if holds_credentials(text):
                register_destination(text)
                raise ValueError("a destination with credentials is among its output_options")
        return options

    @classmethod
    def of(cls, document: object) -> Self:
        """The job that ``document`` is; its secrets are masked in every text from now on. Raises pydantic's
        ValidationError.
        """
        if not isinstance(document, dict):
            return cls.model_validate(document)
        given = _registered(document)
        job = cls.model_validate({**document, "error_message": _cleaned(document.get("error_message"))})
        plain = {key: item for key, item in document.items() if key in _PLAIN}
        hidden = {key: item for key, item in redact(document).items() if key not in _PLAIN}
        if given is not None:
            hidden["destination_conf"] = destination_mask(given)
        job._raw = {key: (plain if key in plain else hidden)[key] for key in document}
        return job

    @property
    def safe(self) -> Document:
        """The job as the service sent it, for whoever keeps or shows it: of ``destination_conf`` only the
        scheme and the bucket, of ``ownership_challenge`` nothing. It is shared: copy it before you change it.
        """
        return self._raw


class OwnershipChallenge(Answer):
    """Where the service has put a challenge for a destination (docs/service.md §4.2, observed).

    ``filename``: of the file at the destination that holds the challenge; the challenge itself is not
    answered.
    """

    model_config = ConfigDict(extra="ignore")

    filename: str | None = None
    valid: StrictBool | None = None
    message: str | None = None

    @classmethod
    def of(cls, document: object) -> Self:
        """The answer that ``document`` is. Raises pydantic's ValidationError."""
        if isinstance(document, dict):
            document = {**redact(document), "filename": document.get("filename")}
        answer = cls.model_validate(document)
        answer._raw = document if isinstance(document, dict) else {}
        return answer


class OwnershipValidity(Answer):
    """Whether a challenge is the one that the service put (docs/service.md §4.2, observed)."""

    valid: StrictBool | None = None


# Kept to the letter, whatever secrets are known: what is sent back or compared must be what came.
_PLAIN = frozenset(
    {
        "id",
        "name",
        "dataset",
        "logpull_options",
        "output_options",
        "enabled",
        "frequency",
        "last_complete",
        "last_error",
    }
)


def _texts(value: object) -> Iterator[str]:
    """Every text in a JSON value, keys too."""
    match value:
        case str():
            yield value
        case dict():
            for key, item in value.items():
                yield from (*_texts(key), *_texts(item))
        case list():
            for item in value:
                yield from _texts(item)


def _registered(document: Document) -> str | None:
    """The document's destination, its secrets registered."""
    challenge, destination = document.get("ownership_challenge"), document.get("destination_conf")
    if isinstance(challenge, str):
        register_secret(challenge)
    if not isinstance(destination, str) or not destination:
        return None
    register_destination(destination)
    return destination


def _cleaned(message: Any) -> Any:
    return redact_text(message) if isinstance(message, str) else message
