"""The local queue gets the very message that SQS would get."""

from typing import NoReturn

import boto3
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from strata.clock import FakeClock
from strata.errors import QueueUnavailableError
from strata.local.http_server import HttpServer
from strata.local.journal import Journal
from strata.local.notices import LocalRunQueue
from strata.local.queue import FifoQueue
from strata.local.sqs import SqsError
from strata.local.sqs_endpoint import MAX_BODY_BYTES, SqsApi, refusal
from strata.model.runs import RunNotice
from strata.storage.queue import SqsRunQueue
from tests.local.parts import RUNS

identifiers = st.text(
    st.characters(exclude_categories=("Cs", "Cc"), exclude_characters="\ufffe\uffff"), min_size=1, max_size=128
)
notices = st.builds(
    RunNotice, tenant=identifiers, session_id=identifiers, run_id=identifiers, upto_seq=st.integers(0, 10**12)
)


def test_both_queues_get_the_same_message(queue: FifoQueue, dead: FifoQueue) -> None:
    api = SqsApi({"runs": queue, "dead": dead})
    server = HttpServer(0, api.respond, refusal, max_body_bytes=MAX_BODY_BYTES)
    server.start()
    client = boto3.client("sqs", endpoint_url=server.url)
    notice = RunNotice(tenant="家", session_id="a/b 👩‍👧", run_id="r1", upto_seq=7)

    SqsRunQueue(f"{server.url}/0/dead", lambda: client).send(notice, deduplication="again")
    LocalRunQueue(queue).send(notice, deduplication="again")
    server.stop()
    client.close()

    [over_sqs], [here] = dead.receive(), queue.receive()
    assert (over_sqs.body, over_sqs.group, over_sqs.deduplication) == (here.body, here.group, here.deduplication)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(notices)
def test_a_notice_of_any_ids_is_taken(queue: FifoQueue, notice: RunNotice) -> None:
    LocalRunQueue(queue).send(notice)


def test_a_repeat_is_swallowed_unless_it_is_wanted(queue: FifoQueue, clock: FakeClock) -> None:
    sender = LocalRunQueue(queue)
    notice = RunNotice(tenant="t", session_id="s", run_id="r", upto_seq=1)
    sender.send(notice)
    sender.send(notice)
    sender.send(notice, deduplication="replay")

    assert len(queue.receive(10)) == 2


class Full(FifoQueue):
    def send(self, *_: object, **__: object) -> NoReturn:
        raise SqsError("OverLimit", "The queue is full.")


def test_a_refusal_is_the_port_s_error(journal: Journal, clock: FakeClock) -> None:
    with pytest.raises(QueueUnavailableError, match="full"):
        LocalRunQueue(Full(RUNS, journal, clock)).send(RunNotice(tenant="t", session_id="s", run_id="r", upto_seq=1))


def test_what_was_received_is_put_off_and_strange_receipts_are_passed_over(queue: FifoQueue, clock: FakeClock) -> None:
    LocalRunQueue(queue).send(RunNotice(tenant="t", session_id="s", run_id="r", upto_seq=1))
    [message] = queue.receive()
    LocalRunQueue(queue).postpone({"made up": 1, message.receipt: 5})
    clock.advance(4)
    assert queue.receive() == []
    clock.advance(1)
    assert len(queue.receive()) == 1
