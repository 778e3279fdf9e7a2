"""Calls about a user's data; for administrators."""

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from strata.client.transport import Transport, quoted

PARTS: Mapping[str, tuple[str, Callable[[Mapping[str, Any]], object]]] = {
    "sessions": ("messages", lambda entry: entry["key"]["session_id"]),
    "memories": ("history", lambda entry: entry["memory_id"]),
    "quarantined": ("", id),
    "provider_copies": ("", id),
}
"""The parts of an export: what its entries hold step by step, and what names one."""


class UserCalls(Transport):
    """Export."""

    def export_user(self, user_id: str) -> dict[str, Any]:
        """Return everything that is kept of a user as one document, however many answers it takes."""
        path = f"/v1/users/{quoted(user_id)}/export"
        whole: dict[str, Any] = self.call("GET", path)
        following = whole.pop("next", None)
        if following is None:
            return whole
        while following is not None:
            page = self.call("GET", path, query={"after": following})
            _join(whole, page)
            following = page["next"]
        return {**whole, "manifest": _whole_manifest(whole)}


def _join(whole: dict[str, Any], page: Mapping[str, Any]) -> None:
    """Add a page: an entry that was begun before takes up the further steps."""
    for part, (steps, name) in PARTS.items():
        begun, entries = whole[part], list(page[part])
        if steps and begun and entries and name(begun[-1]) == name(entries[0]):
            begun[-1][steps] += entries.pop(0)[steps]
        begun += entries
    pending = (*whole["manifest"]["pending"], *page["manifest"]["pending"])
    whole["manifest"]["pending"] = list(dict.fromkeys(pending))


def _whole_manifest(whole: Mapping[str, Any]) -> dict[str, Any]:
    parts = {part: {"count": len(whole[part]), "sha256": _digest(whole[part])} for part in PARTS}
    return {**whole["manifest"], "complete": True, "parts": parts}


def _digest(part: Sequence[Any]) -> str:
    """The same as the service's, which is in no answer where there are several."""
    text = json.dumps(part, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()
