"""How near two texts are, by their words and pairs of Han characters; on a scale as generous as embeddings are."""

import math
import re
from collections import Counter
from itertools import pairwise

_TOKENS = re.compile(r"[a-z0-9]+|[\u3400-\u9fff]")
_HAN = re.compile(r"[\u3400-\u9fff]")


def tokens(text: str) -> Counter[str]:
    """Words and Han characters, and each pair of neighbouring Han characters."""
    found = _TOKENS.findall(text.lower())
    pairs = [left + right for left, right in pairwise(found) if _HAN.match(left)]
    return Counter([*found, *pairs])


def nearness(left: str, right: str) -> float:
    """From 0 for nothing in common to 1 for the same words."""
    one, other = tokens(left), tokens(right)
    shared = sum(count * other[token] for token, count in one.items())
    lengths = math.sqrt(sum(n * n for n in one.values())) * math.sqrt(sum(n * n for n in other.values()))
    return math.sqrt(shared / lengths) if lengths else 0.0
