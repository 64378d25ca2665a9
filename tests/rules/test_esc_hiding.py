"""The scope's secret in what a site says back: no form of it survives."""

from __future__ import annotations

import base64
import html
import json
from collections.abc import Callable
from time import perf_counter
from urllib.parse import quote, unquote, unquote_plus

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from edgeshift.areas.esc.hiding import hider, nothing_known
from edgeshift.areas.esc.observation import Observation, facts_of
from edgeshift.runtime.redaction import MASK

SENDABLE = "".join(chr(code) for code in range(0x21, 0x7F) if chr(code) not in '",;\\')
SECRETS = st.text(SENDABLE, min_size=6, max_size=40)
FORMS: dict[str, Callable[[str], str]] = {
    "plain": str,
    "percent": lambda one: quote(one, safe=""),
    "percent, lower": lambda one: "".join(f"%{ord(char):02x}" for char in one),
    "percent twice": lambda one: quote(quote(one, safe=""), safe=""),
    "some by percent": lambda one: one.replace("&", "%26").replace("=", "%3D"),
    "html": html.escape,
    "html twice": lambda one: html.escape(html.escape(one)),
    "html numbers": lambda one: "".join(f"&#{ord(char)};" for char in one),
    "html hexadecimal": lambda one: "".join(f"&#X{ord(char):04x};" for char in one),
    "json": lambda one: json.dumps(one)[1:-1].replace("/", "\\/"),
    "json units": lambda one: "".join(f"\\u{ord(char):04X}" for char in one),
    "json in json": lambda one: json.dumps(json.dumps(one).replace("/", "\\/"))[3:-3],
    "script": lambda one: "".join(f"\\x{ord(char):02x}" for char in one),
    "octal": lambda one: "".join(f"\\{ord(char):03o}" for char in one),
    "decoded": unquote,
    "decoded as a form": unquote_plus,
    "decoded as html": html.unescape,
    "decoded, in json": lambda one: json.dumps(unquote(one))[1:-1],
    "hexadecimal": lambda one: one.encode().hex(),
}
"""How a site may write what it was sent."""


@given(SECRETS, st.sampled_from(sorted(FORMS)), st.sampled_from(["", "disable_esc=", "DISABLE%5fESC%3d"]))
@example("abc/defghijk&mn", "json", "disable_esc=")
@example("abc%5c%5cdefg", "decoded, in json", "")
@example("abc/defghijk&mn", "html", "")
@example("abc/defghijk&mn", "some by percent", "")
def test_no_form_of_the_secret_survives(secret: str, form: str, name: str) -> None:
    """However a site writes it, behind the cookie's name or by itself."""
    written = FORMS[form](secret)
    if len(written) < 6:
        return
    assert hider(secret)(f"x {name}{written} y") == f"x {MASK} y"


@given(SECRETS, st.data())
def test_nor_does_one_of_which_each_character_is_written_in_its_own_way(
    secret: str, data: st.DataObject
) -> None:
    """Some by percent, some as HTML, some as they are."""
    ways = [FORMS[name] for name in ("plain", "percent", "html numbers", "html", "json units", "script")]
    written = "".join(data.draw(st.sampled_from(ways))(char) for char in secret)
    assert hider(secret)(f"<p>{written}</p>") == f"<p>{MASK}</p>"


@given(SECRETS, st.binary(max_size=5), st.binary(max_size=5))
def test_nor_does_base64(secret: str, before: bytes, after: bytes) -> None:
    """Wherever it stands in what was encoded: its first and last characters at most are left."""
    for encode in (base64.b64encode, base64.urlsafe_b64encode):
        left = hider(secret)(encode(before + secret.encode() + after).decode())
        assert MASK in left
        assert len(left) <= len(MASK) + len(encode(before + after)) + 8


@given(st.text(SENDABLE, min_size=1, max_size=5))
def test_a_short_secret_is_hidden_behind_the_cookies_name(secret: str) -> None:
    """A word of a page is not hidden, and what stands behind the name is."""
    assert secret in hider(secret)(f"by itself {secret} it stays")
    for form in ("percent", "html numbers", "html hexadecimal", "json units", "script"):
        assert hider(secret)(f"disable_esc={FORMS[form](secret)}\n") == f"{MASK}\n"


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("a=1; disable_esc=what-ever/follows&it; b=2", f"a=1; {MASK} b=2"),
        (r"disable_esc=a\u0026b\/c\n", rf"{MASK}\n"),
        ("<p>disable_esc=x</p><p>hello</p>", f"<p>{MASK}</p><p>hello</p>"),
        ('{"cookie": "disable_esc=x", "b": 1}', f'{{"cookie": "{MASK}", "b": 1}}'),
        ("disable_esc is a cookie", "disable_esc is a cookie"),
    ],
)
def test_what_stands_behind_the_name_is_hidden_whoever_looks(text: str, left: str) -> None:
    """Up to the next separator; also where no secret is known, so that a page that is watched looks alike."""
    assert nothing_known(text) == left
    assert hider("another-secret")(text) == left


def test_json_is_hidden_once_it_is_decoded() -> None:
    """A document within a document, deeply escaped: neither keys nor what is said of the request show it."""
    secret = "abc/defghijk&mn"
    inner = json.dumps({"k": secret}).replace("/", "\\/")
    body = json.dumps({"method": "GET", "host": inner, "path": f"/{secret}", "headers": {secret: secret}})
    seen = Observation(url="/", host="shop.example", with_cookie=True, status=200, body=body)
    facts = facts_of(seen, hide=hider(secret))
    assert set(facts.values.values()) >= {'{"k": "[redacted]"}', f"/{MASK}", MASK}
    assert "defghijk" not in repr(facts)


@pytest.mark.parametrize("piece", ["a", "%25", "&amp;", "&#0", "\\", "disable_esc=", "disable_esc", "\\\\u"])
def test_a_text_is_searched_in_its_length(piece: str) -> None:
    """Nothing that a site writes makes it take more than some seconds."""
    hide = hider("adisable_esc", "abc/defghijk&mn", "%5c" * 12 + "x", "%26" * 12 + "%25" * 9, "a" * 100)
    began = perf_counter()
    hide(piece * ((1 << 18) // len(piece)))
    assert perf_counter() - began < 20
