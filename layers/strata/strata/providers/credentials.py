"""The key of a service: fetched late, kept while it works, in no message, field or representation."""

import threading
from collections.abc import Callable

from strata.errors import ConfigurationError

ReadSecret = Callable[[str], str]
"""Fetches a secret by its name or ARN, anew at each call."""


class Credential:
    """One header that proves who calls."""

    def __init__(self, header: str, scheme: str, read: Callable[[], str]) -> None:
        self._header = header
        self._scheme = scheme
        self._read = read
        self._lock = threading.Lock()
        self._key: str | None = None

    def header(self) -> tuple[str, str]:
        """Return the header's name and value.

        Raises:
            ConfigurationError: the key cannot stand in a header; the message does not repeat it.
            TransientError: the secret cannot be fetched.
        """
        with self._lock:
            if self._key is None:
                self._key = _checked(self._read().strip())
            return self._header, f"{self._scheme} {self._key}".strip()

    def forget(self) -> None:
        """Fetch the key anew at the next call: it may have been rotated."""
        with self._lock:
            self._key = None


def credential(header: str, scheme: str, *, key: str, secret_name: str, secrets: ReadSecret) -> Credential | None:
    """Return the credential that settings name: a key itself, or the secret that holds it; None without either."""
    if key:
        return Credential(header, scheme, lambda: key)
    if secret_name:
        return Credential(header, scheme, lambda: secrets(secret_name))
    return None


def _checked(key: str) -> str:
    if not key or not key.isascii() or not key.isprintable() or " " in key:
        raise ConfigurationError("A provider's key is empty or holds characters that no header can carry.")
    return key
