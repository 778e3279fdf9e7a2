"""Embedding vectors by model and text, on SQL."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from sqlalchemy import select

from strata.storage.engine import Database
from strata.storage.inserts import insert_missing
from strata.storage.tables import embeddings


class SqlVectorStore:
    """The port ``VectorStore``."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def get_many(self, model: str, text_hashes: Sequence[str]) -> dict[str, bytes]:
        """Return those vectors that are known, by hash, in one statement."""
        if not text_hashes:
            return {}
        kept = embeddings.c
        query = select(kept.text_hash, kept.vector).where(kept.model == model, kept.text_hash.in_(text_hashes))
        rows = self._database.read(lambda connection: connection.execute(query).all())
        return {text_hash: bytes(vector) for text_hash, vector in rows}

    def put_many(self, model: str, vectors: Mapping[str, bytes], *, now: datetime) -> None:
        """Keep vectors, in one statement; known ones stay as they are."""
        rows = [
            {"model": model, "text_hash": text_hash, "vector": vector, "created_at": now}
            for text_hash, vector in vectors.items()
        ]
        if rows:
            self._database.write(lambda connection: insert_missing(connection, embeddings, rows))
