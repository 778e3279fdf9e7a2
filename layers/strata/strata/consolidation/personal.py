"""What names or describes a person. An agent's memory is read for every user, so it holds none of it.

When in doubt a sentence counts as personal: it then goes to the user's own memory, where it is not lost.
"""

import re
from collections.abc import Iterable

_KIN = (
    "老公|老婆|先生|太太|妻子|丈夫|爱人|孩子|儿子|女儿|宝宝|爸|妈|父亲|母亲|爷爷|奶奶|外公|外婆|姥姥|姥爷|哥|姐|弟弟|妹妹"
    "|侄|外甥|孙子|孙女|公公|婆婆|岳父|岳母|室友|男友|女友"
)
_KIN_EN = (
    "husband|wife|partner|spouse|son|daughter|child|children|kids?|baby|toddler|mother|father|mom|mum|dad|parents?"
    "|grand\\w+|brother|sister|nephew|niece|cousin|uncle|aunt|boyfriend|girlfriend|roommate|in-laws?"
)
_HEALTH = (
    "过敏|不耐受|哮喘|高血压|低血糖|糖尿病|痛风|怀孕|孕妇|哺乳|患有|确诊|手术|服药|吃药|用药|化疗|抑郁|月经|病史|忌口"
    "|allerg|intoleran|asthma|diabet|celiac|coeliac|hypertens|pregnan|breastfeed|medication|surgery|diagnos|anaphyla"
)
_ADDRESS = r"住在|家住|住址|地址|门牌|小区|lives? (?:in|at)|home address"
_PATTERNS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        _KIN,
        rf"\b(?:{_KIN_EN})\b",
        _HEALTH,
        _ADDRESS,
        r"[\w.+-]+@[\w-]+\.\w+",
        r"(?<!\d)(?:\+?\d[\d -]{7,}\d)(?!\d)",
        r"[\u4e00-\u9fff](?:女士|小姐|阿姨|叔叔|大爷|医生|老师|师傅|同学)",
        r"\b(?:mr|mrs|ms|miss|dr)\.? [a-z]",
        r"(?:名叫|叫做|名字叫|[他她我它猫狗]叫)[\u4e00-\u9fffA-Z]|\b(?:named|called) (?-i:[A-Z])",
        r"(?:用户|客户)(?!们|都|常|通常|一般|问|要求|提供|需要|想|确认|反馈|界面|输入|体验)",
        r"\b(?:the|this) user(?:'s)?\b(?! (?:asks?|wants?|provides?|confirms?|requests?|interface|input))",
    )
)
_NAMED = re.compile(
    r"\b(?!(?:The|This|That|These|It|He|She|They|We|You|Always|Never|When|If|For|Use|Users?|People|Customers?)\b)"
    r"[A-Z][a-z]+(?:'s\b| (?:likes?|prefers?|wants?|hates?|loves?|dislikes?|asked|said|lives?|eats?|drinks?)\b)"
)
_SHORTEST_ID = 3


def is_personal(text: str, names: Iterable[str]) -> bool:
    """Tell whether a sentence says something about a particular person; ``names`` are ids and names in use."""
    if any(len(name) >= _SHORTEST_ID and name.lower() in text.lower() for name in names):
        return True
    return bool(_NAMED.search(text)) or any(pattern.search(text) for pattern in _PATTERNS)
