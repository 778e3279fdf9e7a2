"""The steps of a retrieval task: sessions in, where the memories came from, questions out, answers of a model."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial

from strata.evaluation.report import Report
from strata.evaluation.retrieval import answering, asking, settling
from strata.evaluation.retrieval.baselines import Baselines
from strata.evaluation.retrieval.material import Conversation, Material, Question, Session, limited
from strata.evaluation.retrieval.reporting import Asked, Retrieval, units
from strata.evaluation.retrieval.scores import Unit
from strata.evaluation.statistics import percentile
from strata.evaluation.subject import Subject
from strata.evaluation.task import Options, Record, Step

Records = Mapping[str, Record]

READING = """\
R@k, any@k and all@k count turns among the first k memories that a context load delivers when it is asked for the \
indexed turns (memory_types: episode); at MemOS and Mem0, which keep sentences only, a memory counts for the messages \
that its run names as its sources.
Tokens are cl100k of the lines as rendered. Standing constraints are delivered with every question, answer none, and \
are counted apart (standing_tokens).
loaded_recall and loaded_tokens are of a context load without any option: sentences first, then turns, default budget.
Evidence labels are not complete: other turns may answer as well, so that every recall here understates.""".splitlines()
"""How to read the numbers, a sentence each."""
SESSION = "session:"
DENSE_APART = "Dense alone is left out: over an endpoint there are no vectors of the service to take."


class RetrievalTask:
    """Implements ``Task`` for conversations with questions; a subclass reads its format."""

    needs_data = True
    needs_subject = True

    def read(self, options: Options) -> Material:
        """Read the file. Raises InputError."""
        raise NotImplementedError

    def plan(self, options: Options) -> Sequence[Step]:
        """Return the steps, conversation by conversation. Raises InputError."""
        return [step for conversation in self._conversations(options) for step in _steps(conversation, options)]

    def report(self, options: Options, records: Records) -> Report:
        """Draw the report."""
        material, conversations = self.read(options), self._conversations(options)
        asked = [one for conversation in conversations for one in _asked(conversation, options, records)]
        sessions = [records[_session_id(c, session)] for c in conversations for session in c.sessions]
        numbers = Retrieval(options, asked, list(asked[0].ranked))
        answers = answering.told(options, [(c, records) for c in conversations])
        return Report(
            metrics={**numbers.metrics(), **_inserting(sessions), **answers.metrics},
            intervals={**numbers.intervals(), **answers.intervals},
            counts=_counts(conversations, sessions, asked),
            tables=[*numbers.tables(), *answers.tables],
            plots=numbers.plots(),
            notes=[*READING, *material.notes, *_failures(sessions), *_left_out(asked)],
            facts={"judge": _judges(sessions), **answers.facts},
        )

    def _conversations(self, options: Options) -> tuple[Conversation, ...]:
        return limited(self.read(options).conversations, options.limit)


def _steps(conversation: Conversation, options: Options) -> Iterator[Step]:
    baselines = Baselines(conversation)
    for session in conversation.sessions:
        work = partial(_settle, conversation, session)
        yield Step(id=_session_id(conversation, session), kind="sessions", work=work)
    yield Step(id=_origins_id(conversation), kind="memories", work=partial(_origins, conversation))
    for question in conversation.questions:
        ask = partial(_ask, conversation, question, baselines, keeps_prompt=bool(options.model))
        yield Step(id=question_id(conversation, question), kind="questions", work=ask)
    if options.model:
        yield from answering.steps(conversation)


def _settle(conversation: Conversation, session: Session, subject: Subject, done: Records) -> Record:
    if conversation.is_sentences and not _is_external(subject.provider):
        return settling.inserted(subject, conversation, session)
    gave_up = any(not record["indexed"] for step, record in done.items() if step.startswith(SESSION))
    indexed = subject.provider == "native" and not gave_up
    return settling.settled(subject, conversation, session, indexed=indexed)


def _origins(conversation: Conversation, subject: Subject, done: Records) -> Record:
    sessions = [done[_session_id(conversation, session)] for session in conversation.sessions]
    return settling.origins(subject, conversation, sessions)


def _ask(
    conversation: Conversation,
    question: Question,
    baselines: Baselines,
    subject: Subject,
    done: Records,
    *,
    keeps_prompt: bool,
) -> Record:
    known = done[_origins_id(conversation)]["origins"]
    turns = not conversation.is_sentences and not _is_external(subject.provider)
    found = dict(asking.asked(subject, settling.user_of(subject, conversation), question, known, turns=turns))
    if not keeps_prompt:
        del found["prompt"]
    return {**found, "baselines": baselines.asked(question.text, subject.embedder)}


def _asked(conversation: Conversation, options: Options, records: Records) -> Iterator[Asked]:
    session_of = conversation.session_of()
    newest = Baselines(conversation).newest_first()
    whole = [Unit(sum(unit.tokens for unit in newest), tuple(unit.turns[0] for unit in newest))]
    for question in conversation.questions:
        record = records[question_id(conversation, question)]
        ranked = {options.provider: units(record["ranked"])}
        ranked |= {name: units(found) for name, found in record["baselines"].items()}
        ranked |= {"last messages": newest, "full context": whole, "no memory": []}
        yield Asked(question=question, session_of=session_of, ranked=ranked, record=record)


def _is_external(provider: str) -> bool:
    """Tell whether a provider keeps only what a judge made of a session: no turns, and nothing put in by hand."""
    return provider in {"memos", "mem0"}


def question_id(conversation: Conversation, question: Question) -> str:
    """Return the id of the step that asks a question."""
    return f"question:{conversation.id}:{question.id}"


def _session_id(conversation: Conversation, session: Session) -> str:
    return f"{SESSION}{conversation.id}:{session.id}"


def _origins_id(conversation: Conversation) -> str:
    return f"memories:{conversation.id}"


def _inserting(sessions: Sequence[Record]) -> Mapping[str, float]:
    each = [(session["settle_ms"] / len(session["turns"])) for session in sessions if session["turns"]]
    appends = [session["append_ms"] for session in sessions]
    return {
        "insert_ms_per_turn_p50": percentile(each, 0.5),
        "insert_ms_per_turn_p95": percentile(each, 0.95),
        "append_ms_p50": percentile(appends, 0.5),
        "append_ms_p95": percentile(appends, 0.95),
    }


def _counts(
    conversations: Sequence[Conversation], sessions: Sequence[Record], asked: Sequence[Asked]
) -> dict[str, int]:
    return {
        "conversations": len(conversations),
        "sessions": len(sessions),
        "turns": sum(len(session["turns"]) for session in sessions),
        "questions": sum(one.question.counts for one in asked),
        "questions_apart": sum(not one.question.counts for one in asked),
        "facts": sum(len(session["facts"]) for session in sessions),
        "sessions_not_indexed": sum(not session["indexed"] for session in sessions),
        "failed_runs": sum(session["state"] != "succeeded" for session in sessions),
    }


def _failures(sessions: Sequence[Record]) -> list[str]:
    failed = [session for session in sessions if session["state"] != "succeeded"]
    reasons = sorted({str(session["error"] or session["state"]) for session in failed})
    return [f"{len(failed)} sessions could not be settled: {', '.join(reasons)}."] if failed else []


def _left_out(asked: Sequence[Asked]) -> list[str]:
    return [] if "dense" in asked[0].ranked else [DENSE_APART]


def _judges(sessions: Sequence[Record]) -> str:
    return ", ".join(sorted({session["judge"] for session in sessions if session["judge"]})) or "none"
