"""Questions out: two context loads each, one as an agent makes it, one that shows the ranking."""

import time
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from strata.client import ContextResult
from strata.errors import ProviderUnavailableError, StrataError
from strata.evaluation.retrieval.material import Question
from strata.evaluation.retrieval.scores import Unit
from strata.evaluation.retrieval.settling import EPISODE, Origins
from strata.evaluation.subject import Subject
from strata.evaluation.task import Record
from strata.tokens.counter import TokenCounter

MOST = 100
"""Memories asked for to see the ranking; the API gives no more."""
ROOM = 200_000
"""Tokens for them: nothing is cut by a budget there, budgets are scored afterwards."""
WIDE: Mapping[str, Any] = {"top_k": MOST, "memory_budget_tokens": ROOM, "total_budget_tokens": 4 * ROOM}
PATIENCE_MS = 25_000
"""The longest deadline the API takes: a busy machine must not change what is found. What it took is told."""
ATTEMPTS = 3
LANES = ("user", "shared", "agent")

_counter = TokenCounter()


def asked(subject: Subject, user_id: str, question: Question, known: Origins, *, turns: bool) -> Record:
    """Ask a question; ``turns`` if the ranking is that of the indexed turns, else of everything.

    Raises ProviderUnavailableError if the long-term side does not answer.
    """
    started = time.perf_counter()
    loaded = _loaded(subject, user_id, question.text, {})
    elapsed = time.perf_counter() - started
    ranking = _loaded(subject, user_id, question.text, {**WIDE, "memory_types": [EPISODE]} if turns else WIDE)
    return {
        "ranked": [[unit.tokens, *unit.turns] for unit in _units(subject, ranking, known)],
        "loaded": [[unit.tokens, *unit.turns] for unit in _units(subject, loaded, known, standing=True)],
        "loaded_tokens": _tokens(subject, loaded.prompt),
        "standing_tokens": sum(tokens for lane, tokens in _line_tokens(subject, loaded) if lane == "constraints"),
        "ms": 1_000 * elapsed,
        "load_ms": loaded.timings_ms["total"],
        "prompt": loaded.prompt,
    }


def _loaded(subject: Subject, user_id: str, text: str, options: Mapping[str, Any]) -> ContextResult:
    """Load until the long-term side has answered, a few times; what it only could not do as asked is no failure."""
    for attempt in range(1, ATTEMPTS + 1):
        session_id = subject.scoped("questions")
        loaded = subject.agent().load_context(session_id, user_id, text, deadline_ms=PATIENCE_MS, **options)
        failed = [item for item in loaded.degraded if item["part"] == "long_term" and item["code"] in _error_codes()]
        if not failed:
            return loaded
        if attempt == ATTEMPTS:
            raise ProviderUnavailableError(
                f"The long-term side did not answer: {failed[0]['code']}. {failed[0]['detail']}".strip(),
                hint="With --out, the same command takes it up from here.",
            )
    raise ProviderUnavailableError


@cache
def _error_codes() -> frozenset[str]:
    def kinds(kind: type[StrataError]) -> Iterator[type[StrataError]]:
        yield kind
        for child in kind.__subclasses__():
            yield from kinds(child)

    return frozenset(kind.code for kind in kinds(StrataError))


def _units(subject: Subject, loaded: ContextResult, known: Origins, *, standing: bool = False) -> list[Unit]:
    """Return what was delivered, in its order; standing constraints, which answer no question, only where asked for."""
    lanes = ("constraints", *LANES) if standing else LANES
    delivered = [(lane, item["memory_id"]) for lane in ("constraints", *LANES) for item in loaded.memories[lane]]
    return [
        Unit(tokens, tuple(known.get(memory_id, ())))
        for (lane, memory_id), (_, tokens) in zip(delivered, _line_tokens(subject, loaded), strict=True)
        if lane in lanes
    ]


def _line_tokens(subject: Subject, loaded: ContextResult) -> list[tuple[str, int]]:
    """Return the lane and the tokens of each memory's line, as rendered; the made-up name of an evaluation aside."""
    lines = [line for line in loaded.prompt.split("\n") if line.startswith("- (")]
    lanes = [lane for lane in ("constraints", *LANES) for _ in loaded.memories[lane]]
    return [(lane, _tokens(subject, line + "\n")) for lane, line in zip(lanes, lines, strict=True)]


def _tokens(subject: Subject, text: str) -> int:
    return _counter.count(text.replace(f"{subject.scope}-", ""))
