"""What becomes of a statement that is to be signed: a key that is here signs it, or one elsewhere does."""

from __future__ import annotations

from typing import Protocol

from edgeshift.authority.signing import OpenSSHSigner, Signer
from edgeshift.authority.sshsig import PublicKey
from edgeshift.authority.statements import Statement


class Hand(Protocol):
    """What becomes of a statement that is to be signed."""

    @property
    def key(self) -> PublicKey | None:
        """The key that signs; None where it is elsewhere."""
        ...

    @property
    def asks(self) -> bool:
        """Whether somebody may have to type or touch something for each signature."""
        ...

    async def sign(self, statement: Statement) -> str | None:
        """Its signature; None where nothing is recorded now. Raises SigningFailed."""
        ...


class SignsNow:
    """Signs with a key that is here."""

    def __init__(self, signer: Signer) -> None:
        self._signer = signer

    @property
    def key(self) -> PublicKey:
        """The key that signs."""
        return self._signer.key

    @property
    def asks(self) -> bool:
        """Whether ssh-keygen signs, which asks on the terminal."""
        return isinstance(self._signer, OpenSSHSigner)

    async def sign(self, statement: Statement) -> str:
        """Its signature."""
        return await self._signer.sign(statement.bytes)


class Drafts:
    """Signs nothing: keeps what would be signed, to be signed elsewhere."""

    key = None
    asks = False

    def __init__(self) -> None:
        self.statements: list[Statement] = []

    async def sign(self, statement: Statement) -> None:
        """Keep it."""
        self.statements.append(statement)
