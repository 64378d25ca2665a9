"""The features that rewrite HTML on its way out; configuration rules and Edge Side Code except paths from
them."""

import re
from collections.abc import Set

from edgeshift.testbed.simulator.fleet_edge import EdgeFeature

_EMAIL = r"[A-Za-z0-9._%+-]+@[A-Za-z0-9.-]+\.[A-Za-z]{2,}"
_MAIL_LINK = re.compile(rf'<a href="mailto:({_EMAIL})">[^<]*</a>')
_SCRIPT = re.compile(r"<script(?![^>]*\btype=)([^>]*)>")


def featured(html: str, features: Set[EdgeFeature], *, host: str, zone_id: str) -> str:
    """The page as the features leave it. The same page of a zone always comes out the same."""
    if "email_obfuscation" in features:
        html = _MAIL_LINK.sub(lambda match: _obfuscated(match[1], int(zone_id[:2], 16)), html)
    if "rocket_loader" in features and "<script" in html:
        token = zone_id[:24]
        html = _SCRIPT.sub(rf'<script type="{token}-text/javascript"\1>', html)
        loader = (
            '<script src="/cdn-cgi/scripts/rocket-loader.min.js" data-cf-settings="{}-|49" defer></script>'
        )
        html = html.replace("</body>", f"{loader.format(token)}</body>")
    if "automatic_https_rewrites" in features:
        html = re.sub(rf'((?:src|href)=")http://(?=(?:[a-z0-9-]+\.)*{re.escape(host)}/)', r"\1https://", html)
    return html


def _obfuscated(address: str, key: int) -> str:
    hidden = f"{key:02x}" + "".join(f"{byte ^ key:02x}" for byte in address.encode())
    return (
        f'<a href="/cdn-cgi/l/email-protection" class="__cf_email__" data-cfemail="{hidden}">'
        "[email&#160;protected]</a>"
    )
