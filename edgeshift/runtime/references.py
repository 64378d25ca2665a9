"""Settings that name where a value lies, in place of the value. Pure: `secret_refs` reads it."""


def is_reference(text: str) -> bool:
    """Whether a setting names where its value lies (`env:NAME`, `file:PATH`); else it is the value itself."""
    return text.startswith(("env:", "file:"))
