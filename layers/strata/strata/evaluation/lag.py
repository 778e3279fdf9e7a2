"""Lag: how long after the end of a session its content can be read, by another agent, through the context load."""

import random
from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import partial

from strata.client import MemoryClient
from strata.clock import SystemClock
from strata.evaluation.isolation_world import SYLLABLES
from strata.evaluation.report import Distribution, Report, Table
from strata.evaluation.statistics import mean, percentile
from strata.evaluation.subject import Subject
from strata.evaluation.task import Options, Record, Step

SESSIONS = 30
MOST_SECONDS = 60.0
"""After that a session counts as never read."""
PAUSE_SECONDS = 0.02
DEADLINE_MS = 5_000
SAID = ("I love the tea from {}, it is my favourite.", "我最喜欢喝{}家的茶。")
ASKED = ("Which tea do I love?", "我喜欢喝哪家的茶？")
NOTES = (
    "readable: from the call that ends a session until a context of another agent shows what was said, over HTTP.",
    "settled: the same run inside the product, from its entry in the ledger until it was recorded.",
)


class LagTask:
    """``strata eval lag``. ``--limit`` = sessions."""

    needs_data = False
    needs_subject = True

    def plan(self, options: Options) -> Sequence[Step]:
        """Return one step for each session; they follow one another, so that no session waits for another."""
        number = options.limit or SESSIONS
        return [
            Step(id=f"session:{place}", kind="sessions", work=partial(_measured, place, options.seed))
            for place in range(number)
        ]

    def report(self, _options: Options, records: Mapping[str, Record]) -> Report:
        """Return p50 and p95 of both, in milliseconds; sessions never read apart."""
        rows = list(records.values())
        readable = [row["readable_ms"] for row in rows if row["readable_ms"] is not None]
        settled = [row["settled_ms"] for row in rows if row["settled_ms"] is not None]
        numbers = _spread("readable", readable) | _spread("settled", settled)
        lines = [
            [name, *(f"{numbers[f'{name}_{share}_ms']:.0f}" for share in SHARES)] for name in ("readable", "settled")
        ]
        return Report(
            metrics={**numbers, "never_readable": mean([float(row["readable_ms"] is None) for row in rows])},
            counts={"sessions": len(rows), "never_readable": len(rows) - len(readable)},
            tables=[Table(title="From end to readable, ms", columns=("", *SHARES), rows=lines)],
            plots=[
                Distribution(title="From end to readable", x="ms", values={"readable": readable, "settled": settled})
            ],
            notes=NOTES,
            facts={"judge": ", ".join(sorted({row["judge"] for row in rows} - {""})) or "none"},
        )


SHARES = {"p50": 0.5, "p95": 0.95, "max": 1.0}


def _spread(name: str, values: Sequence[float]) -> dict[str, float]:
    return {f"{name}_{label}_ms": percentile(values, share) for label, share in SHARES.items()}


def _measured(place: int, seed: int, subject: Subject, _done: Mapping[str, Record]) -> Record:
    """Tell one agent something with a word of its own, end, and let another one ask until it hears the word."""
    word = "".join(random.Random(f"{seed}/{place}/lag").choices(SYLLABLES, k=5)).capitalize()  # noqa: S311 no secret
    teller, asker = subject.agent("teller"), subject.agent("asker")
    user, session = subject.scoped(f"lag-user{place}"), subject.scoped(f"lag-session{place}")
    said = {"role": "user", "content": SAID[place % 2].format(word), "message_id": f"{session}#1"[-128:]}
    teller.append(session, user, [said])
    clock, most_seconds = SystemClock(), 0.0 if subject.provider == "none" else MOST_SECONDS
    started = clock.monotonic()
    run_id = teller.end_session(session)
    while not (found := word in _heard(asker, f"{session}-ask", user, ASKED[place % 2])):
        if clock.monotonic() - started > most_seconds:
            break
        clock.sleep(PAUSE_SECONDS)
    taken = (clock.monotonic() - started) * 1_000
    run = teller.wait_for_run(run_id, timeout_seconds=MOST_SECONDS)
    settled = _between(run.get("created_at"), run.get("finished_at"))
    return {"readable_ms": taken if found else None, "settled_ms": settled, "judge": str(run.get("judge") or "")}


def _heard(asker: MemoryClient, session: str, user: str, question: str) -> str:
    return asker.load_context(session, user, question, deadline_ms=DEADLINE_MS).prompt


def _between(began: str | None, ended: str | None) -> float | None:
    if not began or not ended:
        return None
    return (datetime.fromisoformat(ended) - datetime.fromisoformat(began)).total_seconds() * 1_000
