"""The consolidation of sessions, wired: eight steps, what follows them, and what operators do with runs."""

from dataclasses import dataclass

from strata.bootstrap.providing import Providing
from strata.bootstrap.stores import Stores
from strata.clock import Clock
from strata.config import Consolidation, Settings
from strata.consolidation import rules, screen
from strata.consolidation.claim import Claim
from strata.consolidation.commit import Commit
from strata.consolidation.conflicts import Conflicts
from strata.consolidation.dry_run import DryRun
from strata.consolidation.fresh import Fresh
from strata.consolidation.judge import Judge
from strata.consolidation.lookup import Lookup
from strata.consolidation.model_conflicts import ModelConflicts
from strata.consolidation.model_judge import ModelJudge
from strata.consolidation.normalise import Normalise, Screen
from strata.consolidation.pairs import Pairs
from strata.consolidation.pipeline import Afterwards, Consolidate, Steps
from strata.consolidation.planning import Planning
from strata.consolidation.prune import Prune
from strata.consolidation.record import Record
from strata.consolidation.rejudge import Rejudge
from strata.consolidation.replay import Replay
from strata.consolidation.undo import TakeBack, Undo
from strata.dedup.similarity import Thresholds
from strata.ports import Chat


@dataclass(frozen=True, slots=True, kw_only=True)
class Consolidating:
    """Everything about runs."""

    consolidate: Consolidate
    replay: Replay
    rejudge: Rejudge
    undo: Undo
    dry_run: DryRun


def wire(
    settings: Settings,
    stores: Stores,
    clock: Clock,
    providing: Providing,
    chat: Chat,
    take_back: TakeBack,
    afterwards: tuple[Afterwards, ...],
) -> Consolidating:
    """Wire it; without a chat model the rules judge and decide."""
    fresh = Fresh(stores.runs, stores.log, stores.sessions, stores.cache, settings.consolidation, clock, screen.redact)
    planning = _planning(settings, stores, clock, providing, chat)
    commit = Commit(stores.runs, stores.memories, stores.embedder, providing.writing, clock, _pass_by)
    steps = Steps(
        claim=Claim(stores.runs, stores.cache, settings.consolidation, clock),
        fresh=fresh,
        planning=planning,
        commit=commit,
        record=Record(stores.runs, clock),
    )
    return Consolidating(
        consolidate=Consolidate(
            steps, stores.runs, clock, max_attempts=settings.queue.max_receives, afterwards=afterwards
        ),
        replay=Replay(stores.runs, stores.queue, clock),
        rejudge=Rejudge(stores.runs, stores.queue, clock),
        undo=Undo(stores.runs, take_back, clock),
        dry_run=DryRun(stores.runs, fresh, planning, clock),
    )


def _planning(settings: Settings, stores: Stores, clock: Clock, providing: Providing, chat: Chat) -> Planning:
    limits, most = settings.inference, settings.consolidation.judge_chars
    by_rules = rules.RuleJudge(stores.embedder if stores.embedder.dimensions else None)
    model = ModelJudge(chat, by_rules, max_tokens=limits.chat_max_tokens, max_chars=most)
    conflicts = ModelConflicts(chat, max_tokens=limits.chat_max_tokens)
    return Planning(
        judge=Judge(rules=by_rules, model=model if chat.model else None, timeout_seconds=limits.chat_timeout_seconds),
        normalise=Normalise(
            settings.consolidation, Screen(redact=screen.redact, instructs=screen.instructs), stores.types.all
        ),
        prune=Prune(Lookup(stores.memories, providing.writing), Pairs(_thresholds(settings.consolidation))),
        conflicts=Conflicts(
            stores.memories,
            providing.writing,
            conflicts if chat.model else None,
            timeout_seconds=limits.chat_timeout_seconds,
        ),
        clock=clock,
    )


def _thresholds(limits: Consolidation) -> Thresholds:
    return Thresholds(characters=limits.jaccard, edits=limits.levenshtein, short=limits.short_text_chars)


def _pass_by(_step: str) -> None:
    """Nobody watches the steps."""
