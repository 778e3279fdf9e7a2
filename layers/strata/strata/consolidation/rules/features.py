"""What the weighing looks at in a sentence: its words, their classes, its moods, and which rules matched."""

import re
from collections.abc import Iterable, Mapping, Sequence
from math import sqrt

from strata.consolidation.rules.lexicon import NAMES
from strata.consolidation.rules.matching import Finding

_TOKEN = re.compile(r"[a-z']+|\d+|[\u4e00-\u9fff]|[\ue000-\uf8ff]|[^\sa-z0-9]")
_LONGEST = 3
WORDS_WEIGHT = 8.0
"""Length of the vector of word sequences, whatever the length of the sentence."""
RULE_WEIGHT = 4.0


def features(coded: str, moods: Iterable[str], findings: Sequence[Finding]) -> dict[str, float]:
    """Return the features of a sentence by name: ``n:`` word sequences, ``c:`` classes, ``m:`` moods, ``g:`` rules."""
    tokens = ["^", *("#" if token.isdigit() else token for token in _TOKEN.findall(coded)), "$"]
    sequences = {
        "n:" + " ".join(tokens[start : start + length])
        for length in range(1, _LONGEST + 1)
        for start in range(len(tokens) - length + 1)
    }
    weight = WORDS_WEIGHT / sqrt(len(sequences))
    found: dict[str, float] = dict.fromkeys(sequences, weight)
    found.update((f"c:{NAMES[token]}", 1.0) for token in set(tokens) if token in NAMES)
    found.update((f"m:{mood}", 1.0) for mood in moods)
    groups = {f"g:{finding.rule.group}" for finding in findings} or {"g:none"}
    found.update(dict.fromkeys(groups, RULE_WEIGHT))
    return found


def readable(name: str) -> str:
    """Return a feature as an explanation shows it: class characters by their names."""
    text = name.removeprefix("n:")
    return "".join(f"<{NAMES[character]}>" if character in NAMES else character for character in text)


def strongest(parts: Mapping[str, float], count: int) -> list[str]:
    """Return the names of the features that weighed most, readable, strongest first."""
    ranked = sorted((name for name in parts if parts[name] > 0), key=lambda name: -parts[name])
    return [readable(name) for name in ranked[:count]]
