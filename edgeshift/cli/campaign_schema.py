"""``edgeshift campaign-schema``: the JSON schema of campaign files."""

from __future__ import annotations

from edgeshift.cli.shell import current


def campaign_schema() -> None:
    """Print the JSON schema of a campaign file, by which editors complete and check it."""
    from edgeshift.campaign_file import schema

    current().print_json(schema.campaign_schema())
