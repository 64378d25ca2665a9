"""The verbs of `edgeshift`: their help under the headings of their panels, each with its whole line, and what
no option of theirs takes. Plain text: what draws boxes and colours takes longer to load than all else here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from typer.core import TyperGroup

from edgeshift.cli.errors import CommandError, ExitCode

MAY_BE_EMPTY = frozenset({"--reason", "--by"})
"""Options of which an empty value is no slip, or is told by themselves."""


class Verbs(TyperGroup):
    """The group of all verbs."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the options of the group. Raises CommandError (2) for an empty value."""
        if not ctx.resilient_parsing:
            _refuse_empty(self, args)
        return super().parse_args(ctx, args)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The verb that is meant, with its arguments. Raises CommandError (2) for an option's empty value."""
        found = super().resolve_command(ctx, args)
        if found[1] is not None and not ctx.resilient_parsing:
            _refuse_empty(found[1], found[2])
        return found

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the verbs, by panel, in their order."""
        panels: dict[str, list[tuple[str, str]]] = {}
        for name in self.list_commands(ctx):
            command = self.get_command(ctx, name)
            if command is None or command.hidden:
                continue
            panel = getattr(command, "rich_help_panel", None) or "Commands"
            panels.setdefault(panel, []).append((name, (command.help or "").split("\n\n")[0]))
        widest = max((len(name) for rows in panels.values() for name, _ in rows), default=0)
        for panel, rows in panels.items():
            with formatter.section(panel):
                # One column of names throughout.
                formatter.write_dl([(name.ljust(widest), said) for name, said in rows])


def _refuse_empty(command: Any, args: Sequence[str]) -> None:
    """An empty value is a script's variable that was not set: taken as if the option had not been given, it
    would have the verb do more than was meant, or somewhere else.
    """
    given = list(args[: args.index("--")] if "--" in args else args)
    valued = {
        name
        for param in command.params
        if param.param_type_name == "option" and not (param.is_flag or param.count)
        for name in param.opts
    }
    for word, following in zip(given, [*given[1:], None], strict=False):
        name, equals, value = word.partition("=")
        if name in valued - MAY_BE_EMPTY and (following == "" if not equals else not value):
            raise CommandError(
                f"{name} is empty", ExitCode.BAD_INPUT, hint="give it a value, or leave it out"
            )
