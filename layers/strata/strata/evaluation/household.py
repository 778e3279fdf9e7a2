"""The household task: what shared memory is worth to people who talk to three agents about one dinner.

Twenty households from a seed, Chinese and English, each with allergies, taboos, tastes, dishes that went down well and
dishes that did not, all told in passing in earlier conversations. Then five turns, in which every agent has to know
what another one was told. Every household is played twice: with the provider, and with the long-term side off.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from strata.errors import InputError
from strata.evaluation.catalogue import catalogue
from strata.evaluation.household_evening import ADVISER, SHOPPER, Evening
from strata.evaluation.household_people import Household, households
from strata.evaluation.household_score import TURNS
from strata.evaluation.report import Cell, Interval, Report, Table
from strata.evaluation.statistics import mean, percentile, wilson
from strata.evaluation.subject import Subject
from strata.evaluation.task import Options, Record, Step

NUMBER = 20
WITHOUT = "none"
NOTES = (
    "Households, sentences and catalogue were written for this task; wording and numbers are not those of real people.",
    "The agents are rules that look for words: they stand for a model, and read less well than one.",
    "preference_hit: answers that fit tastes and name no rejected dish, or know the dish and the wish for less soy.",
    "taboo_contact: picks with an ingredient that somebody must not or will not eat.",
    "follow_ups_per_turn: what an agent had to ask, or to be corrected in.",
    "Without shared memory each agent still has the window of its own session.",
    "Turns follow once what was said before is indexed; how long that takes is measured by the task lag.",
    "The next day is a new session, not a moved clock.",
)


class HouseholdTask:
    """``strata eval household``. ``--limit`` = the first households, ``--k`` (the largest) = memories asked for."""

    needs_data = False
    needs_subject = True

    def plan(self, options: Options) -> Sequence[Step]:
        """Return one step for each household and provider."""
        homes = households(options.seed, NUMBER)[: options.limit]
        modes = [WITHOUT] if options.provider == WITHOUT else [options.provider, WITHOUT]
        return [
            Step(id=f"{home.id}/{mode}", kind=f"households, memory: {mode}", work=partial(_played, home, mode, options))
            for mode in modes
            for home in homes
        ]

    def report(self, options: Options, records: Mapping[str, Record]) -> Report:
        """Return the numbers with memory under their names, and those without as ``without_…``."""
        with_memory, without = (_of(records, mode) for mode in (options.provider, WITHOUT))
        numbers = _metrics(with_memory)
        bare = _metrics(without)
        return Report(
            metrics=numbers | {f"without_{name}": value for name, value in bare.items()},
            intervals=_intervals(with_memory),
            counts={"households": len(with_memory), "turns": len(TURNS) * len(with_memory), **_counts(with_memory)},
            tables=_tables(options.provider, with_memory, without),
            notes=NOTES,
            facts={"judge": _judge(with_memory), "catalogue": f"{len(catalogue().dishes)} dishes"},
        )


def _played(home: Household, mode: str, options: Options, subject: Subject, _done: Mapping[str, Record]) -> Record:
    if subject.agent(ADVISER, provider=mode) is subject.agent(SHOPPER, provider=mode):
        raise InputError("A household talks to several agents.", hint="Give the key of an admin.")
    score = Evening(subject, home, mode, options.seed, top_k=max(options.cutoffs)).play()
    return {"language": home.language, **score.document()}


def _of(records: Mapping[str, Record], mode: str) -> list[Record]:
    return [record for step, record in records.items() if step.endswith(f"/{mode}")]


def _metrics(played: Sequence[Record]) -> dict[str, float]:
    loads = [value for record in played for value in record["load_ms"]]
    return {
        "memory_recall": _share(_there(played)),
        "preference_hit": _share(_flags(played, "hits")),
        "taboo_contact": _share([bool(touched) for record in played for *_, touched in record["picks"]]),
        "follow_ups_per_turn": mean([asked for record in played for asked in record["follow_ups"].values()]),
        "right_dish": _share(_flags(played, "right_dish")),
        "memory_tokens": mean([value for record in played for value in record["tokens"]]),
        "load_p50_ms": percentile(loads, 0.5),
        "load_p95_ms": percentile(loads, 0.95),
    }


def _intervals(played: Sequence[Record]) -> dict[str, Interval]:
    picks = [bool(touched) for record in played for *_, touched in record["picks"]]
    flags = {"memory_recall": _there(played), "preference_hit": _flags(played, "hits"), "taboo_contact": picks}
    return {name: wilson(sum(values), len(values)) for name, values in flags.items()}


def _counts(played: Sequence[Record]) -> dict[str, int]:
    return {
        "facts_needed": len(_there(played)),
        "picks": sum(len(record["picks"]) for record in played),
        "picks_with_taboo": sum(bool(touched) for record in played for *_, touched in record["picks"]),
        "degraded_loads": sum(record["degraded"] for record in played),
    }


def _tables(provider: str, with_memory: Sequence[Record], without: Sequence[Record]) -> list[Table]:
    modes = {f"memory: {provider}": with_memory, "without": without}
    return [
        Table(
            title="Households",
            columns=("", "recall", "preference hit", "taboo contact", "follow-ups per turn", "right dish"),
            rows=[row for name, played in modes.items() for row in _rows(name, played)],
        ),
        Table(
            title="By turn",
            columns=("turn", *(f"{what}, {name}" for what in ("recall", "follow-ups") for name in modes)),
            rows=[_turn_row(turn, list(modes.values())) for turn in TURNS],
        ),
        Table(
            title="Recall by kind of fact",
            columns=("kind", *modes),
            rows=[_kind_row(kind, list(modes.values())) for kind in _kinds(with_memory)],
        ),
        *_failures(with_memory),
    ]


def _failures(played: Sequence[Record]) -> list[Table]:
    """Name each fact that was missing and each pick that was wrong, so that both can be looked into."""
    missed = [(*item, record["language"]) for record in played for item in record["missed"]]
    touched = [(turn, dish, ", ".join(foods)) for one in played for turn, dish, foods in one["picks"] if foods]
    found = (
        Table(title="Facts that did not reach a context", columns=("turn", "kind", "what", "language"), rows=missed),
        Table(title="Picks that touch a taboo", columns=("turn", "dish", "what"), rows=touched),
    )
    return [table for table in found if table.rows]


def _rows(name: str, played: Sequence[Record]) -> list[list[Cell]]:
    parts = {name: list(played)}
    parts |= {f"{name}, {code}": [one for one in played if one["language"] == code] for code in ("zh", "en")}
    return [_row(part, some) for part, some in parts.items() if some]


def _row(name: str, played: Sequence[Record]) -> list[Cell]:
    numbers = _metrics(played)
    shares = [numbers[key] for key in ("memory_recall", "preference_hit", "taboo_contact")]
    return [name, *shares, f"{numbers['follow_ups_per_turn']:.2f}", numbers["right_dish"]]


def _turn_row(turn: str, modes: Sequence[Sequence[Record]]) -> list[Cell]:
    recalls = [
        _share([there for one in played for name, _, there in one["needed"] if name == turn]) for played in modes
    ]
    asked = [f"{mean([one['follow_ups'][turn] for one in played]):.2f}" for played in modes]
    return [turn, *recalls, *asked]


def _kind_row(kind: str, modes: Sequence[Sequence[Record]]) -> list[Cell]:
    return [
        kind,
        *(_share([there for one in played for _, name, there in one["needed"] if name == kind]) for played in modes),
    ]


def _kinds(played: Sequence[Record]) -> list[str]:
    return list(dict.fromkeys(kind for record in played for _, kind, _ in record["needed"]))


def _there(played: Sequence[Record]) -> list[bool]:
    return [there for record in played for *_, there in record["needed"]]


def _flags(played: Sequence[Record], name: str) -> list[bool]:
    return [flag for record in played for _, flag in record[name]]


def _share(flags: Sequence[Any]) -> float:
    return mean([float(bool(flag)) for flag in flags])


def _judge(played: Sequence[Record]) -> str:
    return ", ".join(sorted({record["judge"] for record in played} - {""})) or "none"
