"""``python -m tests.harness``: play every fault at every step, one case of it, or a share."""

from __future__ import annotations

import sys

from tests.harness.command import main

if __name__ == "__main__":
    sys.exit(main())
