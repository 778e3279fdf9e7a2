"""The sentence that is kept: the user's own words, with the subject made explicit.

我对花生过敏 → 用户对花生过敏; "I can't do dairy" → "User can't do dairy"; a pronoun gets the person it stands for.
"""

import re
from dataclasses import dataclass
from functools import cache

from strata.consolidation.folding import fold
from strata.consolidation.rule_data import table
from strata.consolidation.rules.english import in_third_person
from strata.consolidation.rules.lexicon import CLASSES, code
from strata.consolidation.rules.patterns import compiled
from strata.consolidation.texts import has_han

_ZH_PRONOUNS = (
    (re.compile(r"(?<![自忘])我(?:们|們)?家(?=那位|那口子|那个)"), "用户家"),
    (re.compile(r"(?:我们|咱们|我們|咱們|咱|俺们)家"), "用户家"),
    (re.compile(r"(?:我们|咱们|我|咱|俺)(?=这儿|这里|这边|那儿|那边|這邊|這裡)"), "用户"),
    (re.compile(r"(?:我们|咱们|我們|咱們|俺们)(?=团队|公司|部门|组|学校|班|办公室|小区|楼|宿舍|單位|单位)"), "用户的"),
    (re.compile(r"我们俩|咱俩|我們倆|我们两个"), "用户两人"),
    (re.compile(r"我们|咱们|我們|咱們|俺们|咱"), "用户这边"),
    (re.compile(r"(?<![自忘本])[我俺](?=家(?:里)?)"), "用户"),
    (re.compile(r"本人"), "用户"),
    (re.compile(r"(?<![自忘])[我俺](?=自己|对|也|是|不|还|都|就|这|那|从|在|有|没|要|会|能)"), "用户"),
    (re.compile(r"(?:你们|您|你)(?=推荐|给|说|选|挑|安排|发|上[次周回个]|昨|前天|教|列|订|买|的|写|之前|那)"), "助手"),
)
_ZH_SELF = re.compile(r"(?<![自忘])[我俺]")
_ZH_NAMED_SUBJECT = re.compile(r"用户|助手|他|她|它|家里|全家|大家|孩子")
_ZH_PRONOUN = re.compile(r"^(?P<before>[^，,。]{0,6}?)(?P<pronoun>[他她它])(?!们|奶奶|爸|妈|爷|姐|哥|人|家)")
_ZH_ADDING = re.compile(r"^(?:而且|并且|同时|另外)?[,，]?(?:也|还|又)(?=不|没|别|对|讨厌|喜欢|爱|怕|有|是|吃|喝)")
_IMPERATIVE_ZH = re.compile(
    r"^(?:请|千万|一定|务必|绝对|以后|今后|永远)?(?:别|不要|不许|勿|禁止|记得|给|把|让)|(?:别|不要|不许|免|去掉|拿掉)"
)
MAX_CHARS = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Speech:
    """What the wording of a statement may lean on."""

    person: str = ""
    """The person last spoken of, e.g. 用户的儿子, *User's dad*; what 他 and *he* stand for."""
    names_person: bool = False
    """The statement itself names a person, a pet or another subject."""
    about_person: bool = True
    """It is a fact about somebody, so that it needs a subject."""
    shared: bool = False
    """It goes to the agents' layer, so that no user stands in it."""


def worded(text: str, speech: Speech) -> str:
    """Return the sentence to keep, at most 200 characters."""
    bare = _unwrapped(text)
    if speech.shared:
        return _fitted(bare)
    sentence = _chinese(bare, speech) if has_han(bare) else in_third_person(bare, speech.person)
    return _fitted(sentence)


def person_named(text: str) -> str:
    """Return a mention of a person as it reads in a memory: 我儿子 → 用户的儿子, *my dad* → *User's dad*."""
    if has_han(text):
        return _of_user_zh(re.sub(r"^(?:我们家|我家|咱家|我们|我|俺|咱)的?", "用户的", text))
    return in_third_person(text, "").removesuffix(".")


def _unwrapped(text: str) -> str:
    """Drop greetings, fillers and requests to remember around a statement."""
    lead, trail = _wrapping("lead"), _wrapping("trail")
    folded = fold(text)
    start, end = 0, len(folded.text)
    while (match := lead.match(folded.text, start, end)) and start < match.end() < end:
        start = match.end()
    while (match := trail.search(folded.text, start, end)) and start < match.start() < end:
        end = match.start()
    kept = text[folded.offsets[start] : folded.offsets[end - 1] + 1] if end > start else text
    return kept.strip(" ,，。.;；:：—–-~～!！\n\t")


def _chinese(text: str, speech: Speech) -> str:
    sentence = text
    for pattern, replacement in _ZH_PRONOUNS:
        sentence = pattern.sub(replacement, sentence)
    sentence = _of_user_zh(_ZH_SELF.sub("用户", sentence))
    if speech.person and not speech.names_person:
        sentence = _ZH_PRONOUN.sub(lambda match: match["before"] + speech.person, sentence, count=1)
    if speech.about_person and not speech.names_person and not _ZH_NAMED_SUBJECT.search(sentence):
        return _with_subject_zh(sentence, speech.person)
    return sentence


def _with_subject_zh(sentence: str, person: str) -> str:
    """不吃香菜 → 用户不吃香菜; what goes on about somebody else (也讨厌豌豆, after 我儿子…) gets that person."""
    if _IMPERATIVE_ZH.search(sentence):
        return f"用户要求：{sentence}"
    going_on = _ZH_ADDING.match(sentence)
    if going_on:
        sentence = sentence[going_on.end() :]
    return (person if going_on and person else "用户") + sentence


def _of_user_zh(sentence: str) -> str:
    """用户儿子 → 用户的儿子."""
    coded = code(sentence)
    for index in range(len(coded.text) - 1, 1, -1):
        if coded.text[index - 2 : index] == "用户" and coded.text[index] == CLASSES["person"]:
            place = coded.starts[index]
            sentence = f"{sentence[:place]}的{sentence[place:]}"
    return sentence


def _fitted(sentence: str) -> str:
    """Cut at the last clause that fits."""
    if len(sentence) <= MAX_CHARS:
        return sentence
    cut = max(sentence.rfind(mark, 0, MAX_CHARS) for mark in "，,。；; ")
    return sentence[: cut if cut > MAX_CHARS // 2 else MAX_CHARS].rstrip(" ,，;；")


@cache
def _wrapping(name: str) -> re.Pattern[str]:
    return compiled(table("talk")["wrapping"][name], {})
