"""What every model of a fleet file is built on."""

from pydantic import BaseModel, ConfigDict


class Strict(BaseModel):
    """A model that refuses unknown keys, so that a typing mistake is never taken for a default."""

    model_config = ConfigDict(extra="forbid")
