"""``edgeshift campaign-schema``: the JSON schema of campaign files."""

from __future__ import annotations

import typer


def campaign_schema() -> None:
    """Print the JSON schema of a campaign file, by which editors complete and check it."""
    from edgeshift.campaign_file.schema import schema_text

    typer.echo(schema_text(), nl=False)
