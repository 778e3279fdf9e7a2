"""The words the guard knows, from the tables under ``data/``.

A surface (a word or phrase, Chinese or English) stands for one or more tokens. Tables are read once per process.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from strata.dedup.resources import load_text, load_toml
from strata.dedup.tokens import Kind, Token

Phrase = tuple[str, ...]
Entry = tuple[Token, ...]
Home = tuple[str, Kind]
"""The family and kind a concept has wherever it occurs."""

NOT = Token("NOT", Kind.NOT)

_TABLE_KINDS = {
    "drop": Kind.DROP,
    "aspect": Kind.DROP,
    "symptom": Kind.THING,
    "negation": Kind.NOT,
    "guarded": Kind.DEGREE,
    "mood": Kind.MOOD,
    "change": Kind.CHANGE,
    "link": Kind.LINK,
    "degree": Kind.DEGREE,
    "direction": Kind.DIRECTION,
    "self": Kind.PERSON,
    "pronoun": Kind.PERSON,
    "role": Kind.PERSON,
    "weekday": Kind.VALUE,
    "month": Kind.VALUE,
}
_FILE_KINDS = {"stances": Kind.STANCE, "time": Kind.TIME, "actions": Kind.ACT}
_FILES = ("things", "actions", "stances", "people", "time", "grammar")
"""Later files win where two claim a surface: function words over content."""

_HAN = re.compile("[\u3400-\u9fff]")
_KNOWN_COST = 9
_NAME_COST = 12
"""A made-up name gives way to any word that is one."""


@dataclass(slots=True)
class Node:
    """A place in the tree of phrases: what a phrase that ends here means, and the words it may go on with."""

    entry: Entry | None = None
    next: dict[str, "Node"] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Lexicon:
    """Surfaces to tokens, and word costs for segmentation."""

    chinese: Mapping[str, Entry]
    english: "Node"
    """Phrases word by word."""
    costs: Mapping[str, int]
    """Cost of every known Chinese word; what is frequent is cheap."""
    verbs: frozenset[str]
    """Chinese verbs no table knows."""
    longest: Mapping[str, int]
    """By first character the characters of the longest Chinese word; none begins with any other."""
    stative: frozenset[str]
    """English verbs whose past tense says that it is over."""


@lru_cache(maxsize=1)  # read-only tables
def lexicon() -> Lexicon:
    """The lexicon, built on first use."""
    rows = tuple(_rows())
    homes = _homes(rows)
    chinese: dict[str, Entry] = {}
    english: dict[Phrase, Entry] = {}
    for spec, surface, home in rows:
        alone = spec == surface.replace(" ", "_") or home[1] is Kind.VALUE  # the 3 of March is not that of Wednesday
        entry = _entry(spec, surface, home, {} if alone else homes)
        if _HAN.search(surface):
            chinese[surface] = entry
        else:
            english[tuple(surface.split())] = entry
    chinese = {**_potentials(chinese), **chinese}
    costs, verbs = _costs(chinese)
    return Lexicon(
        chinese=chinese,
        english=_tree(english),
        costs=costs,
        verbs=verbs,
        longest=_longest(costs),
        stative=frozenset(_split(load_toml("grammar.toml")["stative"]["_"])),
    )


def _rows() -> Iterator[tuple[str, str, Home]]:
    """Every (concept spec, surface, family and kind) of the tables."""
    for name in _FILES:
        for table, concepts in load_toml(f"{name}.toml").items():
            if table == "name":
                yield from _name_rows(concepts)
            elif table != "stative":
                home = (table, _TABLE_KINDS.get(table, _FILE_KINDS.get(name, Kind.THING)))
                yield from _table_rows(concepts, home)


def _table_rows(concepts: Mapping[str, str], home: Home) -> Iterator[tuple[str, str, Home]]:
    for spec, words in concepts.items():
        for word in _split(words):
            yield (spec if spec != "_" else word.replace(" ", "_")), word, home


def _name_rows(parts: Mapping[str, str]) -> Iterator[tuple[str, str, Home]]:
    """小李, 小明, 老王, 王总: how Chinese names people in talk."""
    home = ("name", Kind.PERSON)
    names = [prefix + name for prefix in "小老阿" for name in parts["surnames"] + parts["given"]]
    names += [surname + title for surname in parts["surnames"] for title in _split(parts["titles"])]
    yield from ((name, name, home) for name in names)


def _split(words: str) -> Iterable[str]:
    return (word.strip() for word in words.replace("\n", " ").split(",") if word.strip())


def _homes(rows: Iterable[tuple[str, str, Home]]) -> dict[str, Home]:
    """Where each concept is defined: the table that has it as a line of its own."""
    homes: dict[str, Home] = {}
    for spec, _, home in rows:
        homes.setdefault(spec.removeprefix("-"), home)
    return homes


def _entry(spec: str, surface: str, home: Home, homes: Mapping[str, Home]) -> Entry:
    """``-LIKE`` is NOT and LIKE; ``SWITCH LIVE`` is two concepts."""
    concepts = spec.removeprefix("-").split()
    said = tuple(_token(concept, surface, homes.get(concept, home)) for concept in concepts)
    if not spec.startswith("-"):
        return said
    return (Token("NOT", Kind.NOT, "modal", surface) if concepts[0] in _MODAL else NOT, *said)


_MODAL = frozenset({"HAVE", "MAY", "CAN", "NEED"})
"""What is denied of these is denied of what follows, as by a plain 不: 没有任何不适 cancels, 讨厌 does not."""


def _token(concept: str, surface: str, home: Home) -> Token:
    family, kind = home
    if concept.startswith("@"):
        return Token(concept, Kind.VALUE, concept[1:].partition("=")[0], surface)
    name = f"@{family}={concept}" if kind is Kind.VALUE else concept
    return Token(name, kind, family, surface)


_MAY = Token("MAY", Kind.STANCE, "permission")
_RESULTS = "了得下起住动着完出到见懂清惯"
_PLAIN_RESULTS = frozenset("了得下起")
"""Results that add nothing but the ability: 吃得了, 吃得下."""


def _potentials(chinese: Mapping[str, Entry]) -> dict[str, Entry]:
    """吃不了 is not being able to eat, 听得清 being able to hear clearly: verb, 不 or 得, and a result."""
    found = {}
    for verb, entry in chinese.items():
        if len(verb) == 1 and entry[-1].kind is Kind.ACT:
            for result in _RESULTS:
                reached = () if result in _PLAIN_RESULTS else (Token(f"~{result}", Kind.THING, "result", result),)
                if reached:
                    found[verb + result] = (*entry, *reached)
                found[f"{verb}得{result}"] = (_MAY, *entry, *reached)
                found[f"{verb}不{result}"] = (NOT, _MAY, *entry, *reached)
    return found


def _tree(entries: Mapping[Phrase, Entry]) -> "Node":
    root = Node()
    for phrase, entry in entries.items():
        node = root
        for word in phrase:
            node = node.next.setdefault(word, Node())
        node.entry = entry
    return root


def _costs(chinese: Mapping[str, Entry]) -> tuple[dict[str, int], frozenset[str]]:
    """What a word costs a cut, and which words are verbs: frequent is cheap, what a table knows cheaper still."""
    costs: dict[str, int] = {}
    verbs: set[str] = set()
    for line in load_text("words_zh.txt").splitlines():
        head, *words = line.split()
        costs.update(dict.fromkeys(words, int(head.removesuffix("v"))))
        verbs.update(words if head.endswith("v") else ())
    for word in [word for word in costs if _is_composed(word, chinese) or _is_act_on(word, chinese)]:
        del costs[word]
    for surface, entry in chinese.items():
        known = _NAME_COST if entry[0].family == "name" else _KNOWN_COST - (len(surface) == 1)
        costs[surface] = min(costs.get(surface, known), known)
    return costs, frozenset(verbs)


def _longest(words: Iterable[str]) -> dict[str, int]:
    found: dict[str, int] = {}
    for word in words:
        found[word[0]] = max(found.get(word[0], 1), len(word))
    return found


_PREFIXES = frozenset("不没未别勿想要会能爱很太真就也都在正已再又还才有去来里")
_COMPOSABLE = frozenset({Kind.ACT, Kind.STANCE, Kind.NOT, Kind.THING})


def _is_act_on(word: str, chinese: Mapping[str, Entry]) -> bool:
    """买房 is buying and a house."""
    if word in chinese or word[0] not in chinese or word[1:] not in chinese:
        return False
    return chinese[word[0]][-1].kind in {Kind.ACT, Kind.STANCE} and chinese[word[1:]][-1].kind is Kind.THING


def _is_composed(word: str, chinese: Mapping[str, Entry]) -> bool:
    """不吃 and 爱吃 are two words here, whatever a dictionary lists: the first says how, the second what."""
    if word[0] in _PREFIXES and word[1:] in chinese:
        return chinese[word[1:]][-1].kind in _COMPOSABLE
    return word[-1] in "不没" and word[:-1] in chinese
