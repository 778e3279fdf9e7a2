"""API keys: ``sk_<key_id>_<secret>``. Pure; the randomness comes from the caller.

The secret has 256 bits of its own, so a fast hash is enough: there is nothing to guess.
"""

import hashlib
import hmac
import re
from typing import NamedTuple

_KEY = re.compile(r"sk_(?P<key_id>[A-Za-z0-9]{8,32})_(?P<secret>[A-Za-z0-9_-]{32,128})")


class PresentedKey(NamedTuple):
    """The two halves of a key as a caller shows it."""

    key_id: str
    secret: str


def rendered(key_id: str, secret: str) -> str:
    """Return the key as it is shown, once."""
    return f"sk_{key_id}_{secret}"


def parsed(text: str) -> PresentedKey | None:
    """Return the halves of a key, or None if the text is none."""
    match = _KEY.fullmatch(text)
    return PresentedKey(match["key_id"], match["secret"]) if match else None


def hashed(secret: str) -> str:
    """Return what is stored of a secret."""
    return hashlib.sha256(_bytes(secret)).hexdigest()


def fits(secret: str, stored_hash: str) -> bool:
    """Compare in constant time."""
    return hmac.compare_digest(hashed(secret), stored_hash)


def same(one: str, other: str) -> bool:
    """Compare two secrets in constant time, whatever their lengths."""
    return hmac.compare_digest(_bytes(one), _bytes(other))


def _bytes(text: str) -> bytes:
    """A header may hold anything, half a surrogate pair too."""
    return text.encode(errors="surrogatepass")
