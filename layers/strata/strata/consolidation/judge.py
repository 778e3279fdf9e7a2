"""Step 3, judge: who decides what is worth keeping.

A model if there is one, asked once. A failed call, an empty or an unusable answer → the rules, on the new messages
alone; the judgement says who judged and why. An outage is never taken for "nothing to remember".
"""

from collections.abc import Callable

from strata.consolidation.conversation import Conversation
from strata.consolidation.model_judge import ModelJudge
from strata.consolidation.pieces import readable
from strata.consolidation.texts import is_of_user
from strata.errors import DeadlineExceededError, InferenceUnavailableError, JudgeOutputError, StrataError
from strata.model.runs import Judgement
from strata.observability import count, logger
from strata.ports import RuleJudge

RESERVE_SECONDS = 8.0
"""Kept back for the steps after the judge."""
LEAST_SECONDS = 5.0
"""With less than this for its answer a model is not asked."""
EMPTY = "empty_answer"
"""The judgement's error if the model found nothing: no outage, so not judged again later."""


class Judge:
    """Step 3."""

    def __init__(self, *, rules: RuleJudge, model: ModelJudge | None, timeout_seconds: float) -> None:
        self._rules = rules
        self._model = model
        self._timeout_seconds = timeout_seconds

    def __call__(
        self, conversation: Conversation, *, remaining_seconds: Callable[[], float], last_chance: bool
    ) -> Judgement:
        """Return the judgement.

        Raises:
            DeadlineExceededError: too little time to ask the model, and another attempt will have more.
        """
        is_spoken_to = any(is_of_user(message) for message in conversation.fresh)
        if self._model is None or not is_spoken_to:
            return self._by_rules(conversation)
        seconds = min(self._timeout_seconds, remaining_seconds() - RESERVE_SECONDS)
        if seconds < LEAST_SECONDS and not last_chance:
            raise DeadlineExceededError
        try:
            return self._model(conversation, timeout_seconds=max(seconds, LEAST_SECONDS))
        except (InferenceUnavailableError, JudgeOutputError) as error:
            return self._by_rules(conversation, _why(error))

    def _by_rules(self, conversation: Conversation, error: str = "") -> Judgement:
        if error:
            logger.warning("judge.rules", extra={"reason": error})
            count("JudgedByRules", dimensions={"reason": error})
        fresh, around = readable(conversation.fresh), readable(conversation.around)
        found = self._rules(fresh, zone=conversation.zone_name, context=around)
        return Judgement(candidates=tuple(found), judge="rules", error=error)


def _why(error: StrataError) -> str:
    reason = error.fields.get("reason")
    return reason if isinstance(reason, str) else error.code
