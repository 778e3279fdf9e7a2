"""One item of a judge's answer: its fields under whatever names and in whatever shape they come.

Reading is lenient about names and types and strict about meaning: what is not understood becomes the default of the
item's category, what has no sentence is no item.
"""

import re
import unicodedata
from collections.abc import Iterator, Mapping

from strata.consolidation.parse import CONTENT_KEYS
from strata.model.memories import Category, Scope

RANGES: Mapping[Category, tuple[int, int]] = {
    Category.SAFETY: (8, 10),
    Category.PREFERENCE: (6, 9),
    Category.DECISION: (5, 8),
    Category.COLLABORATION: (4, 7),
    Category.TEMPORARY: (3, 6),
}
"""Importance by category, lowest and highest."""

_CATEGORY_WORDS: tuple[tuple[Category, str], ...] = (
    (Category.TEMPORARY, r"temp|short.?term|shopping|price|临时|短期|限时|购物|价格"),
    (Category.COLLABORATION, r"collab|experience|workflow|协作|经验|规则"),
    (Category.DECISION, r"decision|adopt|reject|choice|决定|决策|采纳|拒绝"),
    (Category.SAFETY, r"safety|identity|health|allerg|medic|family|profile|personal|安全|身份|健康|过敏|家庭|个人"),
    (Category.PREFERENCE, r"prefer|taboo|like|habit|interest|hobby|喜好|偏好|忌|习惯|兴趣"),
)
_CATEGORY_OF_TYPE = {
    "user_preference": Category.PREFERENCE,
    "shopping_list": Category.TEMPORARY,
    "price_alert": Category.TEMPORARY,
    "temporary_constraint": Category.TEMPORARY,
    "rejection_reason": Category.DECISION,
    "substitute_record": Category.DECISION,
    "adopted_decision": Category.DECISION,
    "task_experience": Category.COLLABORATION,
    "collaboration_rule": Category.COLLABORATION,
}
_NAMES = {
    "category": ("category", "kind", "label", "class", "分类", "类别"),
    "type": ("type", "memory_type", "类型"),
    "importance": ("importance", "score", "priority", "重要性", "重要度"),
    "scope": ("scope", "owner", "layer", "范围"),
    "messages": (
        "messages",
        "message",
        "sources",
        "source",
        "source_seqs",
        "seqs",
        "seq",
        "from",
        "ids",
        "消息",
        "来源",
    ),
    "ttl_days": ("ttl_days", "days", "有效天数"),
    "ttl_seconds": ("ttl_seconds", "ttl"),
    "safety": ("safety", "safety_critical", "安全"),
    "standing": ("standing", "always", "必须遵守"),
    "action": ("op", "operation", "action", "event"),
}
_ADDS = frozenset({"", "add", "insert", "write", "new", "create", "store", "save", "新增", "添加"})
_NO = frozenset({"", "false", "no", "0", "否", "不", "none", "null"})
_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_MARKS = re.compile(r"^(?:\[(?:\d+|\[?NEW\]?)\]\s*|(?:user|human|用户)\s*[:：]\s*)+|\[\[NEW\]\]", re.IGNORECASE)
_DAY_SECONDS = 86_400
_LONGEST_CATEGORY = 40


class Item:
    """A mapping (or a bare sentence) with its fields found by name."""

    def __init__(self, raw: Mapping[str, object] | str) -> None:
        mapping = raw if isinstance(raw, Mapping) else {"content": raw}
        self._values = {str(key).strip().lower(): value for key, value in mapping.items()}
        self._as_key = _fact_as_key(mapping)

    @property
    def content(self) -> str:
        """The sentence, cleaned of what no store keeps; empty if there is none."""
        for name in CONTENT_KEYS:
            value = self._values.get(name)
            if isinstance(value, str) and value.strip():
                return unmarked(value)
        return unmarked(self._as_key[0]) if self._as_key else ""

    @property
    def category(self) -> Category:
        """The category, from its name, from the type, or from the value beside a fact that is the key."""
        said = (self._get("category"), self._get("type"), self._as_key[1] if self._as_key else None)
        return next((found for text in said if (found := _category(text))), Category.PREFERENCE)

    @property
    def scope(self) -> Scope:
        """The scope; only experience and rules of working together can be the agent's."""
        if self.category is not Category.COLLABORATION:
            return Scope.USER
        said = str(self._get("scope") or "agent").lower()
        return Scope.USER if "user" in said or "用户" in said else Scope.AGENT

    @property
    def importance(self) -> int:
        """1–10, drawn into the category's range unless the judge itself calls it unimportant (below 3)."""
        lowest, highest = RANGES[self.category]
        number = _number(self._get("importance"))
        if number is None or number > 10:  # noqa: PLR2004 (another scale: only its meaning is lost, not the memory)
            return (lowest + highest) // 2
        if 0 < number < 1:
            number *= 10
        if number < RANGES[Category.TEMPORARY][0]:
            return max(0, round(number))
        return min(max(round(number), lowest), highest)

    @property
    def memory_type(self) -> str | None:
        """The name of a memory type as given; whether there is one of that name is not known here."""
        value = self._get("type")
        return value.strip().lower() if isinstance(value, str) and value.strip() else None

    @property
    def messages(self) -> tuple[int, ...]:
        """The numbers of the messages the item says it comes from."""
        return tuple(dict.fromkeys(integers(self._get("messages"))))

    @property
    def ttl_seconds(self) -> int | None:
        """The life it asks for; None if it does not."""
        days, seconds = _number(self._get("ttl_days")), _number(self._get("ttl_seconds"))
        if days is not None and days > 0:
            return max(1, round(days * _DAY_SECONDS))
        return max(1, round(seconds)) if seconds is not None and seconds > 0 else None

    @property
    def adds(self) -> bool:
        """False for an operation that would change or delete something: the judge is offered nothing to change."""
        action = self._get("action")
        return not isinstance(action, str) or action.strip().lower() in _ADDS

    @property
    def target(self) -> str:
        """The id that an operation names."""
        return str(self._values.get("id", self._values.get("memory_id", "")))

    def flag(self, name: str) -> bool:
        """Read a yes or no."""
        value = self._get(name)
        return value.strip().lower() not in _NO if isinstance(value, str) else bool(value)

    def _get(self, field: str) -> object:
        return next((self._values[name] for name in _NAMES[field] if self._values.get(name) is not None), None)


def tidy(text: str) -> str:
    """Return a sentence on one line, without controls, lone surrogates, bullets and quotes around it."""
    whole = "".join(" " if letter.isspace() else letter for letter in text if not _unstorable(letter))
    bare = re.sub(r"\s+", " ", whole).strip().lstrip("-*•· ").strip()
    while len(bare) > 1 and (bare[0], bare[-1]) in {('"', '"'), ("'", "'"), ("“", "”"), ("「", "」")}:
        bare = bare[1:-1].strip()
    return bare


def unmarked(text: str) -> str:
    """Return a tidy sentence without what the transcript put before it: numbers, marks and who speaks."""
    return tidy(_MARKS.sub("", tidy(text)))


def _unstorable(letter: str) -> bool:
    return not letter.isspace() and unicodedata.category(letter) in {"Cc", "Cs"}


def _fact_as_key(mapping: Mapping[str, object]) -> tuple[str, object] | None:
    """Recognise ``{"User drives a blue van": "preference"}``."""
    if len(mapping) != 1:
        return None
    key, value = next(iter(mapping.items()))
    known = {name for names in _NAMES.values() for name in names} | set(CONTENT_KEYS)
    is_sentence = key.strip().lower() not in known and len(key.strip()) > 3  # noqa: PLR2004
    is_remark = (
        value is None
        or isinstance(value, bool | int | float)
        or (isinstance(value, str) and len(value) <= _LONGEST_CATEGORY)
    )
    return (key, value) if is_sentence and is_remark else None


def _category(text: object) -> Category | None:
    if not isinstance(text, str):
        return None
    name = text.strip().lower()
    if name in set(Category):
        return Category(name)
    if name in _CATEGORY_OF_TYPE:
        return _CATEGORY_OF_TYPE[name]
    return next((category for category, words in _CATEGORY_WORDS if re.search(words, name)), None)


def _number(value: object) -> float | None:
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, int | float):
        return float(value) if abs(value) < 1e12 else None  # noqa: PLR2004 (no number anybody means)
    found = _NUMBER.search(value) if isinstance(value, str) else None
    return float(found[0]) if found else None


def integers(value: object) -> Iterator[int]:
    """Yield the whole numbers in a value, however they are wrapped."""
    if isinstance(value, bool) or value is None:
        return
    if isinstance(value, int | float):
        number = _number(value)
        yield from () if number is None else (int(number),)
    elif isinstance(value, str):
        yield from (int(found) for found in re.findall(r"\d{1,9}", value))
    elif isinstance(value, list):
        for inner in value:
            yield from integers(inner)
    elif isinstance(value, Mapping):
        yield from integers(value.get("seq", value.get("id")))
