"""From the records of a retrieval task to its report. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from strata.evaluation.report import Cell, Curves, Distribution, Interval, Plot, Table
from strata.evaluation.retrieval import scores
from strata.evaluation.retrieval.material import Question
from strata.evaluation.retrieval.scores import Score, Unit
from strata.evaluation.statistics import bootstrapped, mean, percentile, wilson
from strata.evaluation.task import Options

Ranked = Sequence[Unit]


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A question, what was delivered by each method, and what it took."""

    question: Question
    session_of: Mapping[str, str]
    ranked: Mapping[str, Ranked]
    """Method → its units in order; the first one is what is measured, the others are baselines."""
    record: Mapping[str, Any]


class Retrieval:
    """The numbers of one evaluation."""

    def __init__(self, options: Options, asked: Sequence[Asked], methods: Sequence[str]) -> None:
        self._options = options
        self._methods = methods
        self._asked = [one for one in asked if one.question.counts]
        self._apart = [one for one in asked if not one.question.counts]
        self._everyone = asked
        self._has_sessions = any(len(set(one.session_of.values())) > 1 for one in asked)

    @property
    def subject(self) -> str:
        """Return the name of what is measured."""
        return self._methods[0]

    def metrics(self) -> dict[str, float]:
        """Return every number by its stable name."""
        found: dict[str, float] = {}
        for method in self._methods:
            prefix = "" if method == self.subject else f"{method}/"
            found |= {f"{prefix}{name}": value for name, value in self._of_method(method, self._asked)}
        found |= dict(self._sessions())
        for category, asked in self._categories().items():
            found |= {f"{name}/{category}": value for name, value in self._of_method(self.subject, asked, brief=True)}
        return found | dict(self._as_loaded())

    def intervals(self) -> dict[str, Interval]:
        """Return 95 % intervals: shares of hits by Wilson, means of shares by resampling."""
        found: dict[str, Interval] = {}
        groups = {"": self._asked, **{f"/{name}": asked for name, asked in self._categories().items()}}
        for suffix, asked in groups.items():
            for k in self._options.cutoffs:
                found[f"turn_recall@{k}{suffix}"] = self._resampled([self._at(one, k) for one in asked])
                hits = sum(self._at(one, k).any for one in asked)
                found[f"turn_any@{k}{suffix}"] = wilson(hits, len(asked))
        for budget in self._options.budgets:
            found[f"recall_in_{budget}_tokens"] = self._resampled([self._within(one, budget) for one in self._asked])
        return found

    def tables(self) -> list[Table]:
        """Return the tables for people."""
        tables = [self._ranking_table(), self._budget_table(), self._category_table()]
        return [*tables, self._session_table()] if self._has_sessions else tables

    def plots(self) -> list[Plot]:
        """Return the charts."""
        lines = {
            method: [(budget, self._mean(self._asked, method, budget)) for budget in self._options.budgets]
            for method in self._methods
        }
        times = {
            "question, as the client sees it": [one.record["ms"] for one in self._everyone],
            "context load, in the service": [one.record["load_ms"] for one in self._everyone],
        }
        return [
            Curves(
                title="Evidence recall against tokens",
                x="tokens",
                y="evidence recall",
                lines=lines,
                x_is_logarithmic=True,
            ),
            Distribution(title="Time of a question", x="ms", values=times),
        ]

    # --- one number

    def _at(self, one: Asked, k: int, method: str = "") -> Score:
        return scores.at(one.ranked[method or self.subject], one.question.evidence, k)

    def _within(self, one: Asked, budget: int, method: str = "") -> Score:
        return scores.within(one.ranked[method or self.subject], one.question.evidence, budget)

    def _mean(self, asked: Sequence[Asked], method: str, budget: int) -> float:
        return mean([self._within(one, budget, method).recall for one in asked])

    def _resampled(self, found: Sequence[Score]) -> Interval:
        return bootstrapped([score.recall for score in found], self._options.seed)

    # --- groups of numbers

    def _of_method(self, method: str, asked: Sequence[Asked], *, brief: bool = False) -> Iterator[tuple[str, float]]:
        for k in self._options.cutoffs:
            found = [self._at(one, k, method) for one in asked]
            yield f"turn_recall@{k}", mean([score.recall for score in found])
            yield f"turn_any@{k}", mean([score.any for score in found])
            yield f"turn_all@{k}", mean([score.all for score in found])
            if not brief:
                yield f"tokens@{k}", mean([score.tokens for score in found])
        for budget in self._options.budgets:
            yield f"recall_in_{budget}_tokens", self._mean(asked, method, budget)
        if not brief:
            ranks = [scores.reciprocal(one.ranked[method], one.question.evidence) for one in asked]
            yield "mrr", mean(ranks)

    def _sessions(self) -> Iterator[tuple[str, float]]:
        """Over every question with evidence, those that stand apart too; nothing where there is one session only."""
        for k in (1, *self._options.cutoffs) if self._has_sessions else ():
            found = [
                scores.sessions_at(one.ranked[self.subject], one.question.evidence, one.session_of, k)
                for one in self._everyone
            ]
            yield f"session_any@{k}", mean([score.any for score in found])
            yield f"session_all@{k}", mean([score.all for score in found])
            yield f"session_recall@{k}", mean([score.recall for score in found])

    def _as_loaded(self) -> Iterator[tuple[str, float]]:
        """What a context load with no options of its own delivers."""
        found = [scores.of(units(one.record["loaded"]), one.question.evidence) for one in self._asked]
        yield "loaded_recall", mean([score.recall for score in found])
        yield "loaded_any", mean([score.any for score in found])
        yield "loaded_tokens", mean([one.record["loaded_tokens"] for one in self._asked])
        yield "standing_tokens", mean([one.record["standing_tokens"] for one in self._asked])
        for name in ("ms", "load_ms"):
            times = [one.record[name] for one in self._everyone]
            yield f"question_{name}_p50", percentile(times, 0.5)
            yield f"question_{name}_p95", percentile(times, 0.95)

    def _categories(self) -> dict[str, list[Asked]]:
        names = dict.fromkeys(one.question.category for one in self._everyone)
        return {name: [one for one in self._everyone if one.question.category == name] for name in names if name}

    # --- tables

    def _ranking_table(self) -> Table:
        ks = self._options.cutoffs
        measures = [
            (f"{name}@{k}", key, k) for key, name in (("recall", "R"), ("any", "any"), ("all", "all")) for k in ks
        ]
        rows: list[list[Cell]] = [
            [method, *(self._cell(method, key, k) for _, key, k in measures), *(self._tokens(method, k) for k in ks)]
            for method in self._methods
        ]
        columns = ("method", *(name for name, _, _ in measures), *(f"tokens@{k}" for k in ks))
        note = f"{len(self._asked)} questions; R = mean share of a question's evidence among the first k, in per cent."
        return Table(title="Evidence among the first k", columns=columns, rows=rows, note=note)

    def _cell(self, method: str, key: str, k: int) -> Cell:
        return mean([float(getattr(self._at(one, k, method), key)) for one in self._asked])

    def _tokens(self, method: str, k: int) -> str:
        return f"{mean([self._at(one, k, method).tokens for one in self._asked]):.0f}"

    def _budget_table(self) -> Table:
        rows: list[list[Cell]] = [
            [method, *(self._mean(self._asked, method, budget) for budget in self._options.budgets)]
            for method in self._methods
        ]
        columns = ("method", *map(str, self._options.budgets))
        note = "Whole lines, in order; what does not fit is skipped."
        return Table(title="Evidence recall inside a budget of tokens", columns=columns, rows=rows, note=note)

    def _category_table(self) -> Table:
        rows: list[list[Cell]] = []
        k = self._options.cutoffs[min(1, len(self._options.cutoffs) - 1)]
        for name, asked in {**self._categories(), "all that count": self._asked}.items():
            found = [self._at(one, k) for one in asked]
            low, high = bootstrapped([score.recall for score in found], self._options.seed)
            any_low, any_high = wilson(sum(score.any for score in found), len(found))
            hits, whole = mean([score.any for score in found]), mean([score.all for score in found])
            interval, any_interval = _range(low, high), _range(any_low, any_high)
            rows.append([name, len(asked), mean([s.recall for s in found]), interval, hits, any_interval, whole])
        columns = ("category", "questions", f"R@{k}", "95 %", f"any@{k}", "95 %", f"all@{k}")
        return Table(title=f"By category: {self.subject}", columns=columns, rows=rows)

    def _session_table(self) -> Table:
        found = dict(self._sessions())
        ks = (1, *self._options.cutoffs)
        rows: list[list[Cell]] = [
            [name, *(found[f"session_{key}@{k}"] for k in ks)] for key, name in (("any", "any"), ("all", "all"))
        ]
        note = f"{len(self._everyone)} questions, adversarial ones too; sessions in the order the ranking meets them."
        return Table(title="Sessions", columns=("evidence", *(f"@{k}" for k in ks)), rows=rows, note=note)


def units(entry: Sequence[Sequence[Any]]) -> list[Unit]:
    """Read units from a record."""
    return [Unit(int(tokens), tuple(turns)) for tokens, *turns in entry]


def _range(low: float, high: float) -> str:
    return f"{100 * low:.1f}–{100 * high:.1f}"
