"""A plausible fleet of any size: the same number of zones and the same seed give the same fleet.

The first zones go through `CASES`, so that a fleet of `len(CASES)` zones or more has every case; the others
repeat the common shapes of settings, as real fleets do, with a few special ones between them.
"""

import hashlib
from collections.abc import Callable
from random import Random
from typing import Any

from edgeshift.testbed.simulator.equivalent import eligible
from edgeshift.testbed.simulator.fleet_models import (
    Credential,
    FleetAccount,
    FleetUser,
    FleetZone,
    derived_id,
)
from edgeshift.testbed.simulator.fleet_whole import Fleet
from edgeshift.testbed.simulator.generate_cases import CASES, COMMON, RARE, Case
from edgeshift.testbed.simulator.generate_esc import plant
from edgeshift.testbed.simulator.generate_logs import plant_logs

ADJECTIVES = """
    amber autumn blue brisk calm clear copper crisp dawn early fern gentle golden green harbor hazel
    ivory jade kind lunar maple mellow misty noble north oak pearl pine quiet rapid river rowan sage
    silver snow solar stone swift tidal upper velvet warm west wild winter
"""
NOUNS = """
    anchor atlas bakery barrel basket bazaar beacon bicycle books bridge camera candle canvas carpet
    castle ceramics cinema clinic coffee compass cycles dairy depot engine fabric farm florist forge
    foundry gallery garden glass grocer guitar harvest hotel kettle kitchen ladder lantern leather
    library lighting market meadow media mill mobility motors museum music optics orchard outdoor
    paper parcel pharmacy piano pottery press radio records robotics runner sailing school seeds
    shoes skates smith sports stationer studio supply tailor teapot tickets tools toys trading
    travel velo vintage watch weaver wine yarn
"""
ACCOUNTS = ("Retail group", "Media house", "Public services", "Partner brands", "Laboratory", "Subsidiaries")
PEOPLE = ("platform", "security", "automation")
PLANS = {"pro": 46, "business": 25, "enterprise": 24, "free": 5}
REQUESTS_PER_MINUTE = {"free": 15.0, "pro": 90.0, "business": 240.0, "enterprise": 900.0}
RARE_SHARE = 0.18


def generate_fleet(
    zones: int,
    seed: int,
    *,
    accounts: int = 3,
    esc: float = 0.0,
    logs: float = 0.0,
    shells: float = 0.0,
    progress: Callable[[int], None] | None = None,
) -> Fleet:
    """A fleet of `zones` zones over `accounts` accounts; `progress` hears the number of zones made so far.

    `esc` is the share of the zones that have Edge Side Code, 0 to 1; nothing else depends on it but natural
    noise at the edge, which is there when it is not 0. `logs` is the share of the Enterprise zones that have
    custom log fields and log jobs already; nothing else depends on it. `shells` is the share of the zones
    with a WAF whose new configuration runs no rule; nothing else depends on it.

    Credentials: a token for each of three users, and a key for the first; all reach every zone. Their values
    have the right form and depend on the seed alone; they are good for nothing but the simulator. Raises
    ValueError when a number is too small, or the share is none.
    """
    if zones < 1 or accounts < 1:
        raise ValueError("a fleet needs at least one zone and one account")
    if not all(0 <= share <= 1 for share in (esc, logs, shells)):
        raise ValueError("esc, logs and shells are shares of the zones, from 0 to 1")
    random = Random(f"fleet {seed}")
    names = _names(zones, random)
    held = [FleetAccount(name=_account_name(number)) for number in range(accounts)]
    for account in held:
        account.id = derived_id("account", str(seed), account.name)
    shares = [1 / (place + 1.5) for place in range(accounts)]
    plans, plan_weights = list(PLANS), list(PLANS.values())
    order = list(range(zones))
    random.shuffle(order)
    made: list[FleetZone | None] = [None] * zones
    for number, place in enumerate(order):
        case = CASES[number] if number < len(CASES) else _case(random)
        plan = case.plan or random.choices(plans, plan_weights)[0]
        # The first accounts of the fleet are never empty, however small it is.
        account = held[number] if number < accounts else random.choices(held, shares)[0]
        made[place] = _zone(case, names[place], plan, account.id, seed)
        if progress and number % 1000 == 999:
            progress(number + 1)
    filled = [zone for zone in made if zone is not None]
    command = f"edgeshift fleet generate --zones {zones} --seed {seed} --accounts {accounts}"
    if esc:
        plant(filled, seed, esc)
        command += f" --esc {esc:g}"
    if logs:
        plant_logs(filled, seed, logs)
        command += f" --logs {logs:g}"
    if shells:
        plant_shells(filled, seed, shells)
        command += f" --shells {shells:g}"
    users = [
        FleetUser(email=f"{person}@example.com", id=derived_id("user", str(seed), person))
        for person in PEOPLE
    ]
    return Fleet(
        note=f"Made by `{command}`.",
        users=users,
        credentials=_credentials(users, seed),
        accounts=held,
        zones=filled,
    )


def plant_shells(zones: list[FleetZone], seed: int, share: float) -> None:
    """Let a share of the zones with a WAF, one at least, get a new configuration that runs nothing, in place.
    Those that are there already or cannot move are left out.
    """
    able = [zone for zone in zones if _has_waf(zone) and zone.migration.state == "start" and eligible(zone)]
    Random(f"shells {seed}").shuffle(able)
    for zone in able[: max(1, round(len(able) * share))]:
        zone.migration.configuration = "disabled"


def _has_waf(zone: FleetZone) -> bool:
    waf = zone.previous_waf
    return waf.enabled and (waf.managed.enabled or waf.owasp.sensitivity != "off")


def _case(random: Random) -> Case:
    pool = RARE if random.random() < RARE_SHARE else COMMON
    return random.choices(pool, [case.weight for case in pool])[0]


def _zone(case: Case, name: str, plan: str, account: str, seed: int) -> FleetZone:
    document: dict[str, Any] = {
        "name": name,
        "plan": plan,
        "account": account,
        "id": derived_id("zone", str(seed), name),
        **case.settings(name),
    }
    if plan == "free" and "previous_waf" not in document:
        # The free plan has no managed rules to migrate from.
        document["previous_waf"] = {"enabled": False}
    document["traffic"] = {"requests_per_minute": REQUESTS_PER_MINUTE[plan], **document.get("traffic", {})}
    return FleetZone.model_validate(document)


def _names(count: int, random: Random) -> list[str]:
    """Different names of zones under .example, which nobody can own."""
    pairs = [f"{adjective}-{noun}" for adjective in ADJECTIVES.split() for noun in NOUNS.split()]
    random.shuffle(pairs)
    rounds = -(-count // len(pairs))
    numbered = (f"{pair}-{turn + 1}" if turn else pair for turn in range(rounds) for pair in pairs)
    return [f"{name}.example" for name, _ in zip(numbered, range(count), strict=False)]


def _account_name(number: int) -> str:
    return ACCOUNTS[number] if number < len(ACCOUNTS) else f"Account {number + 1}"


def _credentials(users: list[FleetUser], seed: int) -> list[Credential]:
    found = [
        Credential(
            label=f"{person}-token",
            user=user.id,
            kind="token",
            value=f"simulated-{_digits(seed, person, 'token')[:30]}",
        )
        for person, user in zip(PEOPLE, users, strict=True)
    ]
    key = Credential(
        label=f"{PEOPLE[0]}-key", user=users[0].id, kind="key", value=_digits(seed, PEOPLE[0], "key")[:37]
    )
    return [*found, key]


def _digits(seed: int, person: str, kind: str) -> str:
    return hashlib.sha256(f"edgeshift simulated {kind} {person} {seed}".encode()).hexdigest()
