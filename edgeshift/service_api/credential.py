"""Who calls the service: a bearer token, or a key with its e-mail (docs/service.md §5)."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import SecretStr

from edgeshift.service_api.errors import Misconfigured


class Credential:
    """One credential. Its secret appears in the headers of a request and nowhere else: not in repr, str or
    errors.
    """

    def __init__(self, headers: Mapping[str, SecretStr], scheme: str) -> None:
        self._headers = dict(headers)
        self.scheme = scheme

    @classmethod
    def bearer(cls, token: SecretStr | str) -> Credential:
        """The credential of an API token. Raises Misconfigured, which does not repeat the token."""
        value = _header_value(token, "the API token")
        return cls({"Authorization": SecretStr(f"Bearer {value}")}, "bearer token")

    @classmethod
    def key(cls, key: SecretStr | str, email: str) -> Credential:
        """The credential of an API key and its user's e-mail. Raises Misconfigured."""
        headers = {
            "X-Auth-Key": SecretStr(_header_value(key, "the API key")),
            "X-Auth-Email": SecretStr(_header_value(email, "the e-mail of the API key")),
        }
        return cls(headers, "key and e-mail")

    def headers(self) -> dict[str, str]:
        """The authentication headers of a request."""
        return {name: value.get_secret_value() for name, value in self._headers.items()}

    def secrets(self) -> tuple[str, ...]:
        """The values that must not be repeated in any text, for whoever cleans texts of others."""
        return tuple(value.removeprefix("Bearer ") for value in self.headers().values())

    def __repr__(self) -> str:
        return f"Credential({self.scheme})"


def _header_value(value: SecretStr | str, what: str) -> str:
    text = (value.get_secret_value() if isinstance(value, SecretStr) else value).strip()
    if not text:
        raise Misconfigured(f"{what} is empty")
    if not text.isascii() or not text.isprintable() or " " in text:
        raise Misconfigured(
            f"{what} has characters that no header may carry: one line of printable ASCII is right"
        )
    return text
