"""The judge that asks a model: one call, its answer read leniently and believed item by item."""

from collections.abc import Sequence
from functools import lru_cache

from strata.consolidation import prompts
from strata.consolidation.almost_json import read
from strata.consolidation.conversation import Conversation
from strata.consolidation.fields import Item
from strata.consolidation.parse import items_of, unusable
from strata.consolidation.pieces import readable
from strata.consolidation.texts import is_of_user
from strata.consolidation.transcript import quoted, rendered
from strata.consolidation.validate import Validated, validated
from strata.model.memories import Candidate, Category, Scope
from strata.model.messages import JsonObject, Message, Role
from strata.model.runs import Judgement
from strata.ports import Chat, ChatReply, RuleJudge

SCHEMA: JsonObject = {
    "type": "object",
    "additionalProperties": False,
    "required": ["memories"],
    "properties": {
        "memories": {
            "type": "array",
            "items": {
                "type": "object",
                "additionalProperties": False,
                "required": ["content", "category", "scope", "importance", "messages", "safety", "standing"],
                "properties": {
                    "content": {"type": "string"},
                    "category": {"type": "string", "enum": [category.value for category in Category]},
                    "type": {"type": "string"},
                    "scope": {"type": "string", "enum": [scope.value for scope in Scope]},
                    "importance": {"type": "integer", "minimum": 1, "maximum": 10},
                    "messages": {"type": "array", "items": {"type": "integer"}},
                    "safety": {"type": "boolean"},
                    "standing": {"type": "boolean"},
                    "ttl_days": {"type": "integer"},
                },
            },
        }
    },
}
"""What an endpoint that can is told to answer with."""


class ModelJudge:
    """Asks a chat model once for each run."""

    def __init__(self, chat: Chat, rules: RuleJudge, *, max_tokens: int, max_chars: int) -> None:
        self._chat = chat
        self._rules = rules
        self._max_tokens = max_tokens
        self._max_chars = max_chars

    def __call__(self, conversation: Conversation, *, timeout_seconds: float) -> Judgement:
        """Return what the model found among the new messages.

        What did not fit into the prompt, and what the model answered in another language, the rules read instead.

        Raises:
            InferenceUnavailableError: no answer.
            JudgeOutputError: an answer that cannot be used; ``fields["reason"]`` says why.
        """
        language = conversation.language
        shown = fitting(conversation, self._max_chars)
        reply = self._ask(conversation, shown, language, timeout_seconds)
        items = items_of(reply)
        if not items:
            raise unusable("empty_answer")
        found = validated(items, shown, conversation.new, _examples(language), prompts.instructions("judge", language))
        if not found.candidates:
            raise unusable("no_valid_items")
        rest = self._read_by_rules(conversation, shown, found)
        return Judgement(
            candidates=(*found.candidates, *rest),
            judge="model",
            model=reply.model or self._chat.model,
            prompt_version=prompts.version("judge", language),
            prompt_tokens=reply.prompt_tokens,
            completion_tokens=reply.completion_tokens,
            dropped=dict(found.dropped),
        )

    def _ask(
        self, conversation: Conversation, shown: Sequence[Message], language: str, timeout_seconds: float
    ) -> ChatReply:
        marked = {message.seq for message in conversation.fresh if message.role is not Role.TOOL}
        lines = rendered(shown, marked, zone=conversation.zone, language=language)
        section = prompts.section("conversation", [f"zone: {quoted(conversation.zone_name)}", *lines])
        return self._chat.complete(
            prompts.request("judge", language, section),
            schema=SCHEMA,
            max_tokens=self._max_tokens,
            timeout_seconds=timeout_seconds,
        )

    def _read_by_rules(self, conversation: Conversation, shown: Sequence[Message], found: Validated) -> list[Candidate]:
        seen = {message.seq for message in shown}
        left = [message for message in conversation.fresh if message.seq not in seen or message.seq in found.unread]
        if not left:
            return []
        found.dropped["read_by_rules"] += len(left)
        return self._rules(readable(left), zone=conversation.zone_name, context=readable(conversation.messages))


def fitting(conversation: Conversation, max_chars: int) -> list[Message]:
    """Return the messages that fit a prompt, oldest first.

    New messages of the user come first, from the newest back; then what was said around them, as far as it fits.
    """
    claimed = set(conversation.new)
    ranked = sorted(
        conversation.messages,
        key=lambda message: (message.seq in claimed and is_of_user(message), message.seq),
        reverse=True,
    )
    room, kept = max_chars, set()
    for message in ranked:
        cost = len(rendered([message], (), zone=conversation.zone, language="en")[0])
        if cost <= room:
            room -= cost
            kept.add(message.seq)
    return [message for message in conversation.messages if message.seq in kept]


@lru_cache
def _examples(language: str) -> tuple[str, ...]:
    """Return the memories of the prompt's own example."""
    text = prompts.instructions("judge", language)
    example, _ = read(text, text.rindex('{"memories"'))
    return tuple(Item(item).content for item in example["memories"])
