"""The simulator as a process of the benchmark: ``python -m bench.service FLEET DATA PORT_FILE OPTIONS``, the
options as JSON.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from edgeshift.testbed.simulator.fleet_file import load_fleet
from edgeshift.testbed.simulator.options import SimulatorOptions
from edgeshift.testbed.simulator.server import running


async def main(fleet: str, data: str, port_file: str, options: str) -> None:
    """Serve until the process is told to stop."""
    chosen = SimulatorOptions.model_validate_json(options)
    async with running(load_fleet(Path(fleet)), Path(data), options=chosen) as served:
        await asyncio.to_thread(Path(port_file).write_text, str(served.port))
        await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:5]))
