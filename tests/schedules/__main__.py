"""``python -m tests.schedules``: play seeded schedules, and replay every history that they leave."""

from __future__ import annotations

import sys

from tests.schedules.command import main

if __name__ == "__main__":
    sys.exit(main())
