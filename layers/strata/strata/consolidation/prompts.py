"""Prompts as data: instructions from ``data/prompts``, everything a user wrote as quoted lines of a section.

Nothing is ever formatted into the instructions, so braces in a text mean nothing. A prompt's version is the digest of
its file: who changes the file changes the version that each run records.
"""

import hashlib
from collections.abc import Sequence
from functools import lru_cache
from importlib import resources

from strata.model.messages import JsonObject


@lru_cache  # the files do not change while the process lives
def instructions(name: str, language: str) -> str:
    """Return the instructions ``name`` (``judge`` or ``conflicts``) in ``zh`` or ``en``."""
    file = resources.files("strata.consolidation") / "data" / "prompts" / f"{name}.{language}.txt"
    return file.read_text(encoding="utf-8")


@lru_cache
def version(name: str, language: str) -> str:
    """Return what identifies a prompt, e.g. ``judge.zh@1f0c2a7b``."""
    digest = hashlib.sha256(instructions(name, language).encode()).hexdigest()
    return f"{name}.{language}@{digest[:8]}"


def section(tag: str, lines: Sequence[str]) -> str:
    """Return a section. The lines hold no ``<``: what users wrote in them is quoted (``transcript.quoted``)."""
    return "\n".join((f"<{tag}>", *lines, f"</{tag}>"))


def request(name: str, language: str, *sections: str) -> list[JsonObject]:
    """Return the two turns of a request: the instructions, and the data they are about."""
    return [
        {"role": "system", "content": instructions(name, language)},
        {"role": "user", "content": "\n\n".join(sections)},
    ]
