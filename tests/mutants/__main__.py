"""``python -m tests.mutants``: wrong versions of edgeshift, and whether the fault harness finds each."""

from __future__ import annotations

from tests.mutants.command import main

if __name__ == "__main__":
    main()
