"""A chat model that answers from a script and keeps what it was asked."""

import json
from collections.abc import Callable, Sequence

from strata.errors import InferenceUnavailableError
from strata.model.messages import JsonObject
from strata.ports import ChatReply

Answer = str | ChatReply | InferenceUnavailableError | Callable[[Sequence[JsonObject]], str]


class ScriptedChat:
    """Gives its answers in order; the last one again and again."""

    model = "scripted-1"

    def __init__(self, *answers: Answer) -> None:
        self._answers = list(answers)
        self.asked: list[Sequence[JsonObject]] = []
        self.schemas: list[JsonObject | None] = []

    def complete(
        self,
        messages: Sequence[JsonObject],
        *,
        schema: JsonObject | None = None,
        max_tokens: int,
        timeout_seconds: float,
    ) -> ChatReply:
        assert max_tokens > 0
        assert timeout_seconds > 0
        self.asked.append(messages)
        self.schemas.append(schema)
        answer = self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]
        if isinstance(answer, InferenceUnavailableError):
            raise answer
        if isinstance(answer, ChatReply):
            return answer
        text = answer if isinstance(answer, str) else answer(messages)
        return ChatReply(text=text, finish_reason="stop", prompt_tokens=100, completion_tokens=20, model=self.model)

    @property
    def prompt(self) -> str:
        """The data part of the first request."""
        return str(self.asked[0][1]["content"])


def memories(*items: JsonObject | str) -> str:
    """An answer in the frame that the prompt asks for."""
    return json.dumps({"memories": list(items)}, ensure_ascii=False)
