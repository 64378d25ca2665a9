"""What a measurement leaves: removed when it is through, kept where something went wrong with it."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

FAILED = "-failed"


@contextmanager
def state_in(folder: Path, say: Callable[[str], None]) -> Iterator[Path]:
    """A folder for the state of a measurement, empty at first and removed at the end. After an error it is
    kept under its name and ``-failed``, until the next one that fails; ``say`` hears where. Where a person
    has ended the measurement, it is removed.
    """
    shutil.rmtree(folder, ignore_errors=True)
    try:
        yield folder
    except Exception:
        if folder.exists():
            kept = folder.with_name(f"{folder.name}{FAILED}")
            shutil.rmtree(kept, ignore_errors=True)
            folder.rename(kept)
            say(f"it failed; what it left is in {kept}")
        raise
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    shutil.rmtree(folder, ignore_errors=True)
