"""Search in the native library: ranked by the warm indexes, read and allowed by the database.

Two statements a search: what the agent may read and how far each collection has changed, then the best candidates as
they stand, under the agent's rights. More candidates are read than asked for, so that refusals do not empty the list.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from strata import config
from strata.clock import Clock
from strata.errors import StrataError
from strata.model.context import SearchMode
from strata.model.memories import Hit
from strata.observability import logger
from strata.ports import Access, CollectionView, Embedder, MemoryDraft, MemoryStore, ProviderHits
from strata.ranking.alike import alike
from strata.ranking.mix import EPISODES, FACTS, Mix
from strata.ranking.query import Query, prepared
from strata.ranking.ranked import Candidate, ranked
from strata.ranking.shelf import Shelf, Tag
from strata.ranking.vectors import numpy_is_there
from strata.sharing.index import EPISODE, CollectionIndex, Indexes
from strata.sharing.look_first import Beside
from strata.sharing.settled import ReadHit, settled

SPARE = 6
"""Candidates ranked beyond the hits that are wanted, at first; four times as many in each further round."""
SPARE_ALIKE = 2
"""The same where what is like a text is looked for: the first ranking of candidates is rough."""
GROWTH = 4
MOST_READ = 2_000
"""Refused candidates that one search puts up with: rights changed since the index was told, or it was not told."""
RESTATED = 4
"""Hits read beyond what is asked for, in the place of those that only repeat another."""
MAX_QUERY_CHARS = 2_000
MAX_EMBEDDED_CHARS = 600
"""A longer question says what it is about at its beginning and its end; embedding it whole would take a second."""

SEMANTIC_UNAVAILABLE = "semantic_unavailable"
TAGS = "tags"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Ask:
    """One search, prepared."""

    access: Access
    views: Mapping[str, CollectionView]
    memory_types: Sequence[str] | None
    query: Query
    mode: SearchMode
    mixes: tuple[Mix, ...] = (FACTS, EPISODES)
    """What is searched: sentences, turns, or both."""

    def shelves(self, indexes: Mapping[str, CollectionIndex], mix: Mix) -> list[Shelf]:
        """Return what the agent may search and a mix is for."""
        return [
            shelf
            for name, index in indexes.items()
            for shelf in index.shelves([kind for kind in self._types(name) if (kind == EPISODE) is (mix is EPISODES)])
        ]

    def _types(self, collection: str) -> list[str]:
        readable = self.views[collection].readable_types
        return [name for name in readable if self.memory_types is None or name in self.memory_types]


class SearchLibrary:
    """Searches collections on behalf of an agent. Safe to share between threads."""

    def __init__(self, store: MemoryStore, embedder: Embedder, clock: Clock, settings: config.Library) -> None:
        self._store = store
        self._embedder = embedder
        self._clock = clock
        self._settings = settings
        self.indexes = Indexes(store, embedder, keep=settings.index_collections)

    def search(  # noqa: PLR0913 (the parameters of the search route)
        self,
        access: Access,
        collections: Sequence[str],
        text: str,
        *,
        memory_types: Sequence[str] | None = None,
        tags: Mapping[str, str] | None = None,
        mode: SearchMode = SearchMode.HYBRID,
        top_k: int | None = None,
        threshold: float = 0.0,
        turns_apart: bool = False,
    ) -> ProviderHits:
        """Return the best hits with scores of at least ``threshold``, best first; one fact once.

        Collections and types that the agent may not read contribute nothing. A note says if meaning could not be
        searched for. With ``turns_apart`` sentences are followed by turns of conversations, ``top_k`` of each, so that
        neither keeps the other out. Raises StorageUnavailableError.
        """
        text = shortened(text, MAX_QUERY_CHARS)
        question = shortened(text, MAX_EMBEDDED_CHARS)
        vector = None if mode is SearchMode.KEYWORD else self._embedded(question)
        wanted = frozenset((tags or {}).items())
        ask = self._ask(access, collections, memory_types, self._query(access, text, vector, wanted), mode)
        limit = self._settings.top_k if top_k is None else top_k
        parts = [replace(ask, mixes=(mix,)) for mix in ask.mixes] if turns_apart else [ask]
        hits = [found for part in parts for found in settled(self._hits(part, limit + RESTATED, threshold))[:limit]]
        lacks_meaning = vector is None and mode is not SearchMode.KEYWORD and bool(text.strip())
        notes = (SEMANTIC_UNAVAILABLE,) if lacks_meaning else ()
        return ProviderHits(hits=tuple(found.hit for found in hits), notes=notes)

    def similar(
        self, access: Access, draft: MemoryDraft, top_k: int, threshold: float, view: CollectionView | None = None
    ) -> Beside:
        """Return memories of the collection and type of one about to be stored that are close to it.

        Repeats are included. Scores are on the scale of stored texts against each other, where paraphrases reach 0.85.
        They are as they stood at ``view`` (read here if it is not given): whoever writes on the strength of them says
        so, and the write fails if the collection changed. Nobody asked to read, so nothing is refused.
        """
        known = self._still(access, draft, view)
        if known is None:
            return Beside(memories=())
        is_known = draft.embedding_model == self._embedder.name and numpy_is_there()
        vector = draft.embedding if is_known else None
        query = self._query(access, draft.content, vector, frozenset(), passage=True)
        with self.indexes.current(access.tenant, {draft.collection: known}) as indexes:
            index = indexes[draft.collection]
            found = [
                candidate
                for shelf in index.shelves({draft.memory_type}.intersection(known.readable_types))
                for candidate in alike(
                    shelf, query, self._embedder.background, least=threshold, limit=top_k + SPARE_ALIKE
                )
                if candidate.score >= threshold
            ]
            memories = [memory for one in found[:top_k] if (memory := index.memory(one.memory_id)) is not None]
            is_first = not index.has(draft.memory_type, draft.fingerprint)
        return Beside(memories=memories, as_of=known.change_seq, is_first=is_first)

    def _still(self, access: Access, draft: MemoryDraft, view: CollectionView | None) -> CollectionView | None:
        """Return the state of a draft's collection, read anew if the index of this process knows of later changes."""
        if view is not None and self.indexes.stands_at(access.tenant, draft.collection) <= view.change_seq:
            return view
        now = self._clock.now()
        return self._store.opening(access, draft.collection, model="", text_hash="", now=now).view

    def _query(
        self, access: Access, text: str, vector: bytes | None, tags: frozenset[Tag], *, passage: bool = False
    ) -> Query:
        reader = None if access.admin or access.system else access.agent_id
        now = self._clock.now().timestamp()
        return prepared(text, vector=vector, passage=passage, tags=tags, reader=reader, now=now)

    def _ask(
        self,
        access: Access,
        collections: Sequence[str],
        memory_types: Sequence[str] | None,
        query: Query,
        mode: SearchMode,
    ) -> _Ask:
        views = self._store.view(access, list(dict.fromkeys(collections)), now=self._clock.now())
        return _Ask(access=access, views=views, memory_types=memory_types, query=query, mode=mode)

    def _embedded(self, text: str) -> bytes | None:
        """Return the vector of a question, or None where meaning cannot be searched for."""
        if not (self._embedder.name and text.strip() and numpy_is_there()):
            return None
        try:
            return self._embedder.embed([text], query=True)[0]
        except StrataError as error:
            logger.warning("search.not_embedded", extra={"code": error.code})
            return None

    def _hits(self, ask: _Ask, wanted: int, threshold: float) -> list[ReadHit]:
        """Read candidates until as many as wanted may be seen, or there are no more."""
        hits: list[ReadHit] = []
        limit, seen = wanted + SPARE, 0
        while seen < MOST_READ:
            candidates = self._candidates(ask, limit)
            good = [found for found in candidates if found.hit.score >= threshold]
            while len(hits) < wanted and seen < len(good):
                batch = good[seen : seen + wanted]
                hits += self._allowed(ask, batch)
                seen += len(batch)
            if len(hits) >= wanted or len(candidates) < limit or len(good) < len(candidates):
                break
            limit *= GROWTH
        return hits[:wanted]

    def _candidates(self, ask: _Ask, limit: int) -> list[ReadHit]:
        """Sentences and turns are ranked each by their own rules and meet on the calibrated scale."""
        with self.indexes.current(ask.access.tenant, ask.views) as indexes:
            found = [candidate for mix in ask.mixes for candidate in self._found(ask, indexes, mix, limit)]
            best = sorted(found, key=lambda candidate: -candidate.score)[:limit]
            return [_as_remembered(candidate, indexes, tagged=bool(ask.query.tags)) for candidate in best]

    def _found(self, ask: _Ask, indexes: Mapping[str, CollectionIndex], mix: Mix, limit: int) -> list[Candidate]:
        shelves, background = ask.shelves(indexes, mix), self._embedder.background
        return ranked(shelves, ask.query, mix, ask.mode, background, limit=limit)

    def _allowed(self, ask: _Ask, found: Sequence[ReadHit]) -> list[ReadHit]:
        """Return those that the agent may see now, as they stand now.

        The database says which these are, and at which version; what changed since the index was told is read again.
        """
        now = self._clock.now()
        remembered = {one.hit.memory.memory_id: one.hit.memory for one in found}
        types = sorted({memory.memory_type for memory in remembered.values()})
        versions = self._store.present_versions(ask.access, list(remembered), now=now, memory_types=types)
        changed = [name for name, version in versions.items() if remembered[name].version != version]
        for memory in self._store.get_many(ask.access, changed, now=now, memory_types=types):
            remembered[memory.memory_id] = memory
        return [
            one.standing_for(memory)
            for one in found
            if (memory := remembered[one.hit.memory.memory_id]).version == versions.get(memory.memory_id)
        ]


def _as_remembered(found: Candidate, indexes: Mapping[str, CollectionIndex], *, tagged: bool) -> ReadHit:
    memory = next(memory for index in indexes.values() if (memory := index.memory(found.memory_id)) is not None)
    signals = (*found.signals, TAGS) if tagged else found.signals
    return ReadHit(Hit(memory=memory, score=found.score, signals=signals), found.terms)


def shortened(text: str, limit: int) -> str:
    """Return a text of about ``limit`` characters at most: a long one by its beginning and its end."""
    half = limit // 2
    return text if len(text) <= limit else f"{text[:half]}\n{text[-half:]}"
