"""Search in the native library: kept true to the database, within the agent's rights, one fact once."""

import threading
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from strata import config
from strata.clock import FakeClock
from strata.dedup.fingerprint import fingerprint
from strata.dedup.guard import decide
from strata.inference.remembered import RememberedEmbedder
from strata.model.context import SearchMode
from strata.model.memories import AccessPolicy, ChangeKind, Collection, CollectionKind, Registration
from strata.ports import Access, MemoryDraft, MemoryEdit, ProviderHits
from strata.sharing.index import MOST_NOTED
from strata.sharing.library import LOOKS, InsertStatus, Library
from strata.sharing.look_first import Found, LookFirst
from strata.sharing.search import MAX_EMBEDDED_CHARS, SearchLibrary, shortened
from strata.sharing.units import NewUnit
from strata.sharing.vectors import Vectors
from strata.storage.engine import Database, open_database
from strata.storage.purge import SqlPurge
from strata.storage.schema import migrate
from strata.storage.vectors import SqlVectorStore
from tests.fakes.embedding import WordEmbedder
from tests.fakes.library import Shelf

LAYER = "user:u"


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    path = Path(tmp_path_factory.mktemp("search")) / "strata.db"
    opened = open_database(config.Database(url=f"sqlite:///{path}", pool_size=8), FakeClock())
    migrate(opened)
    yield opened
    opened.close()


class Searched(Shelf):
    """A library with a search of its own."""

    def __init__(self, database: Database, tenant: str) -> None:
        super().__init__(database, FakeClock(), tenant)
        self.embedder = WordEmbedder()
        self.searching = SearchLibrary(self.memories, self.embedder, self.clock, config.Library())
        self.loads: list[int] = []
        changes = self.memories.changes

        def counted(tenant: str, collection: str, after_seq: int) -> list[Any]:
            found = changes(tenant, collection, after_seq)
            self.loads.append(len(found))
            return found

        self.memories.changes = counted  # type: ignore[method-assign]

    def keep(self, name: str, content: str, *, collection: str = LAYER, **more: Any) -> None:
        """Insert a preference."""
        self.memories.insert(self.admin, self.draft(name, content, collection, **more), now=self.clock.now())

    def own_library(self) -> Library:
        """Return a library that looks first through this search."""
        look_first = LookFirst(self.searching.similar, decide, similarity=0.85, top_k=5, indexes=self.searching.indexes)
        return Library(self.memories, self.types, look_first, Vectors(self.embedder), self.clock, config.Library())

    def draft(self, name: str, content: str, collection: str = LAYER, **more: Any) -> MemoryDraft:
        """Return a preference with its vector."""
        vector = self.embedder.embed([content])[0]
        values: dict[str, Any] = {
            "memory_type": "user_preference",
            "said_at": self.clock.now(),
            "embedding": vector,
            "embedding_model": self.embedder.name,
            **more,
        }
        return MemoryDraft(
            memory_id=f"{self.tenant}-{name}",
            collection=collection,
            content=content,
            fingerprint=fingerprint(content),
            **values,
        )

    def change(self, name: str, change: ChangeKind, *, collection: str = LAYER, **more: Any) -> None:
        edit = MemoryEdit(memory_id=f"{self.tenant}-{name}", change=change, **more)
        self.memories.edit(self.admin, collection, edit, now=self.clock.now())

    def found(self, text: str, collections: Sequence[str] = (LAYER,), *, agent: str = "cook", **more: Any) -> list[str]:
        """Return the names found."""
        return self.named(self.searching.search(self.access(agent), collections, text, **more))

    def named(self, hits: ProviderHits) -> list[str]:
        return [hit.memory.memory_id.removeprefix(f"{self.tenant}-") for hit in hits.hits]


@pytest.fixture
def shelf(database: Database, request: pytest.FixtureRequest) -> Searched:
    return Searched(database, request.node.nodeid)


def test_an_index_is_loaded_once_and_then_told_what_changed(shelf: Searched) -> None:
    for number in range(20):
        shelf.keep(f"m{number}", f"dish number {number}")
    assert len(shelf.found("dish", top_k=20)) == 20
    for _ in range(3):
        shelf.found("dish")
    shelf.keep("new", "a brand new dish")
    shelf.change("m3", ChangeKind.UPDATE, content="soup", fingerprint="x")
    assert shelf.found("brand new dish")[0] == "new"
    assert shelf.loads == [20, 2]
    assert shelf.found("soup")[0] == "m3"
    assert shelf.loads == [20, 2]


def test_what_a_process_wrote_itself_it_does_not_read_again(shelf: Searched) -> None:
    library, cook = shelf.own_library(), shelf.access("cook")

    def insert(text: str) -> str:
        unit = NewUnit(memory_type="user_preference", content=text)
        return library.insert(cook, LAYER, unit).memory.memory_id

    insert("green tea in the morning")
    assert shelf.loads == []
    assert len(shelf.found("tea")) == 1
    assert shelf.loads == [1]
    second, third = insert("a bicycle made of bamboo"), insert("three blue kettles")
    assert shelf.searching.search(cook, [LAYER], "bicycle").hits[0].memory.memory_id == second
    assert shelf.searching.search(cook, [LAYER], "kettles").hits[0].memory.memory_id == third
    assert shelf.loads == [1]


@pytest.mark.parametrize("first", ["own", "other"])
def test_what_another_process_wrote_in_between_is_read(shelf: Searched, first: str) -> None:
    library, cook = shelf.own_library(), shelf.access("cook")
    shelf.keep("here", "green tea")
    shelf.found("tea")
    own = NewUnit(memory_type="user_preference", content="a bicycle made of bamboo")
    for writer in ("own", "other") if first == "own" else ("other", "own"):
        if writer == "own":
            library.insert(cook, LAYER, own)
        else:
            shelf.keep("other", "three blue kettles")
    assert shelf.found("kettles")[0] == "other"
    assert shelf.searching.search(cook, [LAYER], "bicycle").hits[0].memory.content == own.content
    assert shelf.loads[0] == 1
    assert sum(shelf.loads) <= 3


def test_a_write_that_a_search_has_read_meanwhile_hides_no_other(shelf: Searched) -> None:
    """The index reads the write between its COMMIT and the writer's note: the note is worth nothing any more."""
    shelf.keep("here", "green tea")
    shelf.found("tea")
    indexes = shelf.searching.indexes
    since = indexes.stands_at(shelf.tenant, LAYER)
    draft = shelf.draft("late", "a bicycle made of bamboo")
    written = shelf.memories.insert(shelf.access("cook"), draft, now=shelf.clock.now())
    assert shelf.found("bicycle")[0] == "late"
    indexes.wrote(written.memory, since)
    shelf.keep("other", "three blue kettles")
    assert shelf.found("kettles")[0] == "other"
    assert shelf.found("bicycle")[0] == "late"


def test_a_fact_that_another_process_writes_at_the_same_moment_is_stored_once(shelf: Searched) -> None:
    library, cook = shelf.own_library(), shelf.access("cook")
    shelf.keep("here", "green tea")
    look, others = library._look_first, iter(["用户不吃香菜"])

    def disturbed(*arguments: Any) -> Found:
        found = look(*arguments)
        for text in others:
            shelf.keep("other", text)
        return found

    library._look_first = disturbed  # type: ignore[assignment]
    library._look_first.wrote = look.wrote  # type: ignore[method-assign]
    inserted = library.insert(cook, LAYER, NewUnit(memory_type="user_preference", content="用户不吃香菜。"))
    assert (inserted.status, inserted.memory.memory_id) == (InsertStatus.UPDATED, f"{shelf.tenant}-other")


def test_a_collection_that_never_rests_is_written_to_all_the_same(shelf: Searched) -> None:
    library, cook = shelf.own_library(), shelf.access("cook")
    look, numbers = library._look_first, iter(range(100))

    def disturbed(*arguments: Any) -> Found:
        found = look(*arguments)
        number = next(numbers)
        shelf.keep(f"other{number}", f"kettle number {number}")
        return found

    library._look_first = disturbed  # type: ignore[assignment]
    library._look_first.wrote = look.wrote  # type: ignore[method-assign]
    inserted = library.insert(cook, LAYER, NewUnit(memory_type="user_preference", content="a bicycle made of bamboo"))
    assert inserted.status is InsertStatus.INSERTED
    assert next(numbers) == LOOKS
    assert inserted.memory.memory_id in {
        hit.memory.memory_id for hit in shelf.searching.search(cook, [LAYER], "bicycle").hits
    }


def test_a_look_with_an_older_state_than_the_index_has_reads_it_again(shelf: Searched) -> None:
    shelf.keep("here", "green tea")
    draft, cook = shelf.draft("new", "green tea"), shelf.access("cook")
    seen = shelf.memories.view(cook, [LAYER], now=shelf.clock.now())[LAYER]
    shelf.keep("other", "green tea!", user_id="v")
    shelf.found("tea")
    loads = list(shelf.loads)
    beside = shelf.searching.similar(cook, draft, 5, 0.9, seen)
    assert (len(beside.memories), beside.as_of) == (2, seen.change_seq + 1)
    assert shelf.loads == loads


def test_a_look_tells_whether_a_fact_is_the_first_of_its_kind_whoever_may_read_it(shelf: Searched) -> None:
    cook, told = shelf.access("cook"), shelf.draft("new", "green tea")

    def is_first(draft: MemoryDraft = told) -> bool:
        return shelf.searching.similar(cook, draft, 5, 0.9).is_first

    assert is_first()
    shelf.keep("here", "green tea", policy=AccessPolicy(read_agents=("adviser",)))
    shelf.keep("there", "green tea", user_id="v")
    assert not is_first()
    assert is_first(replace(told, memory_type="price_alert"))
    assert is_first(shelf.draft("other", "black tea"))
    shelf.change("here", ChangeKind.UPDATE, content="black tea", fingerprint=fingerprint("black tea"))
    assert not is_first()
    shelf.change("there", ChangeKind.DELETE)
    assert is_first()
    assert not is_first(shelf.draft("other", "black tea"))


def test_an_equal_fact_that_the_agent_may_not_read_is_not_written_twice(shelf: Searched) -> None:
    closed = AccessPolicy(read_agents=("adviser",))
    shelf.keep("here", "green tea", policy=closed)
    unit = NewUnit(memory_type="user_preference", content="green tea", policy=closed)
    inserted = shelf.own_library().insert(shelf.access("cook"), LAYER, unit)
    assert (inserted.status, inserted.memory.memory_id) == (InsertStatus.UNCHANGED, f"{shelf.tenant}-here")


def test_what_is_kept_of_a_text_is_not_embedded_again(shelf: Searched) -> None:
    made: list[str] = []

    class Counting(WordEmbedder):
        def embed(self, texts: Sequence[str], *, query: bool = False) -> list[bytes]:
            made.extend(texts)
            return super().embed(texts, query=query)

    embedder = Counting()
    remembering = RememberedEmbedder(embedder, SqlVectorStore(shelf.database), shelf.clock)
    look_first = LookFirst(shelf.searching.similar, decide, similarity=0.85, top_k=5)
    vectors = Vectors(remembering, embedder)
    library = Library(shelf.memories, shelf.types, look_first, vectors, shelf.clock, config.Library())
    text = f"a bicycle made of bamboo by {shelf.tenant}"
    for layer in (LAYER, "user:v", LAYER):  # a layer that is not there, one that is
        inserted = library.insert(shelf.access("cook"), layer, NewUnit(memory_type="user_preference", content=text))
        assert inserted.memory.embedding_model == embedder.name
    assert made == [text]


def test_a_collection_that_nobody_searches_piles_up_no_notes(shelf: Searched) -> None:
    shelf.keep("here", "green tea")
    shelf.found("tea")
    indexes, cook = shelf.searching.indexes, shelf.access("cook")
    for number in range(MOST_NOTED + 5):
        since = indexes.stands_at(shelf.tenant, LAYER)
        draft = shelf.draft(f"n{number}", f"kettle number {number}")
        indexes.wrote(shelf.memories.insert(cook, draft, now=shelf.clock.now()).memory, since)
    assert len(indexes._held[shelf.tenant, LAYER]._written) == MOST_NOTED
    assert len(shelf.found("kettle", top_k=100)) == 100
    assert shelf.loads == [1, MOST_NOTED + 5]


def test_what_is_deleted_superseded_or_run_out_is_gone_at_once(shelf: Searched) -> None:
    shelf.keep("a", "green tea one")
    shelf.keep("b", "green tea two")
    shelf.keep("c", "green tea three", ttl_seconds=10, expires_at=shelf.clock.now() + timedelta(seconds=10))
    assert set(shelf.found("green tea")) == {"a", "b", "c"}
    shelf.change("a", ChangeKind.DELETE)
    shelf.change("b", ChangeKind.SUPERSEDE, superseded_by=f"{shelf.tenant}-c")
    assert shelf.found("green tea") == ["c"]
    shelf.clock.advance(10)
    assert shelf.found("green tea") == []
    shelf.change("a", ChangeKind.RESTORE)
    assert shelf.found("green tea") == ["a"]


def test_a_purge_leaves_nothing_of_a_memory_in_memory(shelf: Searched) -> None:
    shelf.keep("a", "green tea", ttl_seconds=10, expires_at=shelf.clock.now() + timedelta(seconds=10))
    shelf.keep("b", "black tea")
    assert set(shelf.found("tea")) == {"a", "b"}
    shelf.clock.advance(11)
    SqlPurge(shelf.database, shelf.types).purge_due(now=shelf.clock.now() + timedelta(days=400), limit=100)
    assert shelf.found("tea") == ["b"]
    with shelf.searching.indexes.current(
        shelf.tenant, shelf.memories.view(shelf.admin, [LAYER], now=shelf.clock.now())
    ) as indexes:
        assert indexes[LAYER].memory(f"{shelf.tenant}-a") is None


def test_a_memory_that_moves_to_another_type_is_found_there_alone(shelf: Searched) -> None:
    shelf.keep("a", "tomatoes cost three")
    shelf.found("tomatoes")
    shelf.change("a", ChangeKind.MOVE, memory_type="price_alert")
    assert shelf.found("tomatoes", memory_types=["user_preference"]) == []
    assert shelf.found("tomatoes", memory_types=["price_alert"]) == ["a"]


def test_types_are_searched_together_and_apart(shelf: Searched) -> None:
    shelf.keep("a", "green tea")
    shelf.keep("b", "green apples", memory_type="shopping_list")
    assert set(shelf.found("green")) == {"a", "b"}
    assert shelf.found("green", memory_types=["shopping_list"]) == ["b"]
    assert shelf.found("green", memory_types=["no_such_type"]) == []


def test_rights_are_those_of_this_moment(shelf: Searched) -> None:
    shared = Collection(tenant=shelf.tenant, name="household", kind=CollectionKind.SHARED)
    shelf.collection_store.put(shared, actor="admin", now=shelf.clock.now())
    shelf.keep("open", "green tea", collection="household")
    shelf.keep("cooks", "green tea pot", collection="household", policy=AccessPolicy(read_agents=("cook",)))
    assert shelf.found("tea", ["household"]) == []
    for agent in ("cook", "shopper"):
        right = Registration(tenant=shelf.tenant, collection="household", agent_id=agent, read=True, write=False)
        shelf.collection_store.register(right, actor="admin", now=shelf.clock.now())
    assert set(shelf.found("tea", ["household"])) == {"open", "cooks"}
    assert shelf.found("tea", ["household"], agent="shopper") == ["open"]
    assert set(shelf.named(shelf.searching.search(shelf.admin, ["household"], "tea"))) == {"open", "cooks"}
    shelf.collection_store.revoke(shelf.tenant, "household", "cook", actor="admin", now=shelf.clock.now())
    assert shelf.found("tea", ["household"]) == []


def test_another_agents_layer_and_another_tenant_stay_out_of_reach(shelf: Searched, database: Database) -> None:
    shelf.keep("secret", "green tea", collection="agent:cook")
    assert shelf.found("green tea", ["agent:cook"], agent="shopper") == []
    assert shelf.found("green tea", ["agent:cook"], agent="cook") == ["secret"]
    stranger = Searched(database, f"{shelf.tenant}-2")
    assert stranger.found("green tea", ["agent:cook"], agent="cook") == []


def test_a_right_lost_after_ranking_does_not_empty_the_list(shelf: Searched, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(40):
        shelf.keep(f"m{number:02}", f"green tea {number}")
    shelf.found("green tea")
    ask = shelf.searching._candidates

    def late(*given: Any) -> Any:
        found = ask(*given)
        for number in range(15):
            shelf.change(f"m{number:02}", ChangeKind.UPDATE, policy=AccessPolicy(read_agents=("nobody",)))
        return found

    monkeypatch.setattr(shelf.searching, "_candidates", late)
    found = shelf.found("green tea", top_k=10)
    assert len(found) == 10
    assert min(found) >= "m15"


def test_what_changed_after_ranking_is_delivered_as_it_stands(shelf: Searched, monkeypatch: pytest.MonkeyPatch) -> None:
    shelf.keep("a", "green tea")
    ask = shelf.searching._candidates

    def late(*given: Any) -> Any:
        found = ask(*given)
        shelf.change("a", ChangeKind.UPDATE, content="green tea, but only in the morning")
        return found

    monkeypatch.setattr(shelf.searching, "_candidates", late)
    (hit,) = shelf.searching.search(shelf.access("cook"), [LAYER], "green tea").hits
    assert (hit.memory.content, hit.memory.version) == ("green tea, but only in the morning", 2)


def test_tags_narrow_exactly(shelf: Searched) -> None:
    shelf.keep("a", "green tea", metadata={"场合": "生日", "guests": 3, "vegan": True, "who": ["Ann", "Bob"]})
    shelf.keep("b", "green tea pot", metadata={"场合": "生日会", "guests": 30, "deep": {"x": "生日"}})
    for tags in ({"场合": "生日"}, {"guests": "3"}, {"vegan": "true"}, {"who": "Bob"}, {"场合": "生日", "who": "Ann"}):
        assert shelf.found("tea", tags=tags) == ["a"], tags
    for tags in ({"场合": "生"}, {"deep": "生日"}, {"guests": "3", "who": "Eve"}, {"x": ""}):
        assert shelf.found("tea", tags=tags) == [], tags
    (hit,) = shelf.searching.search(shelf.access("cook"), [LAYER], "tea", tags={"场合": "生日"}).hits
    assert hit.signals == ("keyword", "semantic", "tags")


def test_the_signals_say_how_a_memory_was_found(shelf: Searched) -> None:
    shelf.keep("a", "green tea")
    by_mode = {
        mode: shelf.searching.search(shelf.access("cook"), [LAYER], "green tea", mode=mode).hits[0].signals
        for mode in SearchMode
    }
    assert by_mode == {
        SearchMode.HYBRID: ("keyword", "semantic"),
        SearchMode.SEMANTIC: ("semantic",),
        SearchMode.KEYWORD: ("keyword",),
    }


def test_the_threshold_leaves_out_what_is_unrelated(shelf: Searched) -> None:
    shelf.keep("a", "用户喜欢喝绿茶")
    shelf.keep("b", "The family has an orange cat")
    assert shelf.found("绿茶", threshold=0.3) == ["a"]
    assert shelf.found("mountain bicycles", threshold=0.3) == []
    (hit,) = shelf.searching.search(shelf.access("cook"), [LAYER], "用户喜欢喝绿茶", threshold=0.9).hits
    assert hit.score > 0.95


def test_keyword_mode_embeds_nothing_and_a_model_that_is_away_is_noted(shelf: Searched) -> None:
    shelf.keep("a", "green tea")
    shelf.embedder.asked.clear()
    found = shelf.searching.search(shelf.access("cook"), [LAYER], "green tea", mode=SearchMode.KEYWORD)
    assert (shelf.embedder.asked, found.notes) == ([], ())
    shelf.embedder.away = True
    for mode in (SearchMode.HYBRID, SearchMode.SEMANTIC):
        found = shelf.searching.search(shelf.access("cook"), [LAYER], "green tea", mode=mode)
        assert (shelf.named(found), found.notes) == (["a"], ("semantic_unavailable",))


def test_a_question_is_embedded_once_and_never_whole_if_it_is_endless(shelf: Searched) -> None:
    shelf.keep("a", "green tea")
    shelf.embedder.asked.clear()
    shelf.found("x" * 1_000_000 + " green tea")
    ((text, query),) = shelf.embedder.asked
    assert query
    assert len(text) <= MAX_EMBEDDED_CHARS + 1
    assert shortened("abcdef", 4) == "ab\nef"
    assert shortened("abcd", 4) == "abcd"


def test_a_model_that_comes_up_late_starts_the_index_over(shelf: Searched) -> None:
    shelf.keep("a", "green tea")
    shelf.embedder.away, shelf.embedder.dimensions = True, 0
    assert shelf.found("green tea") == ["a"]
    shelf.embedder.away, shelf.embedder.dimensions = False, 256
    (hit,) = shelf.searching.search(shelf.access("cook"), [LAYER], "green tea").hits
    assert hit.signals == ("keyword", "semantic")


def test_vectors_of_another_model_are_no_use(shelf: Searched) -> None:
    shelf.keep("a", "green tea", embedding_model="another model")
    (hit,) = shelf.searching.search(shelf.access("cook"), [LAYER], "green tea").hits
    assert hit.signals == ("keyword",)


def test_one_fact_is_found_once(shelf: Searched) -> None:
    shelf.keep("a", "用户不吃香菜")
    shelf.keep("b", "用户不吃香菜。", collection="agent:cook")
    shelf.keep("c", "用户不吃芹菜")
    found = shelf.found("不吃香菜", [LAYER, "agent:cook"])
    assert len(found) == 2
    assert "c" in found


def test_the_same_words_about_two_users_are_two_facts(shelf: Searched) -> None:
    shared = Collection(tenant=shelf.tenant, name="household", kind=CollectionKind.SHARED)
    shelf.collection_store.put(shared, actor="admin", now=shelf.clock.now())
    for user in ("ann", "bob"):
        shelf.keep(user, "对花生过敏", collection="household", user_id=user)
    assert len(shelf.searching.search(shelf.admin, ["household"], "花生").hits) == 2


def test_of_two_that_contradict_each_other_the_newer_is_first(shelf: Searched) -> None:
    shelf.keep("old", "用户喜欢吃香菜", said_at=shelf.clock.now() - timedelta(days=30))
    shelf.keep("new", "用户不喜欢吃香菜")
    for question in ("用户喜欢吃香菜", "香菜"):
        assert shelf.found(question) == ["new", "old"]


def test_sentences_and_turns_can_be_asked_for_apart(shelf: Searched) -> None:
    for number in range(6):
        shelf.keep(f"turn{number}", f"user: green tea number {number}", memory_type="episode")
    shelf.keep("fact", "likes green things")
    mixed = shelf.found("green tea number", top_k=3)
    assert len(mixed) == 3
    apart = shelf.found("green tea number", top_k=3, turns_apart=True)
    assert apart[0] == "fact"
    assert [name[:4] for name in apart[1:]] == ["turn"] * 3


def test_texts_close_to_one_about_to_be_stored_are_on_their_own_scale(shelf: Searched) -> None:
    shelf.keep("a", "用户不吃香菜")
    shelf.keep("b", "用户不吃香菜", memory_type="temporary_constraint")
    shelf.keep("c", "The family has an orange cat")
    draft = shelf.draft("new", "用户不吃香菜")
    beside = shelf.searching.similar(shelf.access("cook"), draft, 5, 0.0).memories
    assert beside[0].content == "用户不吃香菜"
    for least in (0.85, 0.95):
        assert shelf.searching.similar(shelf.access("cook"), draft, 5, least).memories == beside[:1]


def test_only_so_many_collections_are_kept(shelf: Searched) -> None:
    searching = SearchLibrary(shelf.memories, shelf.embedder, shelf.clock, config.Library(index_collections=2))
    for name in ("a", "b", "c"):
        shelf.keep(name, "green tea", collection=f"user:{name}")
    for name in ("a", "b", "c", "a"):
        assert len(searching.search(shelf.access("cook"), [f"user:{name}"], "tea").hits) == 1
    assert len(searching.indexes._held) == 2


def test_threads_that_write_and_search_agree_in_the_end(shelf: Searched) -> None:
    failures: list[str] = []

    def work(number: int) -> None:
        for step in range(8):
            shelf.keep(f"w{number}-{step}", f"green tea {number} {step}")
            if f"w{number}-{step}" not in shelf.found(f"green tea {number} {step}", top_k=40):
                failures.append(f"{number}-{step}")

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert len(shelf.found("green tea", top_k=40)) == 32


def test_access_of_the_product_itself_reads_everything(shelf: Searched) -> None:
    shelf.keep("a", "green tea", policy=AccessPolicy(read_agents=("nobody",)))
    product = Access(tenant=shelf.tenant, agent_id="", system=True)
    assert shelf.named(shelf.searching.search(product, [LAYER], "green tea")) == ["a"]
    assert shelf.found("green tea") == []
