"""What a campaign is asked to do, as data: the model behind the campaign file. Pure.

Every rule of the file is a type or a validator here or in the models of its parts, and every field says what
it means: errors, the commented file of ``edgeshift init``, the tables of the documentation and the JSON
schema are made from that. Every field but ``name`` and ``targets`` has a default. Secrets appear as
references only (``env:NAME``, ``file:PATH``).

Workers read the model again out of the archive, with every default written out. So a validator judges values,
never whether a value was given; and what one refuses today, no campaign that runs may have been started with.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated, Any, Literal, TypeVar

from pydantic import (
    Field,
    SerializerFunctionWrapHandler,
    StringConstraints,
    TypeAdapter,
    ValidationError,
    ValidationInfo,
    ValidatorFunctionWrapHandler,
    WrapValidator,
    create_model,
    field_validator,
    model_serializer,
)

from edgeshift.areas import AreaNotLoaded, area_of
from edgeshift.areas.section import AreaSection, shorter
from edgeshift.campaign_file.modes import ValidationMode
from edgeshift.campaign_file.parts import (
    CommitSpec,
    ConsentSpec,
    PlanSpec,
    TargetSpec,
    TicketSpec,
    ValidationSpec,
    WaveAdvance,
)
from edgeshift.campaign_file.sections import INSTALLED, LISTS, OWN, SECTIONS, fields
from edgeshift.campaign_file.service import CredentialSpec, RateSpec, Reference, ServiceSpec
from edgeshift.model.durations import Duration
from edgeshift.model.fleet import CAMPAIGN_NAME, DEFAULT_AREA, Area
from edgeshift.model.rollout import WaveSpec, wave_troubles
from edgeshift.model.sign_off import SignOffPolicy, policy_troubles
from edgeshift.model.validators import NUMBER, UP, Part, refuse, right

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

M = TypeVar("M", bound=Part)
P = TypeVar("P", bound=Part)
S = TypeVar("S", bound=AreaSection)

LARGEST_WINDOW = 5_000
"""Zones that work at a time at most, whether a number says so or the window has grown: each costs the workers
memory while it works.
"""

_SIZE = Annotated[int, Field(ge=1, le=LARGEST_WINDOW), NUMBER]
_size: TypeAdapter[int] = TypeAdapter(_SIZE)


def _auto_or_size(value: Any, read: ValidatorFunctionWrapHandler) -> Any:
    """One error for what is neither: that of a number."""
    return value if value == "auto" else _size.validate_python(value)


Window = Annotated[Literal["auto"] | _SIZE, WrapValidator(_auto_or_size)]
"""A number of zones, or ``auto``."""

Name = Annotated[str, StringConstraints(pattern=f"^{CAMPAIGN_NAME.pattern}$")]


class _What(Part):
    """What is changed, by whom and in which order."""

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
    window: Window = Field(
        default=20,
        description="How many zones work at a time, without those that wait. auto begins with few and grows.",
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
                "has enforce, which can block requests before anyone agreed; it needs"
                " consents.enforce_validation: true"
            )
            refuse([((UP, "validation", "modes"), said)])
        return consents


class _How(Part):
    """How it is done."""

    commit: CommitSpec = Field(default=CommitSpec(), description="How the step that was signed is made.")
    tickets: TicketSpec = Field(
        default=TicketSpec(),
        description="Where support tickets go. With nothing given: tickets/ in the worker's state folder.",
    )
    waits_for_support: Duration = Field(
        default=timedelta(days=14),
        description="How long a zone waits for `support-resolved` before it ends as needs_support.",
    )
    sweep: Duration = Field(
        default=timedelta(minutes=10),
        description="How often the campaign looks for zones that have been silent; at least 1s.",
    )
    silence: Duration = Field(
        default=timedelta(minutes=1),
        description="After which silence of a worker, of 1s or longer, another takes its piece of work over.",
    )
    time_scale: Annotated[float, Field(ge=1, le=1_000_000), NUMBER] = Field(
        default=1.0,
        description=(
            "Divides durations, except technical limits and plan.fresh, for rehearsals. 1 in production."
        ),
    )


class _ForeignLeftOut(_What):
    """A campaign where other distributions bring areas."""

    @model_serializer(mode="wrap")
    def _without_those_of_other_areas(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        # What is installed beside must change neither the archived campaign nor its digest.
        found: dict[str, Any] = handler(self)
        foreign = {key for key in INSTALLED if SECTIONS[key] is not self.area}
        return {key: value for key, value in found.items() if key not in foreign}


def _with_areas(model: type[M]) -> type[M]:
    """The model with what areas bring, after what is changed and before how. Raises AreaNotLoaded."""
    brought = fields()
    if taken := model.model_fields.keys() & brought.keys():
        raise AreaNotLoaded(f"an installed area calls its section {min(taken)!r}, which every campaign has")
    # Fields stand as the classes do, the last one's first, and an area's is judged by those before it.
    areas = create_model("_Areas", __base__=_What, **brought)
    return create_model(
        model.__name__,
        __base__=(*((_ForeignLeftOut,) if INSTALLED else ()), model, areas),
        __module__=model.__module__,
        __doc__=model.__doc__,
    )


@_with_areas
class CampaignSpec(_How, _What):
    """A campaign as its file says it. Of the parts that SECTIONS names, those of other areas are at their
    defaults and mean nothing. Those that areas bring are asked for by their models.
    """

    @field_validator(*OWN, check_fields=False)
    @classmethod
    def _fits_the_targets(cls, section: AreaSection, info: ValidationInfo) -> AreaSection:
        if info.data.get("area") is SECTIONS[str(info.field_name)]:
            service = info.data.get("service")
            over = section.over(service.facts) if isinstance(service, ServiceSpec) else ()
            refuse([*section.troubles(info.data.get("targets")), *over])
        return section

    @field_validator(*SECTIONS, mode="wrap", check_fields=False)
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

    @property
    def own_sections(self) -> dict[str, AreaSection]:
        """The sections that areas bring, installed ones too, by their keys."""
        fields = ((key, getattr(self, key)) for key in type(self).model_fields)
        return {key: found for key, found in fields if isinstance(found, AreaSection)}

    def section(self, model: type[S]) -> S:
        """The section of this model. Raises AreaNotLoaded where no area has one."""
        for key, own in OWN.items():
            if own.model is model and isinstance(found := getattr(self, key), model):
                return found
        raise AreaNotLoaded(f"no area has {model.__name__} as its section of campaign files")

    def own_list(self, model: type[P]) -> tuple[P, ...]:
        """The list whose items are of this model. Raises AreaNotLoaded where no area has one."""
        for key, own in LISTS.items():
            if own.model is model:
                return tuple(one for one in getattr(self, key) if isinstance(one, model))
        raise AreaNotLoaded(f"no area has a list of {model.__name__} in campaign files")

    @property
    def largest_window(self) -> int:
        """The most zones that may work at a time. One that sizes itself ends at the failures that are allowed
        and one more, where a change cannot be taken back (docs/rules.md, rule 8).
        """
        if self.window != "auto":
            return self.window
        irreversible = not area_of(self.area).reversible
        return min(LARGEST_WINDOW, self.advance.failures + 1) if irreversible else LARGEST_WINDOW

    def scaled(self) -> CampaignSpec:
        """The same campaign with its durations divided by ``time_scale``.

        Limits of transport (``request_limit``), of permits (``lease``, ``turn_window``, ``send_window``,
        ``margin``) and of workers (``silence``) are technical and stay. So does the age up to which a plan's
        readings count (``plan.fresh``): it is for what people change meanwhile, and they do not work faster.
        Waits between polls and sweeps keep a floor, since real work happens in them. Nothing becomes longer
        than it was.
        """
        scale = self.time_scale
        if scale == 1:
            return self
        return self.model_copy(
            update={
                "service": self.service.model_copy(
                    update={
                        "patience": shorter(self.service.patience, scale, 20),
                        "rate": self.service.rate.model_copy(
                            update={"per": shorter(self.service.rate.per, scale)}
                        ),
                    }
                ),
                "sign_off": self.sign_off.model_copy(
                    update={
                        "expires_after": shorter(self.sign_off.expires_after, scale, 1),
                        "valid_for": shorter(self.sign_off.valid_for, scale, 1),
                    }
                ),
                "validation": self.validation.model_copy(
                    update={"window": shorter(self.validation.window, scale, 0.5)}
                ),
                "commit": self.commit.model_copy(
                    update={
                        "migration_limit": shorter(self.commit.migration_limit, scale, 8),
                        "poll": shorter(self.commit.poll, scale, 0.25),
                    }
                ),
                **{key: getattr(self, key).faster(scale) for key in OWN},
                "waits_for_support": shorter(self.waits_for_support, scale, 1),
                "sweep": shorter(self.sweep, scale, 2),
            }
        )
