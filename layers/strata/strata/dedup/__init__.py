"""Sameness: what proposes that two texts state one fact, what proves it, and what becomes of a contradiction.

``similarity`` proposes, ``guard`` decides, ``conflict`` says what to do. All of it is pure, needs no model, and treats
Chinese and English alike.
"""

from strata.dedup.conflict import Action, Existing, Resolution, Statement, resolve, resolve_all
from strata.dedup.fingerprint import fingerprint, normalise
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
