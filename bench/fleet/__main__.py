import asyncio, json, sys
from pathlib import Path
from bench.fleet.campaign import Course, measured

n = int(sys.argv[1]) if len(sys.argv) > 1 else 30
c = Course(name="paced", zones=n)
f = asyncio.run(measured(c, Path("out/bench-fleet/state"), print))
Path("out").mkdir(exist_ok=True)
Path(f"out/paced-{n}.json").write_text(json.dumps(f, indent=1, default=str))
f.pop("plots")
print(json.dumps(f, indent=1, default=str))
