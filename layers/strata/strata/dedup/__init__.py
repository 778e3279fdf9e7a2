"""Sameness: what proposes that two texts state one fact, what proves it, and what becomes of a contradiction.

``similarity`` proposes, ``guard`` decides, ``conflict`` says what to do. All of it is pure, needs no model, and treats
Chinese and English alike.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from strata.dedup.fingerprint import fingerprint, normalise

if TYPE_CHECKING:
    from strata.dedup.conflict import Action, Existing, Resolution, Statement, resolve, resolve_all
    from strata.dedup.guard import Keep, PairDecision, PairKind, decide
    from strata.dedup.similarity import Profiles, Proposal, Signal, Thresholds, propose, propose_batch

__all__ = [
    "Action",
    "Existing",
    "Keep",
    "PairDecision",
    "PairKind",
    "Profiles",
    "Proposal",
    "Resolution",
    "Signal",
    "Statement",
    "Thresholds",
    "decide",
    "fingerprint",
    "normalise",
    "propose",
    "propose_batch",
    "resolve",
    "resolve_all",
]

_HOMES = {
    **dict.fromkeys(("Action", "Existing", "Resolution", "Statement", "resolve", "resolve_all"), "conflict"),
    **dict.fromkeys(("Keep", "PairDecision", "PairKind", "decide"), "guard"),
    **dict.fromkeys(("Profiles", "Proposal", "Signal", "Thresholds", "propose", "propose_batch"), "similarity"),
}


def __getattr__(name: str) -> object:
    """Import on first use: a function that only takes fingerprints starts without the guard and its tables."""
    if name not in _HOMES:
        raise AttributeError(name)
    return getattr(import_module(f"strata.dedup.{_HOMES[name]}"), name)
