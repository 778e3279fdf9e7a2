"""A double of MemOS Cloud, OpenMem v1."""

import random
import threading
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from strata.clock import Clock
from tests.doubles.nearness import nearness
from tests.doubles.server import Asked, Reply

KEY = "cloud-key-of-the-tests"
PREFIX = "/api/openmem/v1"

_FIELDS = {
    "/add/message": {
        "messages", "user_id", "conversation_id", "agent_id", "app_id", "tags", "info", "allow_public",
        "allow_knowledgebase_ids", "async_mode", "allow_memory_view", "source",
    },
    "/search/memory": {
        "query", "user_id", "agent_id", "conversation_id", "filter", "knowledgebase_ids", "memory_limit_number",
        "include_preference", "preference_limit_number", "include_tool_memory", "tool_memory_limit_number",
        "include_skill", "skill_limit_number", "relativity", "include_memory_view", "context_format", "source",
    },
    "/get/memory": {"user_id", "agent_id", "page", "size", "filter", "include_preference", "include_tool_memory"},
    "/delete/memory": {"memory_ids", "user_id", "agent_id", "filter", "memory_type"},
    "/get/status": {"task_id"},
}  # fmt: skip


@dataclass(kw_only=True)
class CloudBehaviour:
    """What this service does. Change it while it runs."""

    settle_seconds: float = 0.0
    """How long an async add shows a rough memory only."""
    extraction: str = "keeps"
    """``keeps``, ``rewrites`` or ``nothing``."""
    add_says: str = "running"
    """The status in the answer to an add; ``failed`` stores nothing."""
    code: int = 0
    """Any other is an error inside HTTP 200."""
    message: str = "ok"
    null_lists: bool = True
    """Lists that would be empty are null."""
    epoch_times: bool = True
    """Milliseconds instead of ISO text."""
    search_tells_info: bool = False
    delete_works: bool = True

    @classmethod
    def at_random(cls, seed: int) -> "CloudBehaviour":
        """A service whose answers are all of its contract, none of them the plainest."""
        chosen = random.Random(seed)
        return cls(
            extraction=chosen.choice(["keeps", "rewrites"]),
            null_lists=chosen.random() < 0.5,
            epoch_times=chosen.random() < 0.5,
            search_tells_info=True,
        )


@dataclass(kw_only=True)
class _Memory:
    memory_id: str
    user_id: str
    value: str
    info: Mapping[str, Any]
    conversation_id: str
    created_at: datetime
    tags: list[str] = field(default_factory=list)
    preference: bool = False
    settles_at: datetime | None = None
    source: str = ""


class MemosCloud:
    """The service behind ``/api/openmem/v1``."""

    def __init__(self, clock: Clock, behaviour: CloudBehaviour | None = None) -> None:
        self.behaviour = behaviour or CloudBehaviour()
        self._clock = clock
        self._lock = threading.RLock()
        self._memories: dict[str, _Memory] = {}

    def texts(self, user_id: str | None = None) -> list[str]:
        """What is stored, of one user or of all."""
        with self._lock:
            self._settle()
            return [one.value for one in self._memories.values() if user_id in (None, one.user_id)]

    def put(self, user_id: str, value: str, *, preference: str = "", **info: Any) -> str:
        """Store something that another client wrote."""
        one = self._store(user_id, preference or value, info, "other")
        one.preference = bool(preference)
        return one.memory_id

    def answer(self, asked: Asked) -> Reply:
        """Do what is asked, one at a time."""
        if asked.headers.get("authorization") != f"Token {KEY}":
            return _failure(40130, "API key is missing")
        path = asked.path.removeprefix(PREFIX)
        if asked.method != "POST" or path not in _FIELDS:
            return Reply(status=404, body={"detail": "Not Found"})
        unknown = set(asked.body or {}) - _FIELDS[path]
        if unknown or not isinstance(asked.body, dict):
            return _failure(40000, f"unknown fields {sorted(unknown)}")
        if any(len(str(asked.body.get(name) or "")) > 100 for name in ("user_id", "conversation_id")):
            return _failure(40010, "id too long")
        if self.behaviour.code:
            return _failure(self.behaviour.code, self.behaviour.message)
        routes = {
            "/add/message": self._add,
            "/search/memory": self._search,
            "/get/memory": self._list,
            "/delete/memory": self._delete,
            "/get/status": self._status,
        }
        with self._lock:
            self._settle()
            return routes[path](asked.body)

    def _add(self, body: dict[str, Any]) -> Reply:
        if not body.get("messages") or not body.get("user_id") or not body.get("conversation_id"):
            return _failure(40002, "required field empty")
        if any(not isinstance(value, str | int | float | list) for value in (body.get("info") or {}).values()):
            return _failure(40000, "info values must be text, number or list of texts")
        status = self.behaviour.add_says
        for message in body["messages"] if status != "failed" else ():
            self._take(body, message["content"])
        done = "completed" if status != "failed" and not body.get("async_mode", True) else status
        return _success({"success": status != "failed", "task_id": str(uuid.uuid4()), "status": done})

    def _take(self, body: dict[str, Any], said: str) -> None:
        info, user, conversation = body.get("info") or {}, body["user_id"], body["conversation_id"]
        tags = list(body.get("tags") or [])
        if body.get("async_mode", True):
            rough = self._store(user, f"user: {said}", info, conversation)
            rough.tags, rough.source = [*tags, "mode:fast"], said
            rough.settles_at = self._clock.now() + timedelta(seconds=self.behaviour.settle_seconds)
        else:
            self._extract(user, said, info, conversation, tags)

    def _extract(self, user_id: str, said: str, info: Mapping[str, Any], conversation: str, tags: list[str]) -> None:
        value = {"keeps": f"The user said: {said}", "rewrites": f"用户说：{said}"}.get(self.behaviour.extraction)
        if value:
            self._store(user_id, value, info, conversation).tags = [*tags, "colour"]

    def _settle(self) -> None:
        now = self._clock.now()
        for rough in [one for one in self._memories.values() if one.settles_at and one.settles_at < now]:
            del self._memories[rough.memory_id]
            tags = [tag for tag in rough.tags if tag != "mode:fast"]
            self._extract(rough.user_id, rough.source, rough.info, rough.conversation_id, tags)

    def _store(self, user_id: str, value: str, info: Mapping[str, Any], conversation: str) -> _Memory:
        one = _Memory(
            memory_id=uuid.uuid4().hex,
            user_id=user_id,
            value=value,
            info=dict(info),
            conversation_id=conversation,
            created_at=self._clock.now(),
        )
        self._memories[one.memory_id] = one
        return one

    def _search(self, body: dict[str, Any]) -> Reply:
        if not body.get("query") or not (body.get("user_id") or body.get("agent_id")):
            return _failure(40002, "required field empty")
        if body.get("memory_limit_number", 9) > 25:
            return _failure(40000, "memory_limit_number must be at most 25")
        mine = [one for one in self._memories.values() if one.user_id == body["user_id"]]
        scored = [(nearness(body["query"], one.value), one) for one in mine if _passes(one, body.get("filter"))]
        scored.sort(key=lambda pair: pair[0], reverse=True)
        near = [(score, one) for score, one in scored if score >= body.get("relativity", 0.45)]
        facts = [self._shown(one, score) for score, one in near if not one.preference]
        liked = [self._shown(one, score) for score, one in near if one.preference]
        lists = self._lists(
            facts[: body.get("memory_limit_number", 9)], liked[: body.get("preference_limit_number", 9)], info=False
        )
        return _success({**lists, "preference_note": "", "tool_memory_detail_list": None, "skill_detail_list": None})

    def _list(self, body: dict[str, Any]) -> Reply:
        page, size = body.get("page", 1), body.get("size", 10)
        if size > 50:
            return _failure(40000, "size must be at most 50")
        mine = [one for one in self._memories.values() if one.user_id == body["user_id"]]
        if not mine:
            return _failure(40308, "user does not exist")
        mine = [one for one in mine if _passes(one, body.get("filter"))]
        mine.sort(key=lambda one: one.created_at, reverse=True)
        shown = [(one, self._shown(one, None)) for one in mine[(page - 1) * size : page * size]]
        lists = self._lists(
            [entry for one, entry in shown if not one.preference], [entry for one, entry in shown if one.preference]
        )
        counts = {"total": len(mine), "size": size, "current": page, "pages": -(-len(mine) // size)}
        return _success({**lists, **counts})

    def _delete(self, body: dict[str, Any]) -> Reply:
        if sum(name in body for name in ("memory_ids", "user_id", "agent_id", "filter")) != 1:
            return _failure(40000, "exactly one of memory_ids, user_id, agent_id, filter")
        known = [one for one in body.get("memory_ids", []) if one in self._memories]
        if not known:
            return _failure(40307, "memory does not exist")
        for memory_id in known if self.behaviour.delete_works else ():
            del self._memories[memory_id]
        return _success({"success": True})

    def _status(self, body: dict[str, Any]) -> Reply:
        return _failure(50131, "task does not exist") if not body.get("task_id") else _success({"status": "completed"})

    def _lists(self, facts: list[Any], liked: list[Any], *, info: bool = True) -> dict[str, Any]:
        for entry in [*facts, *liked] if not info and not self.behaviour.search_tells_info else ():
            del entry["info"]
        empty: list[Any] | None = None if self.behaviour.null_lists else []
        return {"memory_detail_list": facts or empty, "preference_detail_list": liked or empty}

    def _shown(self, one: _Memory, score: float | None) -> dict[str, Any]:
        epoch = int(one.created_at.timestamp() * 1_000)
        instant = epoch if self.behaviour.epoch_times else one.created_at.isoformat()
        common = {
            "id": one.memory_id,
            "conversation_id": one.conversation_id,
            "status": "activated",
            "create_time": instant,
            "update_time": instant,
            "info": dict(one.info),
            "tags": one.tags,
            **({"relativity": score} if score is not None else {}),
        }
        if one.preference:
            return {**common, "preference_type": "implicit_preference", "preference": one.value, "reasoning": "…"}
        return {**common, "memory_key": one.value[:20], "memory_value": one.value, "memory_type": "UserMemory"}


def _passes(one: _Memory, where: Mapping[str, Any] | None) -> bool:
    if not where:
        return True
    together = all if "and" in where else any
    conditions = where.get("and") or where.get("or") or []
    return together(one.info.get(name) == value for condition in conditions for name, value in condition.items())


def _success(data: Any) -> Reply:
    return Reply(body={"code": 0, "data": data, "message": "ok"})


def _failure(code: int, message: str) -> Reply:
    return Reply(body={"code": code, "data": None, "message": message})
