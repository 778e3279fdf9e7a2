"""Chat models behind the port ``Chat``: an OpenAI-compatible endpoint, Bedrock, or none."""

from collections.abc import Callable
from functools import lru_cache

from strata.config import Inference
from strata.errors import InferenceUnavailableError
from strata.ports import Chat, ChatReply

BEDROCK = "bedrock://"

ReadSecret = Callable[[str], str]
"""From a secret's name or ARN to its text."""


class NoChat:
    """Stands where no model is configured: rules judge, summaries are not made."""

    model = ""

    def complete(self, *_messages: object, **_options: object) -> ChatReply:
        """Raise InferenceUnavailableError."""
        raise InferenceUnavailableError("No chat model is configured.", hint="Set STRATA_INFERENCE_CHAT_URL.")


def open_chat(settings: Inference, secrets: ReadSecret) -> Chat:
    """Return the chat model of the settings; nothing is connected or fetched before the first call."""
    if not (settings.chat_url and settings.chat_model):
        return NoChat()
    if settings.chat_url.startswith(BEDROCK):
        from strata.inference.bedrock import BedrockChat

        return BedrockChat(settings.chat_model)
    from strata.inference.openai_chat import OpenAIChat

    return OpenAIChat(settings.chat_url, settings.chat_model, _key(settings, secrets))


def _key(settings: Inference, secrets: ReadSecret) -> Callable[[], str]:
    if settings.chat_key or not settings.chat_key_secret:
        return lambda: settings.chat_key

    @lru_cache(maxsize=1)
    def fetched() -> str:
        return secrets(settings.chat_key_secret)

    return fetched
