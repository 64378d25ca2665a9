"""The stand-in's core rule set, both generations: 2.x (previous) and 3.x (new), as data (docs/service.md §9).

Not the open-source rules themselves but a compact likeness: the same families, ids of the same form,
severities and paranoia levels of the same sizes, and regular expressions that tell plain attacks from plain
traffic.
"""

import re

from edgeshift.testbed.simulator.signatures import CRITICAL, ERROR, NOTICE, WARNING, Part, Severity, Signature

_Row = tuple[str, str, int, Severity, str, str]

# previous id, new id, paranoia level, severity, description, pattern
_SQL: tuple[_Row, ...] = (
    ("959070", "942100", 1, CRITICAL, "SQL injection: UNION SELECT", r"\bunion\b.{1,20}\bselect\b"),
    (
        "981320",
        "942140",
        1,
        CRITICAL,
        "SQL injection: common database names",
        r"\binformation_schema\b|\bsysobjects\b",
    ),
    ("950901", "942130", 1, CRITICAL, "SQL tautology", r"\b(\d+)\s*=\s*\1\b"),
    (
        "950007",
        "942160",
        1,
        CRITICAL,
        "Blind SQL injection by delay",
        r"\b(?:pg_)?sleep\s*\(|\bbenchmark\s*\(",
    ),
    (
        "959071",
        "942190",
        1,
        CRITICAL,
        "SQL injection: SELECT FROM with a table",
        r"\bselect\b.{1,40}\bfrom\b.{1,30}--",
    ),
    ("981244", "942180", 1, CRITICAL, "SQL authentication bypass", r"['\"]\s*(?:or|and)\s+['\"]?\d"),
    (
        "981248",
        "942360",
        1,
        CRITICAL,
        "Concatenated SQL injection",
        r"\b(?:group_)?concat\s*\(|\bchar\s*\(\d",
    ),
    ("981231", "942440", 1, CRITICAL, "SQL comment sequence", r"--\s*$|/\*!"),
    ("959073", "942350", 1, CRITICAL, "Stacked SQL query", r";\s*(?:drop|insert|update|delete|alter)\s"),
    (
        "981276",
        "942170",
        1,
        CRITICAL,
        "Conditional SQL injection",
        r"\bif\s*\(\s*\d+\s*=|\bcase\s+when\b.*\bthen\b",
    ),
    ("", "942120", 2, CRITICAL, "SQL keyword", r"\b(?:select|insert\s+into|update|delete\s+from)\b"),
    ("", "942260", 2, CRITICAL, "SQL condition", r"\b(?:where|having)\b.{1,40}[=<>]"),
    ("", "942300", 2, CRITICAL, "SQL clause", r"\b(?:join|group\s+by|order\s+by|limit)\b\s+\w"),
    ("", "942370", 2, CRITICAL, "SQL quotation", r"`\w+`|'\w+'\s*[,;)]"),
    ("", "942480", 2, CRITICAL, "SQL aggregate", r"\b(?:count|sum|min|max|avg)\s*\("),
    ("", "942251", 3, CRITICAL, "HAVING clause", r"\bhaving\b"),
    ("", "942432", 4, WARNING, "Many special characters", r"(?:[^\w\s].*?){6}"),
)
_XSS: tuple[_Row, ...] = (
    ("958051", "941110", 1, CRITICAL, "XSS: script tag", r"<script\b"),
    ("958404", "941120", 1, CRITICAL, "XSS: event handler", r"\bon(?:error|load|mouseover|focus)\s*="),
    ("958001", "941180", 1, CRITICAL, "XSS: document object", r"\bdocument\s*\.\s*(?:cookie|write|location)"),
    ("958052", "941370", 1, CRITICAL, "XSS: script function", r"\b(?:alert|prompt|confirm|eval)\s*\("),
    ("973336", "941100", 1, CRITICAL, "XSS: closing script tag", r"</script\s*>"),
    (
        "973300",
        "941160",
        1,
        CRITICAL,
        "XSS: HTML injection",
        r"<(?:svg|img|iframe|object|embed|body)\b[^>]*\bon\w+\s*=",
    ),
    ("973305", "941140", 1, CRITICAL, "XSS: script address", r"\b(?:javascript|vbscript)\s*:"),
    ("973331", "941390", 1, CRITICAL, "XSS: encoding function", r"\bfromCharCode\b|\batob\s*\("),
    ("973344", "941280", 1, CRITICAL, "XSS: tag broken out of", r"['\"]\s*/?>\s*<"),
    ("", "941320", 2, CRITICAL, "HTML tag", r"<(?:p|div|span|a|table|h[1-6]|ul|li|b|em|strong)\b"),
    ("", "941330", 2, CRITICAL, "HTML attribute", r"\b(?:style|class|id)\s*=\s*[\"']"),
    ("", "941340", 2, CRITICAL, "HTML closing tag", r"</[a-z][a-z0-9]*>"),
    ("", "941150", 2, CRITICAL, "HTML link", r"\b(?:href|src)\s*=\s*[\"']"),
    ("", "941380", 2, CRITICAL, "HTML entity", r"&(?:nbsp|amp|lt|gt|quot|#\d+);"),
)
_SHELL: tuple[_Row, ...] = (
    (
        "950006",
        "932100",
        1,
        CRITICAL,
        "Command injection",
        r"[;|&]\s*(?:cat|ls|id|wget|curl|nc|bash|uname|whoami)\b",
    ),
    ("950907", "932150", 1, CRITICAL, "Remote download", r"\b(?:wget|curl)\b\s+(?:-\S+\s+)*https?://"),
    (
        "958711",
        "932160",
        1,
        CRITICAL,
        "Path of a system program or file",
        r"/bin/(?:ba)?sh\b|/etc/(?:passwd|shadow)\b",
    ),
    ("958976", "932130", 1, CRITICAL, "Command substitution", r"\$\(\s*\w+"),
    ("958830", "932110", 1, CRITICAL, "Permission change", r"\bchmod\s+(?:\+x|[0-7]{3})"),
    ("950908", "932140", 1, CRITICAL, "Interpreter started", r"\b(?:python|perl|ruby|php)\d?\s+-[ecr]\b"),
    ("958837", "932180", 1, CRITICAL, "Write to a shared folder", r">\s*/(?:tmp|dev/shm)/|/dev/tcp/"),
    ("959151", "933100", 1, CRITICAL, "PHP open tag", r"<\?(?:php|=)"),
    ("958977", "933140", 1, CRITICAL, "PHP stream", r"\bphp://(?:input|filter)"),
    (
        "958978",
        "933150",
        1,
        CRITICAL,
        "PHP function",
        r"\b(?:system|shell_exec|passthru|base64_decode|assert)\s*\(",
    ),
    ("958979", "933130", 1, CRITICAL, "PHP variable", r"\$_(?:GET|POST|REQUEST|SERVER|COOKIE)\b"),
    ("", "932200", 2, CRITICAL, "Administration program", r"\b(?:sudo|apt|npm|pip|docker|kubectl|git)\s+\w"),
    ("", "932210", 2, CRITICAL, "Shell variable", r"\$[A-Z][A-Z_]+"),
    ("", "932220", 2, CRITICAL, "Shell pipe", r"\|\s*(?:grep|awk|sed|tee|xargs|sort)\b"),
    ("", "932230", 2, CRITICAL, "Command option", r"(?:^|\s)--[a-z][\w-]+"),
    ("", "932240", 2, CRITICAL, "Relative path of a program", r"(?:^|\s)(?:\./|~/)\w"),
    ("", "934120", 2, CRITICAL, "Template expression", r"\{\{.*?\}\}"),
    ("", "934130", 2, CRITICAL, "Template statement", r"\{%.*?%\}"),
    ("", "934140", 2, CRITICAL, "Template filter", r"\|\s*(?:escape|raw|safe|upper|default)\b"),
    ("", "934150", 2, CRITICAL, "Template loop", r"\b(?:endfor|endif|endblock)\b"),
)
_FILES: tuple[_Row, ...] = (
    ("950103", "930100", 1, CRITICAL, "Path traversal", r"(?:\.\.[/\\]){2,}"),
    ("950104", "930110", 1, CRITICAL, "Path traversal, any", r"\.\.[/\\]"),
    (
        "950005",
        "930120",
        1,
        CRITICAL,
        "Operating system file",
        r"\betc/(?:passwd|shadow|hosts)\b|\bboot\.ini\b",
    ),
    ("950117", "931100", 1, CRITICAL, "Remote file inclusion", r"^https?://\d+\.\d+\.\d+\.\d+/"),
    ("950118", "931120", 1, CRITICAL, "File scheme", r"\b(?:file|expect|zip)://"),
    ("950119", "930130", 1, CRITICAL, "Restricted file", r"\.(?:htaccess|htpasswd|env)\b|\bproc/self/"),
    ("960901", "920270", 1, CRITICAL, "NUL in a value", r"\x00"),
)
_ROBOTS: tuple[_Row, ...] = (
    (
        "990002",
        "913100",
        1,
        CRITICAL,
        "Security scanner",
        r"sqlmap|nikto|nessus|acunetix|dirbuster|masscan|nuclei",
    ),
    ("990901", "913101", 2, CRITICAL, "Scripting client", r"^(?:python-requests|Go-http-client|libwww-perl)"),
    ("990012", "", 1, NOTICE, "Rogue web site crawler", r"webreaper|websnake|wisewire"),
)
_ANOMALIES: tuple[_Row, ...] = (
    ("960024", "920272", 3, ERROR, "Characters outside the printable range", r"[^\x09\x0a\x0d\x20-\x7e]"),
    ("", "920273", 4, CRITICAL, "Characters outside a very strict set", r"[^\w\s.,/:@+%=?&-]"),
)
_SPAM: tuple[_Row, ...] = (
    ("981137", "", 1, CRITICAL, "Comment spam: known words", r"\b(?:viagra|cialis|casino|payday\s+loan)\b"),
    ("981138", "", 1, CRITICAL, "Comment spam: many links", r"(?:\[url=|<a\s+href=).*(?:\[url=|<a\s+href=)"),
    ("950923", "", 1, CRITICAL, "Comment spam: link in a name field", r"^(?:buy|cheap|best)\s.*https?://"),
)
_TROJANS: tuple[_Row, ...] = (
    ("950921", "", 1, CRITICAL, "Backdoor access", r"\b(?:c99shell|r57shell|b374k)\b"),
    ("950922", "", 1, CRITICAL, "Backdoor answer", r"\bx_file_to_run\b"),
)

_FAMILIES: tuple[tuple[str, str, Part, tuple[_Row, ...]], ...] = (
    ("OWASP SQL Injection Attacks", "attack-sqli", "args", _SQL),
    ("OWASP XSS Attacks", "attack-xss", "args", _XSS),
    ("OWASP Generic Attacks", "attack-rce", "args", _SHELL),
    ("OWASP Protocol Violations", "attack-lfi", "args", _FILES),
    ("OWASP Bad Robots", "attack-reputation-scanner", "agent", _ROBOTS),
    ("OWASP Protocol Anomalies", "attack-protocol", "args", _ANOMALIES),
    ("OWASP Comment Spam", "", "args", _SPAM),
    ("OWASP Trojans", "", "args", _TROJANS),
)

OWASP: tuple[Signature, ...] = tuple(
    Signature(
        previous=previous,
        new=new,
        group=group,
        description=description,
        part=part,
        pattern=re.compile(pattern, re.IGNORECASE if new != "932210" else 0),
        category=category,
        paranoia=paranoia,
        severity=severity,
    )
    for group, category, part, rows in _FAMILIES
    for previous, new, paranoia, severity, description, pattern in rows
)
"""Every rule of the core rule set. A row without a new id was dropped; one without a previous id was
added.
"""

PREVIOUS_SCORE_RULE = "981176"
"""The previous rule whose event tells that the anomaly score passed the threshold."""

PREVIOUS_THRESHOLDS = {"high": 25, "medium": 40, "default": 40, "low": 60}
"""Anomaly points at which the previous core rule set acts, by its sensitivity; "off" is not among them."""
