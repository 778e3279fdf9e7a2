"""Proposing and deciding against the floor: one raw rapidfuzz ``cdist`` of the same size, in the same run.

CPU time of this process is compared, so that neighbours on the machine do not decide.
"""

import random
import time
from collections.abc import Callable, Sequence
from functools import partial

import pytest
from rapidfuzz import process
from rapidfuzz.distance import Levenshtein

from strata.dedup import Profiles, decide, propose_batch
from strata.dedup.fingerprint import canonical, normalise
from strata.dedup.reading import read

STORED, CANDIDATES = 10_000, 200
SEED = 20_250_602

CHINESE = (
    "用户 妈妈 爸爸 女儿 儿子 爷爷 奶奶 小李 老王 姐姐 哥哥".split(),
    "香菜 花生 牛奶 咖啡 海鲜 榴莲 绿茶 钢琴 瑜伽 羽毛球 西班牙语 象棋 游泳 红烧肉 爵士乐 科幻小说".split(),
    ("{}不吃{}", "{}喜欢{}", "{}对{}过敏", "{}每周三晚上学{}", "{}讨厌{}，但是孩子喜欢", "{}每天早上七点以后才能碰{}"),
    ("", "，已经三年了", "，医生说的", "，周末除外", "，搬到杭州以后一直这样"),
)
ENGLISH = (
    "User Mom Dad Grandma Bob Alice Carol Dave Erin Frank".split(),
    "coffee peanuts hiking jazz sushi swimming yoga chess pottery opera cycling Spanish horror-films gardening".split(),
    (
        "{} likes {}",
        "{} does not like {}",
        "{} is allergic to {}",
        "{} has {} class every Wednesday evening",
        "{} gave up {}",
    ),
    ("", " since last year", " on weekends", ", as confirmed in May", " because of the doctor's advice"),
)


def sentences(count: int, rng: random.Random) -> list[str]:
    """Short memories in two languages, some alike; a number keeps most of them apart."""
    return [_sentence(rng.choice((CHINESE, ENGLISH)), rng) for _ in range(count)]


def _sentence(language: tuple[Sequence[str], ...], rng: random.Random) -> str:
    who, what, sayings, extras = (rng.choice(words) for words in language)
    return sayings.format(who, what) + extras + f" {rng.randrange(1_000)}"


def cpu_seconds(work: Callable[[], object]) -> float:
    begin = time.process_time()
    work()
    return time.process_time() - begin


def prune(new: Sequence[str], profiles: Profiles, stored: Sequence[str]) -> int:
    """Propose, then let the guard decide on the three best of each: what a batch of candidates costs."""
    proposed = propose_batch(new, profiles)
    for text, proposals in zip(new, proposed, strict=True):
        for proposal in proposals[:3]:
            decide(stored[proposal.index], text)
    return sum(map(len, proposed))


@pytest.fixture(scope="module")
def texts() -> tuple[list[str], list[str]]:
    rng = random.Random(SEED)
    return sentences(STORED, rng), sentences(CANDIDATES, rng)


def test_proposals_cost_no_more_than_three_raw_distance_matrices(texts: tuple[list[str], list[str]]) -> None:
    stored, new = texts
    profiles = Profiles(stored)
    propose_batch(new[:5], profiles)
    floor = min(
        cpu_seconds(partial(process.cdist, new, stored, scorer=Levenshtein.normalized_similarity)) for _ in range(3)
    )
    proposing = min(cpu_seconds(partial(propose_batch, new, profiles)) for _ in range(3))
    deciding = cpu_seconds(partial(prune, new, profiles, stored))
    preparing = cpu_seconds(partial(Profiles, stored, topics=False))
    print(
        f"\n{STORED} stored x {CANDIDATES} new: cdist {floor:.3f} s, propose {proposing:.3f} s ({proposing / floor:.2f} x), "
        f"with the guard {deciding:.3f} s ({deciding / floor:.2f} x), profiles {preparing:.3f} s"
    )
    assert proposing <= 3 * floor
    assert deciding <= 3 * floor + CANDIDATES * 3 * 0.000_3


def test_a_decision_takes_a_third_of_a_millisecond(texts: tuple[list[str], list[str]]) -> None:
    stored, new = texts
    pairs = list(zip(stored[:400], new * 2, strict=True))
    decide(*pairs[0])
    for cache in (canonical, read):
        cache.cache_clear()
    cold = sorted(cpu_seconds(partial(decide, old, text)) for old, text in pairs)[len(pairs) // 2]
    warm = sorted(cpu_seconds(partial(decide, old, text)) for old, text in pairs)[len(pairs) // 2]
    print(f"\ndecide: {cold * 1e3:.3f} ms with both texts unread (median), {warm * 1e3:.3f} ms with both read")
    assert normalise(pairs[0][0])
    assert warm <= 0.000_3
    assert cold <= 0.001
