"""Where the process of the command line begins: before anything else is imported, Ctrl-C is taken care of."""

from __future__ import annotations

import os

from edgeshift.cli.interrupts import end_at_once


def main() -> None:
    """The entry point: call the verb that the process was started with, and end with its exit code. Where a
    shell asks what could follow a line, answer that.
    """
    end_at_once()
    from edgeshift.cli.main import COMPLETE
    from edgeshift.cli.main import main as call

    if COMPLETE in os.environ:
        from edgeshift.cli.completion import answer

        answer()
    call()


if __name__ == "__main__":
    main()
