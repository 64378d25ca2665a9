"""What a campaign is asked to do, as data: the model behind the campaign file. Pure.

Every rule of the file is a type or a validator here or in the models of its parts, and every field says what
it means: errors, the commented file of ``edgeshift init``, the tables of the documentation and the JSON
schema are made from that. Every field but ``name`` and ``targets`` has a default. Secrets appear as
references only (``env:NAME``, ``file:PATH``).

Workers read the model again out of the archive, with every default written out. So a validator judges values,
never whether a value was given; and what one refuses today, no campaign that runs may have been started with.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import timedelta
from typing import Annotated, Any

from pydantic import (
    Field,
    StringConstraints,
    ValidationError,
    ValidationInfo,
    ValidatorFunctionWrapHandler,
    field_validator,
)

from edgeshift.areas import BUILT_IN, area_of
from edgeshift.areas.esc.terms import EscSpec
from edgeshift.areas.log_fields.names import Kind, mistakes
from edgeshift.areas.log_fields.terms import FieldSet, LogFieldsSpec
from edgeshift.areas.waf import Adjustment
from edgeshift.campaign_file.parts import (
    CommitSpec,
    ConsentSpec,
    PlanSpec,
    TargetSpec,
    TicketSpec,
    ValidationMode,
    ValidationSpec,
    WaveAdvance,
)
from edgeshift.campaign_file.service import CredentialSpec, RateSpec, Reference, ServiceSpec
from edgeshift.model.durations import Duration
from edgeshift.model.fleet import DEFAULT_AREA, Area
from edgeshift.model.rollout import WaveSpec, wave_troubles
from edgeshift.model.sign_off import SignOffPolicy, policy_troubles
from edgeshift.model.validators import NUMBER, UP, Part, Trouble, refuse, right

__all__ = [
    "SECTIONS",
    "CampaignSpec",
    "CommitSpec",
    "ConsentSpec",
    "CredentialSpec",
    "PlanSpec",
    "RateSpec",
    "Reference",
    "ServiceSpec",
    "TargetSpec",
    "TicketSpec",
    "ValidationMode",
    "ValidationSpec",
    "WaveAdvance",
]

SECTIONS = {key: area for area in BUILT_IN for key in area_of(area).sections}
"""Parts of a campaign that one area alone has."""

Name = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9-]{0,59}$")]

_IDENTIFIER = re.compile(r"[0-9a-f]{32}")


class CampaignSpec(Part):
    """A campaign as its file says it. Of the parts that SECTIONS names, those of other areas are at their
    defaults and mean nothing.
    """

    name: Name = Field(
        description="Names the campaign: lower-case letters, digits and hyphens. One name is one campaign.",
        json_schema_extra=right(
            "a name has 1 to 60 lower-case letters, digits and hyphens, and begins with a letter or digit"
        ),
    )
    targets: TargetSpec = Field(
        description="Which zones. Zones and accounts are named by name or by identifier."
    )
    area: Area = Field(
        default=DEFAULT_AREA,
        description="What is changed: waf, esc (Edge Side Code off) or log-fields (custom fields in logs).",
    )
    service: ServiceSpec = Field(
        default=ServiceSpec(), description="Where the service is, and how it is called."
    )
    plan: PlanSpec = Field(default=PlanSpec(), description="What the plan has read, and how long it counts.")
    waves: Annotated[tuple[WaveSpec, ...], Field(max_length=100)] = Field(
        default=(),
        description="Waves in order, each with zones (a number) or percent (of all); the rest comes last.",
        examples=[[{"name": "canary", "zones": 5}, {"name": "early", "percent": 10}]],
    )
    advance: WaveAdvance = Field(
        default=WaveAdvance(), description="When the next wave begins, and when nothing more is sent."
    )
    window: Annotated[int, Field(ge=1, le=1000), NUMBER] = Field(
        default=20, description="How many zones work at a time. Those that wait do not count."
    )
    sign_off: SignOffPolicy = Field(
        default=SignOffPolicy(), description="Who signs. Nothing irreversible happens without it."
    )
    validation: ValidationSpec = Field(
        default=ValidationSpec(), description="The validation window, which only Enterprise zones have."
    )
    consents: ConsentSpec = Field(
        default=ConsentSpec(),
        validate_default=True,
        description="What the campaign may do beyond the ordinary.",
    )
    adjustments: tuple[Adjustment, ...] = Field(
        default=(),
        description="Changes to every proposal, beside what the service returns; signed off with it.",
        examples=[
            [
                {
                    "ruleset": "efb7b8c949ac4650a09736fc376e9aee",
                    "rule": "5de7edfa648c4d6891dc3e7f84534ffa",
                    "action": "log",
                }
            ]
        ],
    )
    esc: EscSpec = Field(default=EscSpec(), description="How Edge Side Code is turned off.")
    log_fields: LogFieldsSpec = Field(
        default=LogFieldsSpec(),
        validate_default=True,
        description="Which fields are logged: 40 of a zone at most, header names in lower case.",
    )
    commit: CommitSpec = Field(default=CommitSpec(), description="How the step that was signed is made.")
    tickets: TicketSpec = Field(
        default=TicketSpec(),
        description="Where support tickets go. With nothing given: a folder beside the archive.",
    )
    waits_for_support: Duration = Field(
        default=timedelta(days=14),
        description="How long a zone waits for `support-resolved` before it ends as needs_support.",
    )
    sweep: Duration = Field(
        default=timedelta(minutes=10),
        description="How often the campaign looks for zones that have been silent.",
    )
    silence: Duration = Field(
        default=timedelta(minutes=1),
        description="How long a worker may say nothing of a piece of work before another takes it over.",
    )
    time_scale: Annotated[float, Field(ge=1, le=1_000_000), NUMBER] = Field(
        default=1.0, description="Divides every duration, for rehearsals. 1 in production."
    )

    @field_validator("waves")
    @classmethod
    def _waves_add_up(cls, waves: tuple[WaveSpec, ...]) -> tuple[WaveSpec, ...]:
        refuse(wave_troubles(waves))
        return waves

    @field_validator("sign_off")
    @classmethod
    def _can_be_signed(cls, sign_off: SignOffPolicy) -> SignOffPolicy:
        refuse(policy_troubles(sign_off))
        return sign_off

    @field_validator("consents")
    @classmethod
    def _consents_cover(cls, consents: ConsentSpec, info: ValidationInfo) -> ConsentSpec:
        validation = info.data.get("validation", ValidationSpec())
        if ValidationMode.ENFORCE in validation.modes and not consents.enforce_validation:
            said = (
                "has enforce, which can block requests before anybody agreed; it needs"
                " consents.enforce_validation: true"
            )
            refuse([((UP, "validation", "modes"), said)])
        return consents

    @field_validator("esc")
    @classmethod
    def _whole_accounts(cls, esc: EscSpec, info: ValidationInfo) -> EscSpec:
        targets = info.data.get("targets")
        if targets is not None and info.data.get("area") is Area.ESC and esc.scope == "account":
            refuse(
                (
                    (UP, "targets", key),
                    f"{key} chooses among zones, but esc.scope is account, which stands for every zone of an"
                    " account: name accounts under targets.accounts, or write `esc: {scope: zone}`",
                )
                for key in ("include", "exclude", "plans")
                if getattr(targets, key)
            )
        return esc

    @field_validator("log_fields")
    @classmethod
    def _fields_for_targets(cls, log_fields: LogFieldsSpec, info: ValidationInfo) -> LogFieldsSpec:
        if info.data.get("area") is Area.LOG_FIELDS:
            refuse(_without_fields(log_fields, info.data.get("targets")))
        return log_fields

    @field_validator(*SECTIONS, mode="wrap")
    @classmethod
    def _of_this_area(cls, value: Any, read: ValidatorFunctionWrapHandler, info: ValidationInfo) -> Any:
        area, section = info.data.get("area"), str(info.field_name)
        owner = SECTIONS[section]
        if area is None or area is owner:
            return read(value)
        usual = cls.model_fields[section].get_default(call_default_factory=True)
        try:
            found = read(value)
        except ValidationError:
            # What is wrong inside of it does not matter: it goes as a whole.
            found = None
        if found != usual:
            raise ValueError(
                f"belongs to campaigns of area {owner.value}, and this one is of area {area.value}:"
                f" remove it, or write `area: {owner.value}`"
            )
        return found

    def scaled(self) -> CampaignSpec:
        """The same campaign with every duration divided by ``time_scale``.

        Limits of transport (``request_limit``), of permits (``lease``, ``send_window``, ``margin``) and of
        workers (``silence``) are technical and stay. So does the age up to which a plan's readings count
        (``plan.fresh``): it is for what people change meanwhile, and they do not work faster. Waits between
        polls and sweeps keep a floor, since real work happens in them. Nothing becomes longer than it was.
        """
        scale = self.time_scale
        if scale == 1:
            return self

        def shorter(value: timedelta, floor: float = 0.0) -> timedelta:
            return min(value, max(value / scale, timedelta(seconds=floor)))

        return self.model_copy(
            update={
                "service": self.service.model_copy(
                    update={
                        "patience": shorter(self.service.patience, 20),
                        "rate": self.service.rate.model_copy(update={"per": shorter(self.service.rate.per)}),
                    }
                ),
                "sign_off": self.sign_off.model_copy(
                    update={
                        "expires_after": shorter(self.sign_off.expires_after, 1),
                        "valid_for": shorter(self.sign_off.valid_for, 1),
                    }
                ),
                "validation": self.validation.model_copy(
                    update={"window": shorter(self.validation.window, 0.5)}
                ),
                "commit": self.commit.model_copy(
                    update={
                        "migration_limit": shorter(self.commit.migration_limit, 8),
                        "poll": shorter(self.commit.poll, 0.25),
                    }
                ),
                "esc": self.esc.model_copy(
                    update={
                        "observe": shorter(self.esc.observe, 1),
                        "every": shorter(self.esc.every, 0.5),
                        "effect_limit": shorter(self.esc.effect_limit, 20),
                        "fresh": shorter(self.esc.fresh, 60),
                        "secret_takes": shorter(self.esc.secret_takes, 0.5),
                    }
                ),
                "log_fields": self.log_fields.model_copy(
                    update={
                        "verify": shorter(self.log_fields.verify, 5),
                        "every": shorter(self.log_fields.every, 0.5),
                        "effect_limit": shorter(self.log_fields.effect_limit, 20),
                    }
                ),
                "waits_for_support": shorter(self.waits_for_support, 1),
                "sweep": shorter(self.sweep, 2),
            }
        )


def _without_fields(log_fields: LogFieldsSpec, targets: TargetSpec | None) -> Iterator[Trouble]:
    """Zones with fields that are no targets, and targets without fields. A campaign without fields of its own
    is right only where each zone brings its own. ``targets``: None where they are wrong by themselves.
    """
    some = any(getattr(log_fields, kind.attribute) for kind in Kind)
    if not some and not log_fields.zones:
        yield (), mistakes(FieldSet())[0]
        return
    if targets is None:
        return
    for name in log_fields.zones:
        if name == name.lower() and _left_out(name, targets):
            yield ("zones", name), "is not among the targets: add it to targets.include, or remove it here"
    if some:
        return
    if targets.all or targets.accounts:
        yield (
            (),
            "only the zones under log_fields.zones have fields, and the targets are more than those: name"
            " fields for all of them, or the zones alone under targets.include",
        )
    else:
        bare = [name for name in targets.include if name.lower() not in log_fields.zones and not _is_id(name)]
        if bare:
            yield (), f"{bare[0]} would get no field: name some for all zones, or under log_fields.zones"


def _left_out(name: str, targets: TargetSpec) -> bool:
    """Whether a zone certainly is no target. Identifiers and accounts are only known to the service."""
    if name in _lower(targets.exclude):
        return True
    if not targets.include or targets.accounts or any(map(_is_id, (name, *targets.include))):
        return False
    return name not in _lower(targets.include)


def _lower(names: Sequence[str]) -> set[str]:
    return {name.lower() for name in names}


def _is_id(name: str) -> bool:
    return _IDENTIFIER.fullmatch(name) is not None
