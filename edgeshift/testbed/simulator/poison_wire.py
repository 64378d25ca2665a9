"""Mutations of an answer's bytes, headers and status. Pure."""

from __future__ import annotations

import functools
import gzip

from edgeshift.testbed.simulator.poison_brew import JSON_TYPE, Brew, Mutation

ELSEWHERE = "http://elsewhere.invalid/client/v4/"
BOMB = 64 * 1024 * 1024


def cut(brew: Brew) -> None:
    """JSON that ends in the middle, its length as it is."""
    data = brew.bytes()
    brew.body = data[: brew.chance.randint(0, max(0, len(data) - 1))]


def garbled(brew: Brew) -> None:
    """Some bytes are others."""
    data = bytearray(brew.bytes())
    for _ in range(min(len(data), brew.chance.choice((1, 3, 30)))):
        data[brew.chance.randrange(len(data))] = brew.chance.randrange(256)
    brew.body = bytes(data)


def trailing(brew: Brew) -> None:
    """A second document after the first, or other things around it."""
    data = brew.bytes()
    brew.body = brew.chance.choice(
        [data + data, data + b"}", b")]}',\n" + data, b"\x00" + data, b"// x\n" + data]
    )


def marked(brew: Brew) -> None:
    """A byte order mark, or another encoding than UTF-8."""
    text = brew.bytes().decode("utf-8", "replace")
    brew.body = brew.chance.choice(
        [b"\xef\xbb\xbf" + text.encode(), text.encode("utf-16"), text.encode("utf-32")]
    )


def no_json(brew: Brew) -> None:
    """Something else than JSON."""
    brew.body = brew.chance.choice(
        [b"", b" ", b"null", b"OK", b'""', b"[]", b"{}", b"<html></html>", b"\x00" * 999]
    )


def other_type(brew: Brew) -> None:
    """Another content type, or several, or none."""
    kinds = ["text/html", "text/plain; charset=utf-16", "application/octet-stream", "image/png", ";;;", ""]
    brew.headers = [one for one in brew.headers if one != JSON_TYPE]
    brew.headers += [
        ("content-type", kind) for kind in brew.chance.sample(kinds, brew.chance.choice((0, 1, 2)))
    ]
    if JSON_TYPE not in brew.headers and brew.chance.random() < 0.2:
        brew.headers.append(("content-type", "application/json; charset=nonsense"))


def not_compressed(brew: Brew) -> None:
    """A content encoding that the body is not in."""
    kinds = ["gzip", "deflate", "br", "zstd", "compress", "gzip, gzip", "nonsense", "identity, identity"]
    brew.headers.append(("content-encoding", brew.chance.choice(kinds)))


def compressed(brew: Brew) -> None:
    """A body that is compressed, once or twice or not to its end, with or without saying so."""
    data = gzip.compress(brew.bytes(), mtime=0)
    brew.body, said = brew.chance.choice(
        [
            (data, "gzip"),
            (data, ""),
            (data[:-6], "gzip"),
            (gzip.compress(data, mtime=0), "gzip"),
            (data * 2, "gzip"),
        ]
    )
    if said:
        brew.headers.append(("content-encoding", said))


@functools.cache
def _bomb(times: int) -> bytes:
    data = b"[" * BOMB
    for _ in range(times):
        data = gzip.compress(data, 9, mtime=0)
    return data


def bomb(brew: Brew) -> None:
    """A small body that unpacks to 64 MB, or does so only in the second turn."""
    times = brew.chance.choice((1, 1, 2))
    brew.body = _bomb(times)
    brew.headers.append(("content-encoding", ", ".join(["gzip"] * times)))


def redirect(brew: Brew) -> None:
    """A redirect to elsewhere, to nowhere, or to nothing."""
    brew.status = brew.chance.choice((300, 301, 302, 303, 304, 307, 308))
    target = brew.chance.choice(
        [ELSEWHERE, "/", "//elsewhere.invalid/", "file:///etc/hosts", "\x7f", "http://[", None]
    )
    if target is not None:
        brew.headers.append(("location", target))
    if brew.status == 304:
        brew.body = b""


def odd_status(brew: Brew) -> None:
    """A status of success that means something else, or one that nobody knows."""
    brew.status = brew.chance.choice((201, 202, 203, 204, 205, 206, 207, 226, 299, 101, 103, 600, 999))


def many_headers(brew: Brew) -> None:
    """Several hundred headers, some of them again and again."""
    for number in range(brew.chance.choice((200, 400, 900))):
        brew.headers.append(
            (brew.chance.choice([f"x-odd-{number}", "set-cookie", "cf-ray", "date"]), "x" * 40)
        )


def odd_headers(brew: Brew) -> None:
    """Headers that mean something, with nonsense in them."""
    brew.headers += brew.chance.sample(
        [
            ("retry-after", "-1"),
            ("retry-after", "Wed, 99 Feb 99999 25:61:61 GMT"),
            ("retry-after", "9" * 400),
            ("date", "yesterday"),
            ("date", "Mon, 01 Jan 9999 00:00:00 +9999"),
            ("date", "Mon, 01 Jan 1970 00:00:00 GMT"),
            ("ratelimit", '"default";r=-1;t=' + "9" * 400),
            ("cf-ray", "x" * 5_000),
            ("cf-ray", "\x80\xff"),
            ("x-long", "x" * 20_000),
        ],
        3,
    )


WIRE: dict[str, Mutation] = {
    "cut": cut,
    "garbled": garbled,
    "trailing": trailing,
    "marked": marked,
    "no-json": no_json,
    "other-type": other_type,
    "not-compressed": not_compressed,
    "compressed": compressed,
    "bomb": bomb,
    "redirect": redirect,
    "odd-status": odd_status,
    "many-headers": many_headers,
    "odd-headers": odd_headers,
}
