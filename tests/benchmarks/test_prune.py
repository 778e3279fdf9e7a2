"""Proposing and deciding against the floor: one raw rapidfuzz ``cdist`` of the same size, in the same run.

CPU time of this process is compared, so that neighbours on the machine do not decide.
"""

import random
import time
from collections.abc import Callable, Sequence
from functools import partial
from statistics import median

import pytest
from rapidfuzz import process
from rapidfuzz.distance import Levenshtein

from strata.dedup import Profiles, decide, propose_batch
from strata.dedup.fingerprint import canonical
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


def prune(new: Sequence[str], profiles: Profiles, stored: Sequence[str]) -> None:
    """Propose, and let the guard decide on every proposal."""
    for text, proposals in zip(new, propose_batch(new, profiles), strict=True):
        for proposal in proposals:
            decide(stored[proposal.place], text)


def cpu_ms(work: Callable[[], object]) -> float:
    begin = time.process_time()
    work()
    return (time.process_time() - begin) * 1_000


@pytest.fixture(scope="module")
def texts() -> tuple[list[str], list[str]]:
    rng = random.Random(SEED)
    return sentences(STORED, rng), sentences(CANDIDATES, rng)


def test_proposing_and_deciding_cost_at_most_three_raw_distance_matrices(texts: tuple[list[str], list[str]]) -> None:
    stored, new = texts
    preparing = cpu_ms(partial(Profiles, stored, topics=False))
    profiles = Profiles(stored)
    floor = [cpu_ms(partial(process.cdist, new, stored, scorer=Levenshtein.normalized_similarity)) for _ in range(5)]
    proposing = [cpu_ms(partial(propose_batch, new, profiles)) for _ in range(5)]
    pruning = [cpu_ms(partial(prune, new, profiles, stored)) for _ in range(5)]
    print(
        f"\n{STORED} stored, {CANDIDATES} new: cdist {median(floor):.0f} ms, "
        f"propose {median(proposing):.0f} ms ({median(proposing) / median(floor):.2f} x), "
        f"with the guard {median(pruning):.0f} ms ({median(pruning) / median(floor):.2f} x); "
        f"profiles without topics once {preparing:.0f} ms"
    )
    assert median(proposing) <= 3 * median(floor)
    assert median(pruning) <= 3 * median(floor)


def test_a_decision_takes_a_third_of_a_millisecond(texts: tuple[list[str], list[str]]) -> None:
    stored, new = texts
    pairs = list(zip(stored[: 2 * CANDIDATES], new * 2, strict=True))
    decide("用户喜欢茶", "User likes tea")
    for cache in (canonical, read):
        cache.cache_clear()
    cold = median(cpu_ms(partial(decide, old, text)) for old, text in pairs[:CANDIDATES])
    warm = median(cpu_ms(partial(decide, old, text)) for old, text in pairs[:CANDIDATES])
    print(f"\ndecide, median: {cold:.3f} ms with neither text read before, {warm:.3f} ms with both")
    assert warm <= 0.3
    assert cold <= 1.0
