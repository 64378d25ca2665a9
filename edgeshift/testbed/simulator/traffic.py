"""The requests of a zone between two instants: pseudo-random, but the same every time they are asked for.

Time is cut into cells of ten minutes. What happens in a cell depends on the zone's seed and the cell alone,
so any interval is computed without state, and two intervals that meet hold together what the whole holds.
Like the real data set it is a sample: each request says for how many it stands, and very long intervals are
sampled by cells.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from random import Random

from edgeshift.testbed.simulator.fleet_models import FleetZone
from edgeshift.testbed.simulator.signatures import Shape
from edgeshift.testbed.simulator.traffic_shapes import ATTACKS, BENIGN, false_positive, gap

CELL_SECONDS = 600
MOST_CELLS = 1008
"""A week; of longer intervals only every so many cells are sampled."""

MOST_AN_HOUR = {"benign": 24.0, "attack": 8.0, "false_positive": 4.0, "gap": 4.0}
"""Requests of one stream that an hour's sample holds on average."""

AGENTS = (
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 Chrome/118.0.0.0 Safari/537.36",
    "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 Version/17.0 Safari/605.1.15",
    "Mozilla/5.0 (X11; Linux x86_64; rv:109.0) Gecko/20100101 Firefox/119.0",
    "Mozilla/5.0 (iPhone; CPU iPhone OS 17_0 like Mac OS X) AppleWebKit/605.1.15 Mobile/15E148",
)
COUNTRIES = ("DE", "US", "FR", "BR", "IN", "JP", "GB", "NL")


@dataclass(frozen=True)
class Client:
    """Who sends a request."""

    address: str
    country: str
    asn: int


@dataclass(frozen=True, slots=True)
class Request:
    """One sampled request. `stands_for`: how many requests the sample has it speak for."""

    at: datetime
    ray: str
    host: str
    shape: Shape
    client: Client
    agent: str
    stands_for: int


@dataclass(frozen=True)
class Stream:
    """Requests of one sort: its shapes, how many an hour are sampled, and for how many each stands."""

    label: str
    shapes: tuple[Shape, ...]
    per_hour: float
    stands_for: int
    clients: tuple[Client, ...]


def traffic_seed(zone: FleetZone) -> int:
    """The seed of a zone's traffic."""
    given = zone.traffic.seed
    return int(zone.id[:15], 16) if given is None else given


def streams(zone: FleetZone) -> list[Stream]:
    """The streams of a zone's traffic, planted ones last."""
    traffic = zone.traffic
    seed = traffic_seed(zone)
    hourly = traffic.requests_per_minute * 60
    visitors, attackers = _clients(seed, "visitors", 12), _clients(seed, "attackers", 10)
    found = [
        _stream("benign", BENIGN, hourly * (1 - traffic.attack_share), visitors),
        _stream("attack", ATTACKS, hourly * traffic.attack_share, attackers),
    ]
    for planted in traffic.false_positives:
        shape = false_positive(planted.kind, planted.path)
        found.append(_stream("false_positive", (shape,), planted.per_hour, visitors))
    for planted_gap in traffic.gaps:
        shape = gap(planted_gap.kind, planted_gap.path)
        found.append(_stream("gap", (shape,), planted_gap.per_hour, attackers))
    return found


def requests(
    zone: FleetZone, since: datetime, until: datetime, only: Sequence[Stream] | None = None
) -> Iterator[Request]:
    """The sampled requests with `since` <= time < `until`, stream by stream, each in order of its cells.

    `only` leaves out the streams that nobody will look at; the others are the same with or without it.
    """
    first, last = int(since.timestamp()) // CELL_SECONDS, -int(-until.timestamp() // CELL_SECONDS)
    stride = max(1, -(-(last - first) // MOST_CELLS))
    seed = traffic_seed(zone)
    for number, stream in enumerate(streams(zone)):
        if only is None or stream in only:
            for cell in range(-(-first // stride) * stride, last, stride):
                yield from _cell(zone, stream, seed, number, cell, stride, since, until)


def _cell(
    zone: FleetZone,
    stream: Stream,
    seed: int,
    number: int,
    cell: int,
    stride: int,
    since: datetime,
    until: datetime,
) -> Iterator[Request]:
    # A cheap mix: neighbouring cells must not give neighbouring seeds of one another's streams.
    random = Random((seed * 1_000_003 + cell) * 131 + number)
    expected = stream.per_hour * CELL_SECONDS / 3600
    count = int(expected) + (random.random() < expected % 1)
    start = datetime.fromtimestamp(cell * CELL_SECONDS, UTC)
    weights = [shape.weight for shape in stream.shapes]
    for _ in range(count):
        at = start + timedelta(seconds=random.randrange(CELL_SECONDS))
        ray = f"{random.getrandbits(64):016x}"
        shape = random.choices(stream.shapes, weights)[0] if len(weights) > 1 else stream.shapes[0]
        client = stream.clients[int(random.random() * len(stream.clients))]
        agent = shape.agent or AGENTS[random.getrandbits(2)]
        if since <= at < until:
            yield Request(at, ray, zone.name, shape, client, agent, stream.stands_for * stride)


def _stream(label: str, shapes: tuple[Shape, ...], hourly: float, clients: tuple[Client, ...]) -> Stream:
    sampled = min(hourly, MOST_AN_HOUR[label])
    return Stream(label, shapes, sampled, max(1, round(hourly / sampled)) if sampled else 1, clients)


def _clients(seed: int, label: str, count: int) -> tuple[Client, ...]:
    """A pool of clients with addresses from the ranges kept for documentation."""
    random = Random(f"{seed} {label}")
    network = "198.51.100" if label == "visitors" else "203.0.113"
    return tuple(
        Client(
            f"{network}.{random.randrange(1, 255)}", random.choice(COUNTRIES), 64_496 + random.randrange(16)
        )
        for _ in range(count)
    )
