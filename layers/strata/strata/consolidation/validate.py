"""Item by item: which of a model's answers may become memories.

Left out, each with its reason: what has no sentence; refusals; the prompt's own examples; operations on memories that
were never offered; what is not in the language of its source; what nobody but the assistant, a tool or an old message
said. Text of a tool that tells a model what to do is kept apart, to be set aside for review.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from strata.consolidation.fields import Item
from strata.consolidation.no_facts import is_leaked, is_of_assistant, is_placeholder, is_refusal
from strata.consolidation.texts import has_han, is_chinese, is_of_user, is_said, spoken, support, units
from strata.model.memories import Candidate, Scope
from strata.model.messages import Message, Role
from strata.observability import logger

_QUESTION = re.compile(r"[^.。!！?？\n]*(?:[?？]|(?:吗|呢)(?=[.。!！\n]|$))")
_SHORT_ANSWER = 12
_BORROWED = 0.5
"""From this share of its units on, a claim is taken from a text."""
_ADDRESS = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+|(?:https?://|www\.)[^\s\"'<>，。；！？、（）]+", re.IGNORECASE)
"""What nobody says by chance: where something is to be sent, or looked up."""


@dataclass(slots=True)
class Validated:
    """What is left of an answer."""

    candidates: list[Candidate] = field(default_factory=list)
    dropped: Counter[str] = field(default_factory=Counter)
    unread: set[int] = field(default_factory=set)
    """New messages whose item was dropped for its language: somebody else has to read them."""


def validated(
    items: Sequence[Any], messages: Sequence[Message], new: Sequence[int], examples: Sequence[str], instructions: str
) -> Validated:
    """Return the candidates among a model's items.

    ``messages`` are those it was shown, ``new`` the marked ones; ``examples`` and ``instructions`` are the prompt's.
    """
    bench = _Bench(messages, new, examples, instructions)
    result = Validated()
    for raw in items:
        if not isinstance(raw, Mapping | str):
            result.dropped["no_sentence"] += 1
            continue
        bench.examine(Item(raw), result)
    return result


class _Bench:
    """The conversation that items are held against."""

    def __init__(
        self, messages: Sequence[Message], new: Sequence[int], examples: Sequence[str], instructions: str
    ) -> None:
        self._shown = {message.seq: message for message in messages}
        self._order = [message.seq for message in messages]
        self._new = set(new)
        self._users = [message for message in messages if message.seq in self._new and is_of_user(message)]
        self._others = [message for message in messages if is_said(message) and not is_of_user(message)]
        self._examples = examples
        self._instructions = instructions

    def examine(self, item: Item, result: Validated) -> None:
        content = item.content
        reason = self._flaw_of_form(item, content)
        sources = () if reason else self._sources(item, content)
        reason = reason or self._flaw_of_origin(item, content, sources)
        if reason == "wrong_language":
            result.unread.update(sources)
        if reason:
            result.dropped[reason] += 1
            return
        result.candidates.append(self._candidate(item, content, sources))

    def _flaw_of_form(self, item: Item, content: str) -> str:
        if not item.adds:
            logger.warning("judge.unknown_target", extra={"target": item.target})
            return "unknown_target"
        if is_placeholder(content):
            return "no_sentence"
        if is_refusal(content) and not self._is_of_user(content):
            return "refusal"  # "I can't eat gluten" is none
        is_of_prompt = is_leaked(content, self._instructions) or any(
            support(content, example) > _BORROWED for example in self._examples
        )
        return "example" if is_of_prompt and not self._is_said(content) else ""

    def _flaw_of_origin(self, item: Item, content: str, sources: Sequence[int]) -> str:
        if not sources:
            return "not_new"
        said = [self._shown[seq] for seq in sources]
        if item.scope is Scope.USER and not any(is_of_user(message) for message in said):
            return "" if self._is_of_tool(said) else "not_said_by_user"
        if item.scope is Scope.USER and (self._is_borrowed(content, said) or is_of_assistant(content)):
            return "not_said_by_user"
        return "wrong_language" if _speaks_otherwise(content, said) else ""

    def _sources(self, item: Item, content: str) -> tuple[int, ...]:
        """The new messages an item comes from: those it names, else the one that holds most of its words."""
        named = [seq for seq in item.messages if seq in self._shown]
        if named:
            return tuple(seq for seq in named if seq in self._new)
        best = max(self._users, key=lambda message: (support(content, spoken(message)), message.seq), default=None)
        return (best.seq,) if best is not None else ()

    def _is_of_user(self, content: str) -> bool:
        """The user's own words, and more than one of them."""
        is_sentence = len(units(content)) > 1
        return is_sentence and any(support(content, spoken(message)) >= _BORROWED for message in self._users)

    def _is_said(self, content: str) -> bool:
        return any(support(content, spoken(message)) >= _BORROWED for message in self._shown.values())

    def _is_of_tool(self, said: Sequence[Message]) -> bool:
        return all(message.role is Role.TOOL for message in said)

    def _is_borrowed(self, content: str, said: Sequence[Message]) -> bool:
        """The user's words hold nothing of it, somebody else's do, and the user was not asked for a yes."""
        own = [message for message in said if is_of_user(message)]
        if self._is_addressed_by_a_tool(content):
            return True
        if any(support(content, spoken(message)) > 0 or self._answers(message, content) for message in own):
            return False
        return any(support(content, spoken(message)) >= _BORROWED for message in self._others)

    def _is_addressed_by_a_tool(self, content: str) -> bool:
        """It names an address that stands in a tool's or a document's text, and in nothing that the user said."""
        told = "\n".join(spoken(message) for message in self._shown.values() if message.role is Role.TOOL).lower()
        own = "\n".join(spoken(message) for message in self._shown.values() if is_of_user(message)).lower()
        addresses = (found[0].lower().rstrip(".") for found in _ADDRESS.finditer(content))
        return any(address in told and address not in own for address in addresses)

    def _answers(self, message: Message, content: str) -> bool:
        place = self._order.index(message.seq)
        before = self._shown[self._order[place - 1]] if place else None
        if before is None or before.role is not Role.ASSISTANT or len(spoken(message)) > _SHORT_ANSWER:
            return False
        asked = "\n".join(found[0] for found in _QUESTION.finditer(spoken(before)))
        return support(content, asked) > 0

    def _candidate(self, item: Item, content: str, sources: tuple[int, ...]) -> Candidate:
        said = [self._shown[seq] for seq in sources]
        candidate = Candidate(
            content=content,
            category=item.category,
            importance=item.importance,
            scope=item.scope,
            memory_type=item.memory_type,
            ttl_seconds=item.ttl_seconds,
            standing=item.flag("standing") or item.flag("safety"),
            safety=item.flag("safety"),
            source_seqs=sources,
            said_at=max(message.said_at for message in said),
            rule="model",
        )
        return replace(candidate, rule=UNTRUSTED) if self._is_of_tool(said) else candidate


UNTRUSTED = "model.untrusted"
"""The rule of a candidate that only a tool or a document said: never settled as the user's."""


def _speaks_otherwise(content: str, said: Sequence[Message]) -> bool:
    """A Chinese source without a single Chinese character in its memory was translated, and the other way round."""
    source = "\n".join(spoken(message) for message in said)
    return (is_chinese(source) and not has_han(content)) or (has_han(content) and not has_han(source))
