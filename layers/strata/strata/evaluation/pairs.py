"""Near-duplicates and conflicts: what becomes of pairs of texts of which somebody has said how they stand.

A file is a JSON list of ``{"old", "new", "want"}``, with ``id``, ``lang`` and ``kind`` where there are any. ``want``
is ``merge``, ``conflict``, ``refine`` or ``keep``; where it is missing the letter of ``kind`` says it. Each pair is
decided by the guard, and once more on the way that a new statement goes: with all texts of the file stored, and only
what similarity proposes compared.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

from strata.dedup import Existing, PairKind, Statement, decide, resolve_all
from strata.errors import InputError
from strata.evaluation.pairs_report import report
from strata.evaluation.report import Report
from strata.evaluation.source import DataFile
from strata.evaluation.subject import Subject
from strata.evaluation.task import Options, Record, Step

BLOCK = 50
"""Pairs of one step."""
OF_KIND = {"a": "merge", "b": "conflict", "c": "keep", "d": "conflict", "e": "keep", "r": "refine"}
"""Paraphrase, contradiction, other entity, update, stranger, refinement."""
SAYS = {
    "merge": "merge", "same": "merge", "duplicate": "merge", "paraphrase": "merge", "equal": "merge",
    "conflict": "conflict", "contradiction": "conflict", "contradict": "conflict", "supersede": "conflict",
    "update": "conflict", "refine": "refine", "refinement": "refine",
}  # fmt: skip
"""Labels and what they mean; any other one means that both are kept."""
DECIDED = {PairKind.MERGE: "merge", PairKind.CONFLICT: "conflict", PairKind.REFINE: "refine", PairKind.DISTINCT: "keep"}
_FIRST = datetime(2026, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """Two texts and how they stand to each other."""

    id: str
    old: str
    new: str
    want: str
    kind: str
    language: str


class PairsTask:
    """``strata eval pairs --data FILE``. ``--limit`` = the first pairs. No product is started, nothing is embedded."""

    needs_data = True
    needs_subject = False

    def plan(self, options: Options) -> Sequence[Step]:
        """Return one step for each block of pairs. Raises InputError."""
        if options.data is None:
            raise InputError("The task pairs needs a data file.", hint="Give --data FILE.")
        found = pairs_of(options.data)[: options.limit]
        return [
            Step(id=f"pairs:{start}", kind="pairs", work=partial(_decided, found, start))
            for start in range(0, len(found), BLOCK)
        ]

    def report(self, _options: Options, records: Mapping[str, Record]) -> Report:
        """Return precision and recall by the guard and by the whole procedure, and what came out wrong."""
        return report([row for record in records.values() for row in record["pairs"]])


def pairs_of(data: DataFile) -> list[Pair]:
    """Return the labelled pairs of a file. Raises InputError: another shape, or no pair with a label."""
    document = data.json_lines() if data.name.endswith(".jsonl") else data.json()
    items = document.get("pairs") if isinstance(document, dict) else document
    if not isinstance(items, list):
        raise InputError(f"{data.name} holds no list of pairs.")
    found = [_pair(item, number, data.name) for number, item in enumerate(items, start=1)]
    labelled = [pair for pair in found if pair.want]
    if not labelled:
        raise InputError(f"No pair of {data.name} says what is wanted.", hint='Give each a "want", or a "kind".')
    twice = [name for name, count in Counter(pair.id for pair in labelled).items() if count > 1]
    if twice:
        raise InputError(f"{data.name}: the id {twice[0]!r} stands for more than one pair.")
    return labelled


def _pair(item: Any, number: int, name: str) -> Pair:  # noqa: ANN401 any JSON value
    texts = [item.get(side) for side in ("old", "new")] if isinstance(item, dict) else []
    old, new = (text if isinstance(text, str) else "" for text in texts) if texts else ("", "")
    if not old.strip() or not new.strip():
        raise InputError(f"{name}, pair {number}: two texts, old and new, are expected.")
    kind = str(item.get("kind") or "")
    return Pair(
        id=str(item.get("id") or f"#{number}"),
        old=old,
        new=new,
        want=_wanted(item.get("want"), kind),
        kind=kind,
        language=str(item.get("lang") or item.get("language") or ""),
    )


def _wanted(label: object, kind: str) -> str:
    if isinstance(label, str) and label.strip():
        return SAYS.get(label.strip().casefold(), "keep")
    return OF_KIND.get(kind[:1].casefold(), "") if len(kind) == 1 else SAYS.get(kind.casefold(), "")


def _decided(found: Sequence[Pair], start: int, _subject: Subject, _done: Mapping[str, Record]) -> Record:
    block = found[start : start + BLOCK]
    stored = [Existing(id=str(place), text=pair.old, said_at=_FIRST) for place, pair in enumerate(found)]
    new = [Statement(text=pair.new, said_at=_FIRST + timedelta(days=1)) for pair in block]
    met = resolve_all(new, stored)
    rows = []
    for place, (pair, resolutions) in enumerate(zip(block, met, strict=True), start=start):
        decision = decide(pair.old, pair.new)
        own = next((one.decision for one in resolutions if one.existing_id == str(place)), None)
        row = {"id": pair.id, "kind": pair.kind, "language": pair.language, "old": pair.old, "new": pair.new}
        row |= {"want": pair.want, "decided": DECIDED[decision.kind], "reason": decision.reason}
        rows.append(row | {"procedure": DECIDED[own.kind] if own else "keep"})
    return {"pairs": rows}
