"""What the audit of campaigns of 600 and of 1,200 zones holds in memory.

`python -m tests.service.audit_memory FOLDER`: a program of its own, since what ran before in a process
(imports, caches, what the garbage collector has counted) would be measured too.
"""

from __future__ import annotations

import asyncio
import gc
import json
import re
import sys
import tracemalloc
from datetime import UTC, datetime
from pathlib import Path

from edgeshift.audit.exporting import export
from edgeshift.audit.proving import prove
from edgeshift.stores import archive
from tests.audited_kit import audited


async def peak(folder: Path, zones: int) -> tuple[int, int]:
    """Bytes that the export, and the proof, of a campaign of so many zones hold at most."""
    done, peaks = await audited(folder, zones), []
    file = folder / "file"
    gc.collect()
    re.purge()
    tracemalloc.start()
    with file.open("wb") as out:
        await export(done.archive, "autumn", out, datetime.now(UTC))
    peaks.append(tracemalloc.get_traced_memory()[1])
    roots = done.roots
    gc.collect()
    tracemalloc.reset_peak()
    with file.open("rb") as lines:
        assert prove(lines, roots, unsealed=True).holds
    peaks.append(tracemalloc.get_traced_memory()[1])
    tracemalloc.stop()
    return peaks[0], peaks[1]


async def measured(folder: Path) -> list[tuple[int, int]]:
    """The peaks of few zones and of twice as many, with small parts in which lines are sorted."""
    archive.PART = 8 * 1024
    # What is imported or cached only on the way is there before anything is measured.
    await peak(folder / "first", 1_200)
    return [await peak(folder / "few", 600), await peak(folder / "many", 1_200)]


if __name__ == "__main__":
    print(json.dumps(asyncio.run(measured(Path(sys.argv[1])))))
