"""Memories, tags and ids in any language, over real HTTP: stored as they came, found whatever hides in them."""

import pytest

from strata import MemoryClient
from tests.functions.conftest import NewClient

TEXTS = [
    "👨‍👩‍👧 一家三口",
    "می‌خواهم چای سبز",
    "❤️ 是红色的",
    "❤ 是黑色的",
    "Cafe\u0301 für Zoë",
    "ﬁne 𝒯ea ①",
    "한국어 녹차를 좋아해요",
]


@pytest.fixture(scope="module")
def client(agent_client: NewClient) -> MemoryClient:
    return agent_client("polyglot")


@pytest.mark.parametrize("text", TEXTS)
def test_a_memory_comes_back_as_it_was_stored(client: MemoryClient, text: str) -> None:
    made = client.insert_memory("user:polyglot", "user_preference", text, metadata={"标签 🌿": text})
    stored = client.get_memory("user:polyglot", made.memory_id)
    assert (stored.content, stored.metadata) == (text, {"标签 🌿": text})
    found = client.search_similar("user:polyglot", text, tags={"标签 🌿": text})
    assert [record.content for record in found] == [text]
    assert client.history("user:polyglot", made.memory_id)[-1].content == text


def test_what_hides_in_a_text_makes_it_no_other_fact(client: MemoryClient) -> None:
    first = client.insert_memory("user:tea", "user_preference", "用户喜欢喝绿茶")
    for again in ("用户\u200b喜欢喝绿茶", "\ufeff用户喜欢喝\u2060绿茶"):
        assert client.insert_memory("user:tea", "user_preference", again).memory_id == first.memory_id
    for mode in ("keyword", "hybrid"):
        assert [one.memory_id for one in client.search_similar("user:tea", "绿茶", mode=mode)] == [first.memory_id]
    assert len(list(client.memories("user:tea"))) == 1


@pytest.mark.parametrize("user", ["a" * 128, "茶" * 128, "💥" * 128, "t ", "%", "a:b", "'; --", "á", "ＡＢ"])
def test_every_user_has_a_layer_of_their_own(client: MemoryClient, user: str) -> None:
    client.insert_memory(f"user:{user}", "user_preference", f"名字是 {user[:20]}")
    assert [record.content for record in client.memories(f"user:{user}")] == [f"名字是 {user[:20]}"]
