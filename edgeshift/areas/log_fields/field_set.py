"""A set of custom fields, as campaigns want it and as bodies name it (docs/service.md §2.2). Pure."""

from __future__ import annotations

from pydantic import Field

from edgeshift.model.validators import Part


class FieldSet(Part):
    """Custom fields: names of request headers and response headers in lower case, and of cookies, whose case
    counts. What is wrong with names is told by ``edgeshift.areas.log_fields.names``, not here: a body that
    was archived is read whatever it names.
    """

    request_headers: tuple[str, ...] = Field(default=(), description="Request headers of this zone alone.")
    response_headers: tuple[str, ...] = Field(default=(), description="Response headers of this zone alone.")
    cookies: tuple[str, ...] = Field(default=(), description="Cookies of this zone alone.")
