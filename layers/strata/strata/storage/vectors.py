"""Embedding vectors by model and text, on SQL."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import lru_cache

from sqlalchemy import Connection, bindparam, select

from strata.model.memories import Memory
from strata.policy.digests import text_digest
from strata.storage.engine import Database
from strata.storage.memory_checks import listed, listed_parameters, places_for
from strata.storage.statements import Insert, Statement
from strata.storage.tables import REPEATABLE_TYPES, embeddings


class SqlVectorStore:
    """The port ``VectorStore``."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def get_many(self, model: str, text_hashes: Sequence[str]) -> dict[str, bytes]:
        """Return those vectors that are known, by hash, in one statement."""
        if not text_hashes:
            return {}
        places = places_for(len(text_hashes), least=1)
        values = {"of_model": model, **listed_parameters(text_hashes, places)}
        rows = self._database.read(lambda connection: _known(places).rows(connection, **values))
        return {text_hash: bytes(vector) for text_hash, vector in rows}

    def put_many(self, model: str, vectors: Mapping[str, bytes], *, now: datetime) -> None:
        """Keep vectors, in one statement; known ones stay as they are."""
        rows = [(model, text_hash, vector, now) for text_hash, vector in vectors.items()]
        if rows:
            self._database.write(lambda connection: _KEPT.run(connection, rows))


def keep_vector(connection: Connection, memory: Memory, now: datetime) -> None:
    """Keep the vector of a memory for whoever meets the same text, in the transaction that writes the memory.

    A turn of a conversation is embedded together with the one before it, so its vector is not that of its text.
    """
    if memory.embedding is not None and memory.memory_type not in REPEATABLE_TYPES:
        row = (memory.embedding_model, text_digest(memory.content), memory.embedding, now)
        _KEPT.run(connection, [row])


_KEPT = Insert(embeddings, ("model", "text_hash", "vector", "created_at"), once=True)


@lru_cache(maxsize=16)
def _known(places: int) -> Statement:
    kept = embeddings.c
    query = select(kept.text_hash, kept.vector).where(kept.model == bindparam("of_model", type_=kept.model.type))
    return Statement(query.where(kept.text_hash.in_(listed(places, kept.text_hash.type))))
