"""What evidence keeps of a request: enough to find it again, and nothing that is anybody's secret."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from edgeshift.areas.waf.redacted import redacted_network, redacted_query, redacted_request
from edgeshift.model.redacted_path import HIDDEN, LONGEST_PATH, redacted_path


@pytest.mark.parametrize(
    ("path", "shown"),
    [
        ("/cart", "/cart"),
        ("/shop/kitchen/teapot-12", "/shop/kitchen/teapot-12"),
        ("/assets/app.3f2a9b7c.js", "/assets/app.3f2a9b7c.js"),
        ("/wiki/List_of_Formula_1_drivers", "/wiki/List_of_Formula_1_drivers"),
        ("/how-to-make-tea-in-2023-for-you", "/how-to-make-tea-in-2023-for-you"),
        ("/wp-content/plugins/thumbs/timthumb.php", "/wp-content/plugins/thumbs/timthumb.php"),
        ("/api/v1/orders", "/api/v1/orders"),
        ("/auth/callback", "/auth/callback"),
        ("/monkey/item-2023", "/monkey/item-2023"),
        ("/u/ann@example.com/edit", "/u/…/edit"),
        ("/u/ann%40example.com", "/u/…"),
        ("/reset/Zx81kd", "/reset/…"),
        ("/password-reset/a1b2c3d4", "/password-reset/…"),
        ("/d/eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.x1", "/d/…"),
        ("/o/550e8400-e29b-41d4-a716-446655440000/pay", "/o/…/pay"),
        ("/f/0123456789abcdef0123456789abcdef", "/f/…"),
        ("/call/+491701234567", "/call/…"),
        ("/cart;jsessionid=1A530637289A03B07199A44E8D531427", "/cart"),
        ("/cart?token=1", "/cart"),
        ("", ""),
        (None, ""),
        (17, "17"),
    ],
)
def test_paths_are_shown_without_what_may_be_secret(path: object, shown: str) -> None:
    """E-mail addresses, tokens, identifiers and long numbers; what people named a page stays."""
    assert redacted_path(path) == shown


@given(
    st.text(
        "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ", min_size=24, max_size=60
    ).filter(lambda text: any(map(str.isdigit, text)) and any(map(str.isalpha, text))),
    st.sampled_from(["/", "/a/", "/files/x/"]),
    st.sampled_from(["", "/edit", ".json"]),
)
def test_a_long_token_is_never_in_a_path(token: str, before: str, after: str) -> None:
    """Wherever it stands."""
    assert token not in redacted_path(before + token + after)


@given(st.text(), st.text(max_size=40))
def test_anything_can_be_shown(path: str, query: str) -> None:
    """Whatever clients sent; at most so many characters."""
    assert len(redacted_path(path)) <= LONGEST_PATH
    assert redacted_request({"clientRequestPath": path, "clientRequestQuery": query}) is not None


def test_a_query_keeps_names_alone() -> None:
    """A part without a name is all value; a name that is a token goes too."""
    assert redacted_query("?q=tea&page=2&x1") == f"q={HIDDEN}&page={HIDDEN}&{HIDDEN}"
    token = "a1b2c3d4e5f6a7b8c9d0"
    assert token not in redacted_query(f"{token}=1&{token}")
    assert redacted_query(None) == ""


@pytest.mark.parametrize(
    ("address", "network"),
    [
        ("198.51.100.77", "198.51.100.0/24"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1::/48"),
        ("", "unreadable"),
        (None, "unreadable"),
        ("ann", "unreadable"),
    ],
)
def test_of_an_address_only_the_network_is_shown(address: object, network: str) -> None:
    """24 bits of it, or 48."""
    assert redacted_network(address) == network
