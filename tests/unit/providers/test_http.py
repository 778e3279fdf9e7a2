"""The HTTP side against a real server that fails in every way it can."""

import json
import logging
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from strata import errors
from strata.clock import Clock, FakeClock, SystemClock
from strata.config import Providers
from strata.providers.answers import Answer
from strata.providers.credentials import Credential
from strata.providers.deadline import Deadline
from strata.providers.http import Call, Endpoint
from tests.doubles.faults import NO_ANSWER, Fault
from tests.doubles.server import Asked, Double, Reply
from tests.fakes.limits import SLACK_SECONDS, assert_ends_within
from tests.servers.certificates import Certificates

READ = Call(operation="read", path="/things", method="GET")
WRITE = Call(operation="write", path="/things", body={"text": "tea 🍵 \ud800"}, repeatable=False)


class Echo:
    """Answers what it was asked, and counts."""

    def __init__(self) -> None:
        self.served = 0
        self.key = ""

    def answer(self, asked: Asked) -> Reply:
        self.served += 1
        if self.key and asked.headers.get("authorization") != f"Token {self.key}":
            return Reply(status=401, body={"detail": "Invalid API key"})
        return Reply(body={"method": asked.method, "body": asked.body})


@pytest.fixture
def double() -> Iterator[Double]:
    with Double(Echo()) as server:
        yield server


def settings(**changes: Any) -> Providers:
    return Providers(**{"retries": 0, "breaker_failures": 100, **changes})


def ask(double: Double, call: Call = READ, *, seconds: float = 5.0, clock: Clock | None = None, **changes: Any) -> Any:
    clock = clock or SystemClock()
    endpoint = Endpoint("ECHO", double.url, settings(**changes), clock)
    try:
        return endpoint.call(call, Deadline(clock, seconds), Answer.document)
    finally:
        endpoint.close()


def test_an_answer_comes_back_parsed_and_what_has_no_utf8_becomes_a_question_mark(double: Double) -> None:
    assert ask(double)["method"] == "GET"
    assert ask(double, WRITE)["body"] == {"text": "tea 🍵 ?"}


@pytest.mark.parametrize("fault", sorted(NO_ANSWER - {Fault.WRONG_SHAPE}))
def test_every_fault_is_a_typed_error_within_the_deadline(double: Double, fault: Fault) -> None:
    expected = {
        Fault.HANG: errors.ProviderTimeoutError,
        Fault.DRIP_HEAD: errors.ProviderTimeoutError,
        Fault.RATE_LIMITED: errors.RateLimitedError,
        Fault.UNAUTHORIZED: errors.ProviderRejectedError,
        Fault.REDIRECT: errors.ProviderProtocolError,
        Fault.GARBAGE: errors.ProviderProtocolError,
        Fault.HUGE: errors.ProviderProtocolError,
        Fault.HUGE_CHUNKED: errors.ProviderProtocolError,
        Fault.COMPRESSED: errors.ProviderProtocolError,
        Fault.TRUNCATED_JSON: errors.ProviderProtocolError,
        Fault.ACCEPTED_EMPTY: errors.ProviderProtocolError,
        Fault.DEEP: errors.ProviderProtocolError,
    }.get(fault, errors.ProviderUnavailableError)
    endless = fault in {Fault.HANG, Fault.DRIP_HEAD}
    seconds = 0.25 if endless else 5.0
    double.faults.always(fault)

    def fail() -> None:
        with pytest.raises(expected) as caught:
            ask(double, seconds=seconds, max_response_bytes=1_048_576)
        assert type(caught.value) is expected

    assert_ends_within(seconds + SLACK_SECONDS, fail)


@pytest.mark.parametrize("fault", [Fault.LATE, Fault.DRIP])
def test_a_slow_answer_is_taken_while_there_is_time_and_left_when_there_is_none(double: Double, fault: Fault) -> None:
    double.faults.late_seconds, double.faults.drip_seconds = 0.8, 0.02
    double.faults.always(fault)
    assert ask(double)["method"] == "GET"

    def fail() -> None:
        with pytest.raises(errors.ProviderTimeoutError):
            ask(double, seconds=0.2)

    assert_ends_within(0.2 + SLACK_SECONDS, fail)


def test_a_huge_answer_is_refused_unread(double: Double) -> None:
    double.faults.always(Fault.HUGE)
    with pytest.raises(errors.ProviderProtocolError, match="larger than 2048 bytes"):
        ask(double, max_response_bytes=2_048)


def test_a_read_is_repeated_and_a_write_is_not(double: Double) -> None:
    double.faults.once(Fault.CLOSE, times=2)
    assert ask(double, retries=2)["method"] == "GET"
    assert len(double.asked) == 3
    double.faults.once(Fault.CLOSE)
    with pytest.raises(errors.ProviderUnavailableError):
        ask(double, WRITE, retries=2)
    assert len(double.asked) == 4


def test_what_was_never_sent_is_repeated_whatever_it_is() -> None:
    clock = FakeClock()
    endpoint = Endpoint("ECHO", "http://127.0.0.1:9", settings(retries=3), clock)
    before = clock.monotonic()
    with pytest.raises(errors.ProviderUnavailableError):
        endpoint.call(WRITE, Deadline(clock, 60.0), Answer.document)
    assert clock.monotonic() > before  # it waited, and so it tried again
    endpoint.close()


def test_a_wait_that_the_service_asks_for_is_kept_where_it_fits(double: Double) -> None:
    clock = FakeClock()
    double.faults.once(Fault.RATE_LIMITED)
    before = clock.monotonic()
    assert ask(double, clock=clock, retries=1, seconds=10.0)
    assert 1.0 <= clock.monotonic() - before < 1.2
    double.faults.once(Fault.RATE_LIMITED)
    with pytest.raises(errors.RateLimitedError) as caught:
        ask(double, clock=clock, retries=1, seconds=0.9)
    assert caught.value.fields["retry_after_seconds"] == 1


def test_no_repeat_starts_after_the_deadline(double: Double) -> None:
    double.faults.always(Fault.UNAVAILABLE)

    def fail() -> None:
        with pytest.raises(errors.ProviderUnavailableError):
            ask(double, retries=10, seconds=0.3)

    assert_ends_within(0.3 + SLACK_SECONDS, fail)


def test_an_open_breaker_asks_nobody_and_closes_after_its_time(double: Double) -> None:
    clock = FakeClock()
    endpoint = Endpoint("ECHO", double.url, settings(breaker_failures=2, breaker_seconds=15.0), clock)
    double.faults.always(Fault.UNAVAILABLE)
    for _ in range(2):
        with pytest.raises(errors.ProviderUnavailableError):
            endpoint.call(READ, Deadline(clock, 1.0), Answer.document)
    asked = len(double.asked)
    for _ in range(100):
        with pytest.raises(errors.CircuitOpenError):
            endpoint.call(READ, Deadline(clock, 1.0), Answer.document)
    assert len(double.asked) == asked
    double.faults.clear()
    clock.advance(15.0)
    assert endpoint.call(READ, Deadline(clock, 1.0), Answer.document)["method"] == "GET"
    endpoint.close()


def test_a_call_stops_repeating_when_its_breaker_opens(double: Double) -> None:
    double.faults.always(Fault.UNAVAILABLE)
    with pytest.raises(errors.ProviderUnavailableError) as caught:
        ask(double, retries=10, breaker_failures=3)
    assert not isinstance(caught.value, errors.CircuitOpenError)
    assert len(double.asked) == 3


def test_connections_are_kept(double: Double) -> None:
    endpoint = Endpoint("ECHO", double.url, settings(), SystemClock())
    for _ in range(20):
        endpoint.call(READ, Deadline(SystemClock(), 5.0), Answer.document)
    assert double.connections == 1
    endpoint.close()


def test_connections_do_not_leak_from_answers_that_were_refused(double: Double) -> None:
    endpoint = Endpoint("ECHO", double.url, settings(max_response_bytes=1_024), SystemClock())
    before = threading.active_count()
    for _ in range(40):  # more than the pool holds
        double.faults.once(Fault.HUGE)
        with pytest.raises(errors.ProviderProtocolError):
            endpoint.call(READ, Deadline(SystemClock(), 5.0), Answer.document)
    assert endpoint.call(READ, Deadline(SystemClock(), 5.0), Answer.document)
    assert threading.active_count() - before < 40
    endpoint.close()


def test_a_redirect_is_not_followed(double: Double) -> None:
    with Double(Echo()) as elsewhere:
        double.faults.once(Fault.REDIRECT)
        with pytest.raises(errors.ProviderProtocolError):
            ask(double)
        assert elsewhere.asked == []


class TestKeys:
    """A key is sent, renewed, and told to nobody."""

    SECRET = "m0sk_Sehr-Geheim-4711"

    @pytest.fixture
    def locked(self, double: Double) -> Double:
        service: Any = double.service
        service.key = self.SECRET
        return double

    def test_a_rotated_key_is_fetched_again(self, locked: Double) -> None:
        keys = iter(["outdated", self.SECRET])
        credential = Credential("Authorization", "Token", lambda: next(keys))
        endpoint = Endpoint("ECHO", locked.url, settings(), SystemClock(), credential=credential)
        for _ in range(3):
            assert endpoint.call(READ, Deadline(SystemClock(), 5.0), Answer.document)
        assert [asked.headers["authorization"] for asked in locked.asked].count("Token outdated") == 1
        endpoint.close()

    def test_a_wrong_key_is_a_refusal(self, locked: Double) -> None:
        credential = Credential("Authorization", "Token", lambda: "wrong")
        endpoint = Endpoint("ECHO", locked.url, settings(), SystemClock(), credential=credential)
        with pytest.raises(errors.ProviderRejectedError):
            endpoint.call(READ, Deadline(SystemClock(), 5.0), Answer.document)
        endpoint.close()

    def test_no_log_line_error_or_representation_holds_the_key_or_the_text(
        self, locked: Double, caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]
    ) -> None:
        caplog.set_level(logging.DEBUG)
        credential = Credential("Authorization", "Token", lambda: self.SECRET)
        endpoint = Endpoint("ECHO", locked.url, settings(), SystemClock(), credential=credential)
        told = [repr(credential), repr(endpoint), repr(settings(mem0_key=self.SECRET))]
        write = Call(operation="write", path="/things", body={"text": "my-private-words"}, repeatable=False)
        for fault in sorted(NO_ANSWER - {Fault.HANG, Fault.DRIP_HEAD}):
            locked.faults.once(fault, times=2)
            try:
                endpoint.call(write, Deadline(SystemClock(), 5.0), Answer.document)
            except errors.StrataError as error:
                chain = [error, error.__cause__, error.__context__]
                told += [repr(one) + str(one) + json.dumps(getattr(one, "fields", {}), default=str) for one in chain]
            locked.faults.clear()
        output = capsys.readouterr()
        everything = "\n".join([*told, output.out, output.err, caplog.text])
        assert "provider.failed" in everything
        assert self.SECRET not in everything
        assert "my-private-words" not in everything
        endpoint.close()

    @pytest.mark.parametrize("key", ["", "two words", "schlüssel", "line\nbreak"])
    def test_what_no_header_can_carry_is_refused_without_repeating_it(self, key: str) -> None:
        with pytest.raises(errors.ConfigurationError) as caught:
            Credential("Authorization", "Token", lambda: key).header()
        assert not key or key not in caught.value.message


class TestAddresses:
    """What may be configured."""

    @pytest.mark.parametrize(
        "url", ["", "memos", "ftp://host", "http://", "http://host:port", "http://host?x=1", "http://u:p@host"]
    )
    def test_no_address(self, url: str) -> None:
        with pytest.raises(errors.ConfigurationError):
            Endpoint("ECHO", url, settings(), SystemClock())

    def test_a_key_does_not_travel_unencrypted(self) -> None:
        key = Credential("Authorization", "Token", lambda: "k")
        with pytest.raises(errors.ConfigurationError, match="https"):
            Endpoint("ECHO", "http://memory.example.com", settings(), SystemClock(), credential=key)
        Endpoint("ECHO", "https://memory.example.com", settings(), SystemClock(), credential=key).close()
        Endpoint("ECHO", "http://memory.example.com", settings(), SystemClock()).close()

    def test_certificates_that_cannot_be_read(self) -> None:
        with pytest.raises(errors.ConfigurationError, match="CA_FILE"):
            Endpoint("ECHO", "https://host", settings(ca_file="/nowhere.pem"), SystemClock())


class TestTls:
    """A server behind TLS is verified, and its deadline holds."""

    @pytest.fixture
    def secure(self, certificates: Certificates) -> Iterator[Double]:
        with Double(Echo(), certificates=certificates) as server:
            yield server

    def test_a_trusted_server_answers(self, secure: Double, certificates: Certificates) -> None:
        assert ask(secure, ca_file=str(certificates.ca))["method"] == "GET"

    def test_an_unknown_one_gets_nothing(self, secure: Double) -> None:
        with pytest.raises(errors.ProviderUnavailableError):
            ask(secure)
        assert secure.asked == []

    def test_the_deadline_holds(self, secure: Double, certificates: Certificates) -> None:
        secure.faults.always(Fault.DRIP_HEAD)

        def fail() -> None:
            with pytest.raises(errors.ProviderTimeoutError):
                ask(secure, ca_file=str(certificates.ca), seconds=0.4)

        assert_ends_within(0.4 + SLACK_SECONDS, fail)
