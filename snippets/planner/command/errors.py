"""What the person at the keyboard can mend: a sentence, exit code 2."""

from __future__ import annotations


class UsageError(Exception):
    """A wrong flag, an input that cannot be read, a config that cannot be planned."""
