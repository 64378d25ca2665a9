"""The stand-in's provider rule set, both generations, as data: one signature is one known kind of attack.

The groups and the forms of the ids follow the real ones. Rows without a new key were not carried over: what
they stop is a gap (docs/service.md §4.3, the review of the validation window).
"""

import re
from typing import Literal

from edgeshift.testbed.simulator.signatures import Part, Signature

_Mode = Literal["block", "challenge", "simulate", "disable"]
_Row = tuple[str, str, Part, _Mode, str, str]

# previous id, new key, part, default mode, description, pattern
_SPECIALS: tuple[_Row, ...] = (
    ("100008", "sqli-union", "args", "block", "SQL injection: UNION", r"\bunion\b.{1,20}\bselect\b"),
    (
        "100008B",
        "sqli-tautology",
        "args",
        "block",
        "SQL injection: tautology",
        r"['\"]\s*or\s+['\"]?(\d+)['\"]?\s*=\s*['\"]?\1",
    ),
    ("100018", "sqli-delay", "args", "block", "SQL injection: delay", r"\b(?:pg_)?sleep\s*\(\s*\d"),
    ("100021", "xss-script", "args", "block", "XSS: script tag", r"<script\b[^>]*>.*(?:alert|cookie|eval)"),
    (
        "100171",
        "xss-handler",
        "args",
        "block",
        "XSS: event handler",
        r"<(?:svg|img|iframe|body)\b[^>]*\bon(?:error|load)\s*=",
    ),
    (
        "100000",
        "rce-command",
        "args",
        "block",
        "Command injection",
        r"[;|&]\s*(?:cat|wget|curl|nc|bash)\s+\S",
    ),
    ("100017", "rce-php", "args", "block", "PHP code in a value", r"<\?php\b.*\$_(?:GET|POST|REQUEST)"),
    (
        "100005",
        "lfi-traversal",
        "args",
        "block",
        "Path traversal to a system file",
        r"\.\./.*\betc/(?:passwd|shadow)",
    ),
    ("100022", "rce-shellshock", "agent", "block", "Shellshock", r"\(\)\s*\{\s*:;\s*\}"),
    ("100514", "log4j", "args", "block", "Log4j lookup", r"\$\{(?:jndi|lower|upper|env|sys):"),
    ("100514B", "log4j-agent", "agent", "block", "Log4j lookup in the user agent", r"\$\{jndi:"),
    ("100201", "xxe", "args", "block", "XML external entity", r"<!ENTITY\s+\S+\s+SYSTEM"),
    (
        "100531",
        "ssrf-metadata",
        "args",
        "block",
        "Request for instance metadata",
        r"https?://169\.254\.169\.254/",
    ),
    (
        "100135",
        "rce-spring",
        "args",
        "block",
        "Class loader reached by a parameter",
        r"\bclassLoader\.resources\b",
    ),
    ("100045", "probe-git", "path", "block", "Probe for a repository", r"/\.(?:git|svn|hg)/"),
    (
        "100046",
        "probe-backup",
        "path",
        "challenge",
        "Probe for a backup",
        r"/(?:backup|dump|db)\.(?:sql|zip|tar\.gz)$",
    ),
    ("100203", "webshell", "path", "block", "Probe for a web shell", r"/(?:c99|r57|wso|alfa)\.php$"),
    (
        "100035",
        "scanner",
        "agent",
        "challenge",
        "Vulnerability scanner",
        r"sqlmap|nikto|nuclei|acunetix|wpscan",
    ),
)
_PHP: tuple[_Row, ...] = (
    ("PHP100001", "php-object", "args", "block", "PHP object injection", r"\bO:\d+:\"\w+\":\d+:\{"),
    ("PHP100004", "php-cgi", "path", "block", "PHP CGI options in the query", r"\.php\?-[a-z]\b"),
    (
        "PHP100011",
        "",
        "path",
        "block",
        "CGI programs of old servers",
        r"/cgi-bin/(?:phf|test-cgi|awstats\.pl)",
    ),
)
_WORDPRESS: tuple[_Row, ...] = (
    (
        "WP0001",
        "wordpress-multicall",
        "args",
        "challenge",
        "WordPress: many calls in one",
        r"\bsystem\.multicall\b",
    ),
    ("WP0002", "wordpress-users", "path", "simulate", "WordPress: list of users", r"/wp-json/wp/v2/users\b"),
    ("WP0015", "", "path", "block", "WordPress: slider plugin reads files", r"\brevslider_show_image\b"),
    ("WP0018", "", "path", "block", "WordPress: thumbnail plugin fetches files", r"/timthumb\.php\?src="),
    (
        "WP0025",
        "wordpress-config",
        "path",
        "block",
        "WordPress: copy of the configuration",
        r"/wp-config\.php[.~]",
    ),
)
_DRUPAL: tuple[_Row, ...] = (
    ("D0001", "drupal-name", "path", "block", "Drupal: SQL injection by name", r"\bname\[0[^\]]*;"),
    (
        "D0002",
        "drupal-form",
        "path",
        "block",
        "Drupal: code by a form element",
        r"#post_render|#lazy_builder",
    ),
)
_JOOMLA: tuple[_Row, ...] = (
    ("J0001", "joomla-session", "agent", "block", "Joomla: object in the session", r"\}__(?:test|\w+)\|O:"),
    (
        "J0002",
        "joomla-fields",
        "path",
        "block",
        "Joomla: SQL injection by list order",
        r"\boption=com_fields\b.*updatexml",
    ),
)
_MAGENTO: tuple[_Row, ...] = (
    (
        "MAG0001",
        "magento-shoplift",
        "path",
        "block",
        "Magento: administration by directive",
        r"/Adminhtml_.*directive",
    ),
    ("MAG0002", "magento-import", "path", "challenge", "Magento: import probe", r"/magmi/web/"),
)
_MISC: tuple[_Row, ...] = (
    ("100019", "struts", "args", "block", "Struts expression", r"%\{\(?#?(?:_|nike|context)"),
    (
        "100035C",
        "",
        "agent",
        "block",
        "E-mail harvester",
        r"EmailSiphon|EmailCollector|ExtractorPro|EmailWolf",
    ),
    (
        "100035D",
        "",
        "agent",
        "challenge",
        "Empty-handed copier",
        r"^(?:WebCopier|Teleport\s?Pro|SiteSnagger)",
    ),
    ("100050", "range-flood", "args", "simulate", "Very many ranges", r"bytes=(?:\d*-\d*,){20}"),
)
_OLD_CMS: tuple[_Row, ...] = (
    ("PL0001", "", "path", "disable", "Plone: import of a module", r"/p_/webdav/xmltools"),
    (
        "WHMCS0001",
        "",
        "args",
        "block",
        "WHMCS: SQL injection by a quote",
        r"\bviewticket\.php.*tid\[sqltype\]",
    ),
)

_GROUPS: tuple[tuple[str, str, tuple[_Row, ...]], ...] = (
    ("Managed Specials", "specials", _SPECIALS),
    ("Managed Php", "php", _PHP),
    ("Managed WordPress", "wordpress", _WORDPRESS),
    ("Managed Drupal", "drupal", _DRUPAL),
    ("Managed Joomla", "joomla", _JOOMLA),
    ("Managed Magento", "magento", _MAGENTO),
    ("Managed Miscellaneous", "broken-access", _MISC),
    ("Managed Other Applications", "", _OLD_CMS),
)

MANAGED: tuple[Signature, ...] = tuple(
    Signature(
        previous=previous,
        new=new,
        group=group,
        description=description,
        part=part,
        pattern=re.compile(pattern, re.IGNORECASE | re.DOTALL),
        category=category,
        mode=mode,
    )
    for group, category, rows in _GROUPS
    for previous, new, part, mode, description, pattern in rows
)
"""Every rule of the provider's rule set."""
