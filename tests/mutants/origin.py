"""``python -m tests.mutants.origin``: where the project's modules come from, here and in a worker process."""

from __future__ import annotations

import json
import sys
from multiprocessing.connection import Connection

import tests.harness.families.every
from tests.kit.faults_worker import PROCESSES

OURS = ("edgeshift", "workflows", "activities", "worker", "tests")


def origins(who: str) -> dict[str, str]:
    """The files of the project's modules that are imported here, by ``who`` and their names."""
    return {
        f"{who}: {name}": str(module.__file__)
        for name, module in sorted(sys.modules.items())
        if name.split(".")[0] in OURS and getattr(module, "__file__", None)
    }


def tell(to: Connection) -> None:
    """Of a worker process."""
    to.send(origins("worker"))


def main() -> None:
    """Both, as one line of JSON."""
    assert tests.harness.families.every.all_cases()
    ours, theirs = PROCESSES.Pipe()
    process = PROCESSES.Process(target=tell, args=(theirs,))
    process.start()
    theirs.close()
    found = {**origins("harness"), **ours.recv()}
    process.join()
    print(json.dumps(found))


if __name__ == "__main__":
    main()
