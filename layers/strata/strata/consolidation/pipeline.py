"""The eight steps from a session's messages to shared memory, and what becomes of a run that cannot go through.

    claim → fresh → judge → normalise → prune → conflicts → commit → record (→ summarise, → episodes)

The judge's answer and the plan are stored as soon as they are there; a redelivery takes up what it finds. Failures: a
passing one releases the run and is raised, so that its message comes back; a lasting one marks the run ``failed``; on
the last attempt the run is ``parked``, whatever it was, and the message counts as done, so that it does not drag its
neighbours in the queue along.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from strata.clock import Clock
from strata.consolidation.claim import Claim, Hold
from strata.consolidation.commit import Commit, StepHook
from strata.consolidation.conversation import Conversation
from strata.consolidation.fresh import Fresh
from strata.consolidation.planning import Planning, Remaining
from strata.consolidation.record import Record
from strata.consolidation.timing import Stopwatch
from strata.errors import LeaseLostError, StrataError
from strata.model.runs import Judgement, Plan, Run, RunNotice, RunState
from strata.observability import count, logger
from strata.ports import RunStore

Afterwards = Callable[[Run, Conversation], None]
"""Something that follows a recorded run and may be repeated, e.g. the summary; its failure changes nothing."""
BUGS = (ArithmeticError, AssertionError, AttributeError, LookupError, NameError, RuntimeError, TypeError, ValueError)
"""What a mistake in the program raises. A run that meets one every time is poison, and parked like any other."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Steps:
    """The eight steps, made by ``bootstrap``."""

    claim: Claim
    fresh: Fresh
    planning: Planning
    commit: Commit
    record: Record


class Consolidate:
    """Settles one run."""

    def __init__(
        self,
        steps: Steps,
        runs: RunStore,
        clock: Clock,
        *,
        max_attempts: int,
        afterwards: Sequence[Afterwards] = (),
        on_step: StepHook = lambda _step: None,
    ) -> None:
        self._steps = steps
        self._runs = runs
        self._clock = clock
        self._max_attempts = max_attempts
        self._afterwards = afterwards
        self._on_step = on_step

    def __call__(self, notice: RunNotice, *, attempt: int, remaining_seconds: Remaining) -> Run:
        """Settle the run that a notice names and return it.

        ``attempt`` counts deliveries of the notice from 1; ``remaining_seconds`` is what the invocation has left.

        Raises:
            TransientError: the notice should be delivered again.
        """
        last_chance = attempt >= self._max_attempts
        try:
            claimed = self._steps.claim(notice)
        except LeaseLostError:
            if (run := self._runs.get(notice.tenant, notice.run_id)) is None or not last_chance:
                raise
            return run  # in other hands; if they drop it, reconcile finds it
        if isinstance(claimed, Run):
            return self._settled_before(claimed, attempt)
        self._on_step("claim")
        return self._settled(claimed, remaining_seconds, last_chance=last_chance)

    def _settled(self, hold: Hold, remaining_seconds: Remaining, *, last_chance: bool) -> Run:
        try:
            run, talk = self._run(hold, remaining_seconds, last_chance=last_chance)
        except LeaseLostError:
            logger.warning("run.taken_over", extra={"run_id": hold.run.run_id})
            raise
        except StrataError as error:
            if error.retryable and not last_chance:
                self._release(hold, error)
                raise
            return self._stopped(hold, error, RunState.PARKED if error.retryable else RunState.FAILED)
        except BUGS as error:
            logger.exception("run.crashed", extra={"run_id": hold.run.run_id})
            if not last_chance:
                raise
            return self._stopped(hold, StrataError(type(error).__name__), RunState.PARKED)
        self._steps.claim.give_back(hold.key, run.run_id)
        self._follow_up(run, talk)
        return run

    def _run(self, hold: Hold, remaining_seconds: Remaining, *, last_chance: bool) -> tuple[Run, Conversation]:
        watch = Stopwatch(self._clock, self._on_step)
        with watch("fresh"):
            talk = self._steps.fresh(hold)
        plan = hold.run.plan or self._plan(hold, talk, watch, remaining_seconds, last_chance=last_chance)
        with watch("commit"):
            self._steps.commit(hold, plan, last_chance=last_chance)
        with watch("record"):
            run = self._steps.record(hold, plan, watch.taken_ms)
        self._steps.fresh.remember(hold, talk)
        return run, talk

    def _plan(
        self, hold: Hold, talk: Conversation, watch: Stopwatch, remaining_seconds: Remaining, *, last_chance: bool
    ) -> Plan:
        with watch("judge"):
            hold.judgement = hold.run.judgement or self._judged(hold, talk, remaining_seconds, last_chance=last_chance)
        hold.keep()
        return self._steps.planning.plan(hold.run, talk, hold.judgement, watch, remaining_seconds=remaining_seconds)

    def _judged(self, hold: Hold, talk: Conversation, remaining_seconds: Remaining, *, last_chance: bool) -> Judgement:
        judgement = self._steps.planning.judge(talk, remaining_seconds=remaining_seconds, last_chance=last_chance)
        self._runs.save_judgement(hold.lease, hold.run.tenant, judgement)
        return judgement

    def _release(self, hold: Hold, error: StrataError) -> None:
        logger.warning("run.released", extra={"run_id": hold.run.run_id, "code": error.code})
        self._runs.release(
            hold.lease,
            hold.run.tenant,
            error_code=error.code,
            error_detail=error.message,
            now=self._clock.now(),
        )
        self._steps.claim.give_back(hold.key, hold.run.run_id)

    def _stopped(self, hold: Hold, error: StrataError, state: RunState) -> Run:
        logger.warning("run.stopped", extra={"run_id": hold.run.run_id, "code": error.code, "state": state.value})
        count("RunStopped", dimensions={"state": state.value})
        now = self._clock.now()
        self._runs.fail(hold.lease, hold.run.tenant, state, error_code=error.code, error_detail=error.message, now=now)
        self._steps.claim.give_back(hold.key, hold.run.run_id)
        stopped = self._runs.get(hold.run.tenant, hold.run.run_id)
        return stopped or replace(hold.run, state=state, error_code=error.code, error_detail=error.message)

    def _settled_before(self, run: Run, attempt: int) -> Run:
        """A redelivery of a finished run makes up for what a crash after the record left out."""
        if run.state is RunState.SUCCEEDED and attempt > 1:
            self._follow_up(run, self._steps.fresh.preview(run))
        return run

    def _follow_up(self, run: Run, talk: Conversation) -> None:
        for step in self._afterwards:
            try:
                step(run, talk)
            except StrataError as error:
                logger.warning("run.follow_up_failed", extra={"run_id": run.run_id, "code": error.code})
