"""Who calls the service: a bearer token, or a key with its e-mail (docs/service.md §5)."""

from __future__ import annotations

from pydantic import SecretStr

from edgeshift.service_api.errors import Misconfigured


class Credential:
    """One credential. Its secret appears in the headers of a request and nowhere else: not in repr, str or
    errors.
    """

    def __init__(
        self,
        token: SecretStr | str | None = None,
        *,
        key: SecretStr | str | None = None,
        email: str | None = None,
        named: str = "",
    ) -> None:
        """Either ``token``, or ``key`` with ``email``. ``named``: the reference that it was resolved from.
        Raises Misconfigured, which repeats none of the secrets.
        """
        self.named = named
        if (token is None) == (key is None) or (key is None) != (email is None):
            raise Misconfigured("a credential is either a token, or a key with its e-mail")
        self._headers: dict[str, SecretStr] = {}
        if token is not None:
            self.scheme = "bearer token"
            self._headers["Authorization"] = SecretStr(f"Bearer {_header_value(token, 'the API token')}")
        if key is not None and email is not None:
            self.scheme = "key and e-mail"
            self._headers["X-Auth-Key"] = SecretStr(_header_value(key, "the API key"))
            self._headers["X-Auth-Email"] = SecretStr(_header_value(email, "the e-mail of the API key"))

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
