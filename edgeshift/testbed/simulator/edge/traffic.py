"""Synthetic clients: requests as a zone's visitors make them, for the log jobs to have something to push."""

from collections.abc import Iterator, Mapping, Sequence
from random import Random

from edgeshift.testbed.simulator.edge.messages import EdgeRequest
from edgeshift.testbed.simulator.edge.origin import known_paths
from edgeshift.testbed.simulator.edge_exchange import Headers
from edgeshift.testbed.simulator.fleet_models import FleetZone

_AGENTS = (
    "Mozilla/5.0 (X11; Linux x86_64; rv:118.0) Gecko/20100101 Firefox/118.0",
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/117.0.0.0",
    "Mozilla/5.0 (iPhone; CPU iPhone OS 17_0 like Mac OS X) AppleWebKit/605.1.15 Version/17.0 Mobile",
    "uptime-check/1.4",
)
_LANGUAGES = ("en-GB,en;q=0.8", "de-DE,de;q=0.7,en;q=0.3", "fr-FR", "pt-BR,pt;q=0.9")


def requests_of(
    zone: FleetZone,
    count: int,
    seed: int,
    *,
    headers: Mapping[str, str] | None = None,
    cookies: Mapping[str, str] | None = None,
    paths: Sequence[str] = (),
) -> Iterator[EdgeRequest]:
    """So many requests of a zone's visitors, the same for the same seed.

    `headers` and `cookies` go with each of them, besides or in place of the usual ones; `paths` stand for the
    zone's known paths.
    """
    random = Random(f"edge {zone.id} {seed}")
    places = list(paths) or known_paths(zone)
    added = {name.lower(): value for name, value in (headers or {}).items()}
    for _ in range(count):
        host = random.choice((zone.name, f"www.{zone.name}"))
        agent = random.choice(_AGENTS)
        jar = {} if agent.startswith("uptime") else _cookies(random)
        jar |= dict(cookies or {})
        sent: dict[str, str] = {
            "host": host,
            "user-agent": agent,
            "accept": "text/html,application/xhtml+xml,*/*;q=0.8",
            "accept-encoding": "gzip, br",
            "accept-language": random.choice(_LANGUAGES),
        }
        if random.random() < 0.4:
            sent["referer"] = f"https://{host}{random.choice(places)}"
        if random.random() < 0.2:
            sent["x-requested-with"] = "XMLHttpRequest"
        sent |= added
        if jar:
            sent["cookie"] = "; ".join(f"{name}={value}" for name, value in jar.items())
        listed: Headers = list(sent.items())
        yield EdgeRequest(
            method=random.choices(("GET", "HEAD", "POST"), (90, 4, 6))[0],
            host=host,
            path=random.choice(places),
            query="" if random.random() < 0.8 else f"page={random.randrange(1, 20)}",
            headers=listed,
            scheme="https",
            client_ip=f"198.51.100.{random.randrange(1, 255)}",
        )


def _cookies(random: Random) -> dict[str, str]:
    found = {"session_id": f"{random.getrandbits(64):016x}"}
    if random.random() < 0.6:
        found["Theme"] = random.choice(("light", "dark"))
    if random.random() < 0.3:
        found["cart"] = f"items-{random.randrange(9)}"
    return found
