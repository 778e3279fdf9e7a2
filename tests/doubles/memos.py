"""A double of the self-hosted MemOS server, v2.0.33, with the behaviours that its callers have met."""

import random
import re
import threading
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from strata.clock import Clock
from tests.doubles import memos_models
from tests.doubles.nearness import nearness
from tests.doubles.server import Asked, Reply

RESERVED = frozenset(
    "id memory metadata background confidence covered_history created_at dialog_id embedding evolve_to "
    "file_ids history info internal_info is_fast key mem_cube_id memory_type original_text preference "
    "preference_type relativity score session_id source sources status tags type updated_at usage user_id "
    "version visibility working_binding".split()
)
"""Names in ``info`` that the server drops without a word."""

_MIXED = "Filter must have either 'and' or 'or', not both or with other keys"


@dataclass(kw_only=True)
class MemosBehaviour:
    """What this server does. Change it while it runs."""

    backend: str = "neo4j"
    """``neo4j`` flattens ``info`` and writes nine fraction digits; ``postgres`` nests it and knows no pages."""
    settle_seconds: float = 0.0
    """How long an async add shows its raw copy."""
    extraction: str = "keeps"
    """``keeps``, ``rewrites``, ``splits``, ``nothing``, ``fails`` (a raw copy stays), ``loses`` (before 2.0.33)."""
    search_fails: bool = False
    """Answers as if there were nothing."""
    add_stores_nothing: bool = False
    relativity: str = "cosine"
    """``cosine``, ``half`` (always 0.5), ``zero`` (reranker down), ``missing``."""
    padding: bool = False
    """Adds an entry with relativity -1.0."""
    delete_says: str = "success"
    delete_works: bool = True
    redis: bool = True

    @classmethod
    def at_random(cls, seed: int) -> "MemosBehaviour":
        """A server whose answers are all of its contract, none of them the plainest."""
        chosen = random.Random(seed)
        return cls(
            backend=chosen.choice(["neo4j", "postgres"]),
            extraction=chosen.choice(["keeps", "rewrites", "splits", "fails"]),
            relativity=chosen.choice(["cosine", "half", "missing"]),
            padding=chosen.random() < 0.5,
            delete_says=chosen.choice(["success", "failure"]),
            redis=chosen.random() < 0.5,
        )


@dataclass(kw_only=True)
class _Node:
    node_id: str
    cube: str
    memory: str
    user_id: str
    session_id: str
    info: dict[str, Any]
    tags: list[str]
    created_at: datetime
    is_fast: bool | None = None
    memory_type: str = "UserMemory"
    preference: dict[str, str] = field(default_factory=dict)
    settles_at: datetime | None = None
    source: str = ""


class Memos:
    """The service behind ``/product/*``."""

    def __init__(self, clock: Clock, behaviour: MemosBehaviour | None = None) -> None:
        memos_models.prepare()
        self.behaviour = behaviour or MemosBehaviour()
        self._clock = clock
        self._lock = threading.RLock()
        self._nodes: dict[str, _Node] = {}
        self._tasks: dict[tuple[str, str], list[str]] = {}

    # --- what a test may look at and put in -----------------------------------------------------------------------

    def texts(self, cube: str | None = None) -> list[str]:
        """What is stored, of one cube or of all."""
        with self._lock:
            self._settle()
            return [node.memory for node in self._nodes.values() if cube in (None, node.cube)]

    def cubes(self) -> set[str]:
        """The cubes that anything was written to."""
        return {node.cube for node in self._nodes.values()}

    def put(self, cube: str, memory: str, *, preference: str = "", **info: Any) -> str:
        """Store something that another client wrote; a preference is a preference memory."""
        node = self._node(cube, memory, cube, "other", info)
        if preference:
            node.memory_type = "PreferenceMemory"
            node.preference = {
                "preference": preference,
                "preference_type": "explicit_preference",
                "reasoning": "…",
                "topic": "…",
            }
        return node.node_id

    # --- the door -------------------------------------------------------------------------------------------------

    def answer(self, asked: Asked) -> Reply:
        """Do what is asked, one at a time."""
        routes = {
            ("POST", "/product/search"): self._search,
            ("POST", "/product/add"): self._add,
            ("POST", "/product/delete_memory"): self._delete,
            ("POST", "/product/get_memory"): self._get_memory,
        }
        route = routes.get((asked.method, asked.path))
        with self._lock:
            self._settle()
            if route is None:
                return self._read(asked)
            if not isinstance(asked.body, dict):
                return _invalid(asked.path, "body", "JSON decode error", "json_invalid")
            refusal = memos_models.refusal(asked.path, asked.body)
            return _invalid(asked.path, *refusal) if refusal else route(asked.body)

    def _read(self, asked: Asked) -> Reply:
        if asked.path == "/health":
            return Reply(body={"status": "healthy", "service": "memos", "version": "1.0.1"})
        if asked.path == "/product/scheduler/status":
            return self._status(asked.query.get("user_id", ""), asked.query.get("task_id"))
        by_id = re.fullmatch(r"/product/get_memory/([^/]+)", asked.path)
        if by_id and asked.method == "GET":
            node = self._nodes.get(by_id[1])
            message = "Memory retrieved successfully" if node else f"Memory with ID {by_id[1]} not found"
            return _success(message, self._shown(node) if node else None)
        known = asked.path.startswith("/product/")
        return Reply(status=405 if known else 404, body={"detail": "Method Not Allowed" if known else "Not Found"})

    # --- search ---------------------------------------------------------------------------------------------------

    def _search(self, body: dict[str, Any]) -> Reply:
        where = body.get("filter") or {}
        if set(where) & {"and", "or"} and len(where) > 1:
            return Reply(status=400, body={"code": 400, "message": _MIXED, "data": None})
        cubes = list(dict.fromkeys(body.get("readable_cube_ids") or [body["user_id"]]))
        silent = self.behaviour.search_fails or not body["query"]
        found = [] if silent else list(self._ranked(body, cubes))
        buckets = {cube: [shown for owner, shown in found if owner == cube] for cube in cubes}
        texts, preferences = self._parted(buckets, body)
        empty = [{"cube_id": cube, "memories": [], "total_nodes": 0} for cube in cubes]
        data = {
            "text_mem": [
                {"cube_id": cube, "memories": entries} for cube, entries in reversed(texts.items()) if entries
            ],
            "act_mem": [],
            "para_mem": [],
            "pref_mem": [
                {"cube_id": cube, "memories": entries, "total_nodes": len(entries)}
                for cube, entries in preferences.items()
            ],
            "pref_note": "",
            "tool_mem": empty,
            "skill_mem": empty,
        }
        return _success("Search completed successfully", data)

    def _ranked(self, body: dict[str, Any], cubes: list[str]) -> Iterator[tuple[str, dict[str, Any]]]:
        """Entries over the threshold, best first; with MMR a text that two cubes hold comes from one of them only."""
        scored = [
            (nearness(body["query"], f"{node.memory} {node.preference.get('preference', '')}"), node)
            for node in self._nodes.values()
            if node.cube in cubes
        ]
        scored.sort(key=lambda pair: pair[0], reverse=True)
        seen: set[str] = set()
        for cosine, node in scored:
            relativity = self._relativity(cosine, rerank=body.get("rerank", True))
            if (1.0 if relativity is None else relativity) < body.get("relativity", 0.45):
                continue
            if body.get("dedup", "mmr") in {"mmr", "sim"} and node.memory in seen:
                continue
            seen.add(node.memory)
            shown = self._shown(node)
            shown["metadata"] |= {"relativity": relativity} if relativity is not None else {}
            yield node.cube, shown
        if self.behaviour.padding and scored and body.get("relativity", 0.45) <= 0:
            shown = self._shown(scored[-1][1])
            yield scored[-1][1].cube, {**shown, "metadata": {**shown["metadata"], "relativity": -1.0}}

    def _relativity(self, cosine: float, *, rerank: bool) -> float | None:
        if not rerank or self.behaviour.relativity == "zero":
            return 0.0
        if self.behaviour.relativity == "missing":
            return None if cosine > 0 else 0.0
        return 0.5 if self.behaviour.relativity == "half" and cosine > 0 else cosine

    def _parted(self, buckets: dict[str, list[Any]], body: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
        """Texts and preferences per cube, cut to their limits."""
        wanted = body.get("pref_top_k", 6) if body.get("include_preference", True) else 0
        texts = {
            cube: [entry for entry in entries if "preference" not in entry["metadata"]][: body.get("top_k", 10)]
            for cube, entries in buckets.items()
        }
        preferences = {
            cube: [entry for entry in entries if "preference" in entry["metadata"]][:wanted]
            for cube, entries in buckets.items()
        }
        return texts, preferences

    # --- add ------------------------------------------------------------------------------------------------------

    def _add(self, body: dict[str, Any]) -> Reply:
        if not isinstance(body.get("user_id"), str):
            return Reply(
                status=400, body={"code": 400, "message": "user_id and session_id must be strings", "data": None}
            )
        cubes = body.get("writable_cube_ids") or [body["user_id"]]
        stored = [] if self.behaviour.add_stores_nothing else [self._taken(body, cube) for cube in cubes]
        nodes = [node for taken in stored for node in taken]
        if body.get("task_id"):
            self._tasks[body["user_id"], body["task_id"]] = [node.node_id for node in nodes]
        entries = [
            {"memory": node.memory, "memory_id": node.node_id, "memory_type": node.memory_type, "cube_id": node.cube}
            for node in nodes
        ]
        return _success("Memory added successfully", entries)

    def _taken(self, body: dict[str, Any], cube: str) -> list[_Node]:
        said = [message for message in body.get("messages") or [] if message["role"] == "user"]
        info = {key: value for key, value in (body.get("info") or {}).items() if key not in RESERVED}
        user, session = body["user_id"], body.get("session_id") or "default_session"
        if body.get("async_mode", "async") == "sync" and body.get("mode") != "fast":
            return [node for m in said for node in self._extracted(cube, m["content"], user, session, info)]
        nodes = []
        for message in said:
            raw = f"user: [{message.get('chat_time') or '08:22 AM on 30 November, 2026'}]: {message['content']}\n"
            node = self._node(cube, raw, user, session, info)
            node.tags, node.is_fast, node.source = ["mode:fast"], True, message["content"]
            if body.get("async_mode", "async") == "async":
                node.settles_at = self._clock.now() + timedelta(seconds=self.behaviour.settle_seconds)
            nodes.append(node)
        return nodes

    def _settle(self) -> None:
        """Let the scheduler work: what is due gets new ids, and its raw copy goes."""
        now = self._clock.now()
        for node in [node for node in self._nodes.values() if node.settles_at and node.settles_at < now]:
            del self._nodes[node.node_id]
            if self.behaviour.extraction != "loses":
                self._extracted(node.cube, node.source, node.user_id, node.session_id, node.info)

    def _extracted(self, cube: str, said: str, user: str, session: str, info: dict[str, Any]) -> list[_Node]:
        half = len(said) // 2
        texts = {
            "keeps": [f"The user said: {said}"],
            "rewrites": [f"用户说：{said}"],
            "splits": [f"The user said: {said[:half]}", f"The user said: {said[half:]}"],
            "nothing": [],
            "loses": [],
            "fails": [f"user: [08:22 AM on 30 November, 2026]: {said}\n"],
        }[self.behaviour.extraction]
        return [self._node(cube, text, user, session, info) for text in texts]

    def _node(self, cube: str, memory: str, user_id: str, session_id: str, info: dict[str, Any]) -> _Node:
        node = _Node(
            node_id=str(uuid.uuid4()),
            cube=cube,
            memory=memory,
            user_id=user_id,
            session_id=session_id,
            info=dict(info),
            tags=[],
            created_at=self._clock.now(),
        )
        self._nodes[node.node_id] = node
        return node

    # --- delete, list, status -------------------------------------------------------------------------------------

    def _delete(self, body: dict[str, Any]) -> Reply:
        if body.get("session_id") and body.get("conversation_id") not in (None, body["session_id"]):
            message = "Object of type ValueError is not JSON serializable"
            return Reply(status=500, body={"code": 500, "message": message, "data": None})
        by_stored = {key: body[key] for key in ("user_id", "session_id") if body.get(key) is not None}
        modes = [body.get("memory_ids") is not None, body.get("file_ids") is not None, bool(by_stored)]
        if sum(modes) != 1:
            needed = "Exactly one delete mode must be provided: memory_ids, file_ids, or filter/user_id/session_id."
            return _success(needed, {"status": "failure"})
        doomed = set(body.get("memory_ids") or []) | {
            node.node_id
            for node in self._nodes.values()
            if by_stored and all(getattr(node, key) == value for key, value in by_stored.items())
        }
        for node_id in doomed if self.behaviour.delete_works else ():
            self._nodes.pop(node_id, None)  # whatever cube it is in: writable_cube_ids is not looked at
        failed = self.behaviour.delete_says != "success" or bool(by_stored)
        message = "Failed to delete memories" if failed else "Memories deleted successfully"
        return _success(message, {"status": "failure" if failed else "success"})

    def _get_memory(self, body: dict[str, Any]) -> Reply:
        nodes = [node for node in self._nodes.values() if node.cube == body["mem_cube_id"]]
        nodes.sort(key=lambda node: node.created_at, reverse=True)
        paged = self.behaviour.backend == "neo4j"
        texts = [node for node in nodes if not paged or node.memory_type != "PreferenceMemory"]
        preferences = [node for node in nodes if not paged or node.memory_type == "PreferenceMemory"]
        parts = {"text_mem": texts, "pref_mem": preferences if body.get("include_preference", True) else None}
        data: dict[str, Any] = {"tool_mem": [], "skill_mem": []}
        for part, members in parts.items():
            shown = [self._shown(node) for node in self._page(members or [], body, paged=paged)]
            bucket = {"cube_id": body["mem_cube_id"], "memories": shown, "total_nodes": len(members or [])}
            data[part] = [bucket] if members is not None else []
        return _success("Memories retrieved successfully", data)

    def _page(self, nodes: list[_Node], body: dict[str, Any], *, paged: bool) -> list[_Node]:
        page, size = body.get("page"), body.get("page_size")
        return nodes[(page - 1) * size : page * size] if paged and page and size else nodes

    def _status(self, user_id: str, task_id: str | None) -> Reply:
        if not self.behaviour.redis and task_id is None:
            return _success("Memory get status successfully", [])
        if not self.behaviour.redis or (user_id, task_id) not in self._tasks:
            message = f"Task {task_id} not found for user {user_id}"
            return Reply(status=404, body={"code": 404, "message": message, "data": None})
        waiting = any(
            node_id in self._nodes and self._nodes[node_id].settles_at
            for node_id in self._tasks[user_id, task_id or ""]
        )
        row = {"task_id": task_id, "status": "in_progress" if waiting else "completed"}
        return _success("Memory get status successfully", [row])

    def _shown(self, node: _Node) -> dict[str, Any]:
        nested = self.behaviour.backend == "postgres"
        instant = f"{node.created_at:%Y-%m-%dT%H:%M:%S.%f}" + ("" if nested else "000") + "+00:00"
        metadata: dict[str, Any] = {
            "user_id": node.user_id,
            "session_id": node.session_id,
            "status": "activated",
            "is_fast": node.is_fast,
            "evolve_to": [],
            "version": 1,
            "history": [],
            "type": "fact",
            "key": node.memory[:20],
            "confidence": 0.99,
            "source": None,
            "tags": node.tags,
            "created_at": instant,
            "updated_at": instant,
            "memory_type": node.memory_type,
            "sources": [],
            "embedding": [],
            **({"info": node.info} if nested else node.info),
            **node.preference,
        }
        return {"id": node.node_id, "ref_id": f"[{node.node_id[:8]}]", "memory": node.memory, "metadata": metadata}


def _success(message: str, data: Any) -> Reply:
    return Reply(body={"code": 200, "message": message, "data": data})


def _invalid(path: str, where: str, message: str, kind: str) -> Reply:
    told = f"Parameter validation error on POST {path}: [{where}] {message} (type: {kind})"
    detail = [{"type": kind, "loc": where.split(" -> "), "msg": message, "input": None}]
    return Reply(status=422, body={"code": 422, "message": told, "detail": detail, "data": None})
