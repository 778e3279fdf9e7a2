"""Numbers, ordinals and dates written in words become digits, so that 九点 and 9点 are one text.

Works on folded text (``folding.fold``). A Chinese numeral is only a number in front of a counter or when it
holds a power of ten: 三文鱼 and 四川 stay words.
"""

import re
from collections.abc import Callable

from strata.dedup.patterns import pattern

_DIGITS = {
    c: n for n, group in enumerate(("零〇", "一", "二两", "三", "四", "五", "六", "七", "八", "九")) for c in group
}
_POWERS = {"十": 10, "百": 100, "千": 1_000, "万": 10_000, "亿": 100_000_000}

_COUNTERS = (
    "个(?!劲)|只(?![有是要能会吃喝用])|条|张|片|粒|颗|杯|瓶|碗|盒|包(?!括)|袋|份|斤|公斤|千克|克|毫克|毫升|升(?![到级])|米(?!饭)|厘米"
    "|公里|千米|里|岁|年(?!四季)|月|日|号|天(?!到晚)|周|星期|礼拜|小时|钟头|分|秒|刻|次(?!性)|回(?!家|来|到)|遍|顿|节|门|堂|课"
    "|名|位|口|头|匹|辆|台|部|架|栋|层|楼|室|房|间|套|本|页|章|集|首|场|局|站|路(?!上)|线|度|元|块|毛|美元|级|班|期|届|折|成|倍"
    "|代|胎|晚|夜|餐|根|支|枝|把|双|对|件|副|床|环|组|队|款|种|类|平|缸|桶|壶|锅|束|筐|卷|碟|盆|串|亩|寸|英寸|尺|码|[ap]m|kg|km|g\\b|ml"
)
_NUMERAL = "[零〇一二两三四五六七八九十百千万亿]"
_UNDER_TEN = "[一二两三四五六七八九]"
_LARGE = f"{_UNDER_TEN}?十{_UNDER_TEN}|{_UNDER_TEN}[零〇一二三四五六七八九]*[十百千万亿]{_NUMERAL}*"
_IDIOM = "(?!百度|一天(?![假后前内之时])|一口(?![人之])|一滴|一丝|一个人|一度|一周|一点|一块儿|十分(?!钟))"
_WORDS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
    "seventeen eighteen nineteen twenty"
).split()
_TENS = dict(zip(("thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"), range(30, 100, 10), strict=True))
_CARDINALS = {word: n for n, word in enumerate(_WORDS)} | _TENS
_ORDINALS = {
    word: n
    for n, word in enumerate(
        (
            "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth "
            "fifteenth sixteenth seventeenth eighteenth nineteenth twentieth"
        ).split(),
        start=1,
    )
}
_MONTHS = {
    name: n
    for n, names in enumerate(
        "january|jan february|feb march|mar april|apr may june|jun july|jul august|aug september|sep|sept "
        "october|oct november|nov december|dec".split(),
        start=1,
    )
    for name in names.split("|")
}
_MONTH = "|".join(sorted(_MONTHS, key=len, reverse=True))
_BEFORE_MONTH = "in|by|of|before|after|until|till|since|from|every|each|last|next|this|early|late|mid|during"
"""After these *may* and *march* are months."""
_DAY = r"(\d{1,2})(?: (?:st|nd|rd|th)\b)?"


def spell_out_numbers(text: str) -> str:
    """``text`` with its numerals, ordinals and dates in digits."""
    if _CHINESE_FIGURE.search(text):
        text = _applied(_CHINESE, _applied(_CHINESE_SPANS, text) if _CHINESE_SPAN.search(text) else text)
    if _ENGLISH_FIGURE.search(text):
        text = _applied(_ENGLISH, _applied(_ENGLISH_SPANS, text) if _ENGLISH_SPAN.search(text) else text)
    return _applied(_DATES, text) if _DATED.search(text) else text


def _applied(rules: tuple["_Rule", ...], text: str) -> str:
    for found, replace in rules:
        text = found.sub(replace, text)
    return text


def chinese_number(numeral: str) -> int:
    """The value of a Chinese numeral; 一万五 is 15,000 and 二〇二五 is 2,025."""
    if not any(c in _POWERS for c in numeral):
        return int("".join(str(_DIGITS[c]) for c in numeral))
    for unit in "亿万":
        above, mark, below = numeral.rpartition(unit)
        if mark:
            return (chinese_number(above) if above else 1) * _POWERS[unit] + _below(below, _POWERS[unit])
    return _below(numeral, 1)


def _below(numeral: str, power: int) -> int:
    """What follows a unit of ``power``; a last digit without one counts the next smaller: 一万五, 三百五."""
    if any(c in "万亿" for c in numeral):
        return chinese_number(numeral)
    total = digit = 0
    for c in numeral:
        if c in _POWERS:
            power = _POWERS[c]
            total += (digit or 1) * power
            digit = 0
        else:
            digit = _DIGITS[c]
            power = 10 if c in "零〇" else power
    return total + digit * max(power // 10, 1)


def _chinese(match: re.Match[str]) -> str:
    return str(chinese_number(match[1]))


def _ten_thousands(match: re.Match[str]) -> str:
    return f"{float(match[1]) * _POWERS[match[2]]:.0f}"


def _month_day(month: str, day: str, year: str | None) -> str:
    return f"{f'{year}年' if year else ''}{_MONTHS.get(month, month)}月{int(day)}日"


_Rule = tuple[re.Pattern[str], str | Callable[[re.Match[str]], str]]

_DATED = pattern(rf"\b(?:{_MONTH})(?![a-z])|\d{{4}}[-/]\d|\d月\d")
_CHINESE_FIGURE = pattern("[零〇一二两三四五六七八九十百千万亿俩半号满]")
_ENGLISH_FIGURE = pattern(
    rf"\b(?:{'|'.join(_CARDINALS)}|{'|'.join(_ORDINALS)}|half|quarter|dozen|twice|once|an hour|fortnight|couple)\b"
    r"|\d (?:st|nd|rd|k|hundred|thousand)\b"
)

_CHINESE_SPAN = pattern("满|刻钟|点到一点|每隔|半[年岁]|岁半|提前一天|年半|一(?:个[月星小]|周|年|天|小时)|年级")
_CHINESE_SPANS: tuple[_Rule, ...] = (
    (pattern(r"(?:刚刚?|已经?|年)?满(?=[\d一二两三四五六七八九十]+(?:周岁|岁))"), ""),
    (pattern(r"一刻钟"), "15分钟"),
    (pattern(r"(?<=点到)一点"), "1点"),
    (pattern(r"每隔(?=[\d一二两三四五六七八九十]+(?:个)?(?:小时|钟头|分钟))"), "每"),
    (pattern(r"半年|半岁"), "6个月"),
    (pattern(r"(?<=提前)一天"), "1天"),
    (pattern(r"([1-9一二两三四五六七八九])岁半"), lambda m: f"{int(_as_digits(m[1])) * 12 + 6}个月"),
    (pattern(r"一(?=(?:个月|个星期|周|年|天|个?小时)[\d一二两三四五六七八九十百千万]+(?:元|块|美元|万|千|百))"), "每"),
    (pattern(r"一年半"), "18个月"),
    (pattern(r"(初|高|大)[中学]([一二三四])年级"), r"\1\2"),
)
"""Looked for only where one of them can stand."""
_CHINESE: tuple[_Rule, ...] = (
    (pattern(r"俩"), "2个"),
    (pattern(r"(周|星期|礼拜)([一二三四五六日])(?=[一二三四五六日](?![个次天点月些样十百下种级]))"), r"\1\2、\1"),
    (pattern(r"一(?=(?:周|个?星期|个?礼拜|个?月|年)[^,]*(?:次|顿|遍|场|趟))"), "每"),
    (
        pattern(r"([12一二两])米([一二三四五六七八九]{1,2})(?![一二三四五六七八九十百])"),
        lambda m: f"{_metres(m[1], m[2])}厘米",
    ),
    (pattern(rf"(?<=每周|每月|每天|每年)({_NUMERAL})(?=次|回|遍|天|节|顿|个?小时)"), _chinese),
    (pattern(rf"百分之({_NUMERAL}+|\d+)"), lambda m: f"{_as_digits(m[1])}%"),
    (pattern(rf"(?<![周期拜初老])({_LARGE})(?!分之)"), _chinese),
    (pattern(rf"(?<![每有一周期拜])((?!一点){_NUMERAL}+)(?=点)"), _chinese),
    (pattern(rf"(?<=[1-9]点)({_NUMERAL}+)"), _chinese),
    (pattern(r"(?<=\d点)半"), "30分"),
    (pattern(r"(?<=\d点)([123])刻"), lambda m: f"{int(m[1]) * 15}分"),
    (pattern(rf"(\d+|{_NUMERAL}+)个半(?=小时|钟头|月)"), lambda m: f"{_as_digits(m[1])}.5个"),
    (pattern(rf"(?<![周期拜初老第])(?!(?<=[每下另又外])一)({_IDIOM}{_NUMERAL}+)(?={_COUNTERS})"), _chinese),
    (pattern(rf"第({_NUMERAL}+)"), lambda m: f"第{chinese_number(m[1])}"),
    (pattern(r"(\d+(?:\.\d+)?)([万亿千])(?![家里])"), _ten_thousands),
    (pattern(r"半(?=个?(?:小时|钟头|月|年|天)|斤|公斤|杯|碗|片|粒|颗|瓶)"), "0.5"),
    (pattern(r"(?<=月)(\d{1,2})号"), r"\1日"),
)


def _metres(whole: str, rest: str) -> int:
    """一米八 is 180 centimetres, 一米七五 is 175."""
    return int(_as_digits(whole)) * 100 + chinese_number(rest) * (10 if len(rest) == 1 else 1)


def _as_digits(numeral: str) -> str:
    return numeral if numeral.isdigit() else str(chinese_number(numeral))


_NOT_AN_ORDINAL = r"(?! (?:hand|thought|opinion|aid|name|class|bedroom|of all|and foremost|s\b))"

_ENGLISH_SPAN = pattern(r"\bhalf an?\b|\bhalf hour\b|\band a half\b|\bfortnight\b|\bcouple\b")
_ENGLISH_SPANS: tuple[_Rule, ...] = (
    (pattern(r"\bhalf a year\b"), "6 months"),
    (pattern(r"\ba year and a half\b"), "18 months"),
    (pattern(r"\ba fortnight\b"), "2 weeks"),
    (pattern(r"\ba couple of (?=[a-z]+s\b)"), "2 "),
    (pattern(r"\bhalf an hour\b|\bhalf hour\b"), "30 minutes"),
    (pattern(r"\ban hour and a half\b"), "90 minutes"),
    (pattern(r"\bhalf an? (?=[a-z])"), "0.5 "),
)
_ENGLISH: tuple[_Rule, ...] = (
    (
        pattern(rf"\b({'|'.join([*_WORDS[20:], *_TENS])}) ({'|'.join(_WORDS[1:10])})\b"),
        lambda m: str(_CARDINALS[m[1]] + _CARDINALS[m[2]]),
    ),
    (pattern(r"\b(for|takes?|within) an hour\b"), r"\1 1 hour"),
    (pattern(r"\ban hour (?=a day|daily|every|each)"), "1 hour "),
    (pattern(rf"\bhalf past ({'|'.join(_WORDS[1:13])}|\d+)\b"), lambda m: f"{_cardinal(m[1])}:30"),
    (pattern(rf"\bquarter past ({'|'.join(_WORDS[1:13])}|\d+)\b"), lambda m: f"{_cardinal(m[1])}:15"),
    (pattern(rf"(?<!every )\b({'|'.join(_ORDINALS)})\b{_NOT_AN_ORDINAL}"), lambda m: f"{_ORDINALS[m[1]]} th"),
    (pattern(r"(?<=\d) (?:st|nd|rd)\b"), " th"),
    (pattern(r"(?<!no )(?<!not )(?<!any )(?<!the )\bone(?= [a-z])(?! (?:day|time|for|of|that|with|in|on)\b)"), "1"),
    (
        pattern(rf"\b({'|'.join(sorted(_CARDINALS.keys() - {'zero', 'one'}, key=len, reverse=True))})\b"),
        lambda m: str(_CARDINALS[m[1]]),
    ),
    (pattern(r"\ba dozen\b"), "12"),
    (pattern(r"\btwice\b"), "2 times"),
    (pattern(r"\bonce (?=(?:a|an|per|every|each) )"), "1 times "),
    (pattern(r"(\d+) hundred\b"), r"\g<1>00"),
    (pattern(r"(\d+) thousand\b|(\d+) k\b"), lambda m: f"{m[1] or m[2]}000"),
)

_DATES: tuple[_Rule, ...] = (
    (pattern(rf"\b({_MONTH}) (?:the )?{_DAY}(?!\d|:)(?:,? ?(\d{{4}}))?"), lambda m: _month_day(m[1], m[2], m[3])),
    (pattern(rf"\b(?:the )?{_DAY} (?:of )?({_MONTH})\b(?:,? ?(\d{{4}}))?"), lambda m: _month_day(m[2], m[1], m[3])),
    (pattern(rf"\b({_MONTH}),? ?(?:of )?(\d{{4}})(?!\d)"), lambda m: f"{m[2]}年{_MONTHS[m[1]]}月"),
    (pattern(rf"\b({_BEFORE_MONTH}) ({_MONTH})\b(?! ?\d)"), lambda m: f"{m[1]} {_MONTHS[m[2]]}月"),
    (pattern(r"(?<!\d)(\d{4})[-/](\d{1,2})[-/](\d{1,2})(?!\d)"), lambda m: _month_day(str(int(m[2])), m[3], m[1])),
    (pattern(r" ?(\d+月\d+日) ?"), r" \1 "),
)


def _cardinal(word: str) -> str:
    return word if word.isdigit() else str(_CARDINALS[word])
