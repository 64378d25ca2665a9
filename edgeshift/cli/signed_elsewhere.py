"""``edgeshift sign-off … --print`` and ``--signature``: a decision that is signed on another machine, by
``ssh-keygen -Y sign``, over exactly what was printed here.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING

from edgeshift.cli.errors import CommandError, ExitCode, bad_input
from edgeshift.cli.options import checked_folder
from edgeshift.cli.shell import Shell
from edgeshift.runtime.files import whole_path
from edgeshift.runtime.safe_text import hides

if TYPE_CHECKING:
    from edgeshift.authority.statements import DecisionStatement, Statement
    from edgeshift.model.sign_off import Choice
    from edgeshift.operations.hands import Drafts
    from edgeshift.operations.pen import Pen

LARGEST = 1_100_000
"""Bytes of a file with a statement or a signature."""


@dataclass
class Elsewhere:
    """Where a decision is signed. ``out``: the folder for statements that are printed; none: stdout.
    ``signed``: statements that come back, with their signatures. ``not_signed_for``: of each decision, what
    the pen said of starts to which it is not signed.
    """

    prints: bool = False
    out: Path | None = None
    signed: tuple[tuple[DecisionStatement, str], ...] = ()
    not_signed_for: list[str] = field(default_factory=list, init=False)
    _drafts: Drafts | None = field(default=None, init=False)

    @classmethod
    def of(
        cls, *, prints: bool, out: Path | None, statements: Sequence[Path], signatures: Sequence[Path]
    ) -> Elsewhere:
        """What the options say. Raises CommandError where they do not go together, or for a file that is no
        statement, or whose signature is none of it.
        """
        if prints and (statements or signatures):
            raise bad_input(
                "--print and --statement exclude each other", "print, sign, then hand the files back"
            )
        if out is not None and not prints:
            raise bad_input("--out needs --print", "add --print, or leave --out out")
        if signatures and not statements:
            raise bad_input("--signature needs --statement", "give the file that was printed and signed, too")
        if signatures and len(signatures) != len(statements):
            raise bad_input(
                f"there are {len(statements)} of --statement and {len(signatures)} of --signature",
                "give one signature for each statement, in the same order",
            )
        files = list(signatures) or [path.with_name(f"{path.name}.sig") for path in statements]
        return cls(prints, out, tuple(_signed(*pair) for pair in zip(statements, files, strict=True)))

    @property
    def by(self) -> str:
        """Who has signed; empty where nobody has."""
        names = sorted({statement.by for statement, _ in self.signed})
        if len(names) > 1:
            raise bad_input(
                f"the statements are by {' and '.join(names)}", "hand in those of one person at a time"
            )
        return "".join(names)

    @property
    def reason(self) -> str:
        """The reason that was signed."""
        return next((statement.reason for statement, _ in self.signed), "")

    def check_by(self, by: str, *, typed: object) -> None:
        """Raises CommandError where somebody else was named by ``--by`` than has signed."""
        if getattr(typed, "name", "") == "COMMANDLINE" and self.by not in ("", by):
            raise bad_input(f"--by {by}: what was signed is by {self.by}", "leave --by out")

    def check_choice(self, choice: Choice) -> None:
        """Raises CommandError where the other was signed."""
        if any(statement.choice is not choice for statement, _ in self.signed):
            other = self.signed[0][0].choice.value
            raise bad_input(f"what was signed is to {other}", f"call `edgeshift sign-off {other}`")

    def begin(self, shell: Shell) -> None:
        """Where statements are printed, stdout is theirs alone. Raises CommandError where their folder does
        not take them.
        """
        if self.prints:
            shell.console = shell.notes
        if self.out is not None:
            checked_folder("--out", self.out)

    def pen(self, shell: Shell, by: str) -> Pen | None:
        """Who signs: with the key that is here, unless it is done elsewhere."""
        if not self.prints and not self.signed:
            return shell.pen(by, "approver")
        from edgeshift.operations.hands import Drafts
        from edgeshift.operations.pen import Pen

        self._drafts = Drafts()
        return Pen(self._drafts, shell.archive(), by, shell.roots())

    async def done(self, shell: Shell) -> bool:
        """Print what is to be signed; True then, since nobody has decided yet. Or record what was signed.
        Raises Refused where that is not what waits now.
        """
        if self._drafts is None:
            return False
        if self.prints:
            self._write(shell, self._drafts.statements)
            return True
        from edgeshift.operations.signed_elsewhere import matching, record

        await record(shell.archive(), matching(self._drafts.statements, self.signed, shell.roots()))
        return False

    def check_each_start(self, campaign: str) -> None:
        """Raises CommandError where a decision is not to each start that it has to be to: a rejection."""
        if not (not_for := next(filter(None, self.not_signed_for), "")):
            return
        done = "what was printed rejects it" if self.prints else "the rejection is signed and told"
        raise CommandError(
            f"campaign {campaign}: {done}; but {not_for}",
            ExitCode.FAILED,
            hint="workers go by what is signed, whatever Temporal is told:"
            f" `edgeshift pause {campaign}` stops them, where that is signed for each start",
        )

    def _write(self, shell: Shell, statements: Sequence[Statement]) -> None:
        if self.out is not None:
            files = [quote(str(path)) for path in _files(self.out, statements)]
        elif len(statements) > 1:
            raise bad_input(
                f"there are {len(statements)} statements to sign", "write a file for each: --out DIR"
            )
        elif sys.stdout.isatty() and any(map(hides, statements[0].bytes.decode())):
            raise bad_input(
                "the statement has characters that a terminal obeys or does not show, and all are signed",
                "write it to a file: --out DIR",
            )
        else:
            # Without a newline at the end: exactly these bytes are signed.
            sys.stdout.write(statements[0].bytes.decode())
            sys.stdout.flush()
            files = ["FILE"]
        for wave in _waves(statements):
            shell.notes.print(
                f'\nWaves count from 0 in a statement: its "wave":{wave} is wave {wave + 1} everywhere else.',
                markup=False,
                soft_wrap=True,
            )
        shell.notes.print("\nNothing is signed yet. Where the key is:", soft_wrap=True)
        for name in files:
            shell.notes.print(
                f"  ssh-keygen -Y sign -n edgeshift -f KEY {name}", markup=False, soft_wrap=True
            )
        back = " ".join(f"--statement {name}" for name in files)
        shell.notes.print(
            f"Then the same call with {back} in place of --print; each FILE.sig lies beside its FILE.",
            markup=False,
            soft_wrap=True,
        )


def _waves(statements: Sequence[Statement]) -> list[int]:
    """The waves that decisions are for, counted as they are signed: that stays, or older signatures would be
    none.
    """
    from edgeshift.authority.statements import DecisionStatement

    decisions = [one for one in statements if isinstance(one, DecisionStatement)]
    return sorted({one.wave for one in decisions if one.wave is not None})


def _files(folder: Path, statements: Sequence[Statement]) -> list[Path]:
    paths = [folder / f"statement-{statement.digest[:12]}.json" for statement in statements]
    for path, statement in zip(paths, statements, strict=True):
        with whole_path(path) as place:
            place.write_bytes(statement.bytes)
    return paths


def _signed(statement: Path, signature: Path) -> tuple[DecisionStatement, str]:
    from edgeshift.authority.statements import BadStatement, DecisionStatement, attested

    try:
        said = json.loads(_read(statement))
    except (ValueError, RecursionError):
        raise bad_input(f"{statement}: it is no statement", "give a file that --print has written") from None
    armored = _read(signature).decode("ascii", errors="replace")
    try:
        found = attested(said, armored).statement
    except BadStatement as why:
        raise bad_input(
            f"{signature}: it does not sign {statement}: {why}",
            "sign the file as it was printed: ssh-keygen -Y sign -n edgeshift -f KEY FILE",
        ) from None
    if not isinstance(found, DecisionStatement):
        raise bad_input(f"{statement}: it is no decision", "give a file that --print has written")
    return found, armored


def _read(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            data = file.read(LARGEST + 1)
    except OSError as why:
        raise bad_input(
            f"{path} cannot be read: {why.strerror}",
            "ssh-keygen -Y sign writes FILE.sig beside FILE; --signature names another",
        ) from None
    if len(data) > LARGEST:
        raise bad_input(
            f"{path}: it is larger than {LARGEST:,} bytes", "give a file that --print has written"
        )
    return data
