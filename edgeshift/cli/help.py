"""The help of `edgeshift` itself: its verbs under the headings of their panels, each with its whole line.
Plain text: what draws boxes and colours takes longer to load than everything else here.
"""

from __future__ import annotations

from typing import Any

from typer.core import TyperGroup


class Verbs(TyperGroup):
    """The group of all verbs."""

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
