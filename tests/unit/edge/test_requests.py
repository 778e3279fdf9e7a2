"""What a request must be before a route sees it."""

import base64
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strata.edge.requests import parsed, prepared
from strata.edge.schemas.ids import checked_id
from strata.errors import InputError, PayloadTooLargeError, StrataError, UnsupportedMediaTypeError, ValidationError

LIMIT = 1_048_576


def event(body: object = None, *, headers: dict[str, str] | None = None, **more: object) -> dict[str, object]:
    return {
        "routeKey": "POST /v1/sessions/{session_id}/messages",
        "rawPath": "/v1/sessions/s/messages",
        "pathParameters": {"session_id": "s"},
        "headers": headers if headers is not None else {"Content-Type": "application/json"},
        "requestContext": {"http": {"method": "POST"}},
        "body": body,
        **more,
    }


def test_a_base64_body_is_handled_like_a_plain_one() -> None:
    text = json.dumps({"role": "user", "content": "你好，世界"}, ensure_ascii=False)
    plain = prepared(event(text), LIMIT)
    encoded = prepared(event(base64.b64encode(text.encode()).decode(), isBase64Encoded=True), LIMIT)
    assert plain["body"] == encoded["body"] == text
    assert encoded["isBase64Encoded"] is False


@pytest.mark.parametrize("name", ["content-type", "Content-Type", "CONTENT-TYPE"])
@pytest.mark.parametrize(
    "value", ["application/json; charset=utf-8", "application/json;charset=UTF-8", "text/plain", ""]
)
def test_header_names_and_usual_content_types_are_accepted(name: str, value: str) -> None:
    assert prepared(event("{}", headers={name: value}), LIMIT)["headers"]["content-type"] == "application/json"


@pytest.mark.parametrize("value", ["multipart/form-data", "text/html", "application/json; charset=gbk"])
def test_a_body_that_is_not_json_in_utf8_is_refused(value: str) -> None:
    with pytest.raises(UnsupportedMediaTypeError):
        prepared(event("{}", headers={"content-type": value}), LIMIT)


def test_bytes_that_are_not_utf8_are_refused() -> None:
    with pytest.raises(UnsupportedMediaTypeError):
        prepared(event(base64.b64encode(b'{"a": "\xff"}').decode(), isBase64Encoded=True), LIMIT)


def test_broken_base64_is_refused() -> None:
    with pytest.raises(InputError):
        prepared(event("%%%", isBase64Encoded=True), LIMIT)


def test_size_is_counted_in_bytes() -> None:
    body = json.dumps("付" * 100, ensure_ascii=False)
    assert prepared(event(body), 302)["body"] == body
    with pytest.raises(PayloadTooLargeError):
        prepared(event(body), 301)


@pytest.mark.parametrize(
    "text", [r'{"a": "\ud83d"}', r'{"\udc00": 1}', r'{"a": ["x\u0000y"]}', r'{"a": "\uDE00\uD83D"}']
)
def test_what_cannot_be_stored_is_refused(text: str) -> None:
    with pytest.raises(ValidationError):
        parsed(text)


def test_a_number_that_cannot_be_read_is_refused() -> None:
    with pytest.raises(ValidationError, match="digits"):
        parsed('{"a": ' + "9" * 5_000 + "}")


def test_escaped_pairs_and_escaped_backslashes_are_text() -> None:
    assert parsed(r'{"a": "\ud83d\ude00 \\ud83d"}') == {"a": "😀 \\ud83d"}


def test_the_six_characters_of_an_escape_are_text() -> None:
    assert parsed(r'{"a": "\\u0000 and \\ud83d"}') == {"a": r"\u0000 and \ud83d"}


@pytest.mark.parametrize("text", ["{", "NaN", '{"a": Infinity}', "", "{'a': 1}"])
def test_what_is_not_json_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r".+"):
        parsed(text)


def test_deep_nesting_is_refused_without_a_crash() -> None:
    with pytest.raises(ValidationError):
        parsed("[" * 200_000 + "]" * 200_000)


def test_a_path_is_rebuilt_from_its_decoded_parameters() -> None:
    odd = "a?b#c/d %41 你"
    made = prepared(event("{}", pathParameters={"session_id": odd}, rawPath="/v1/sessions/a"), LIMIT)
    assert made["rawPath"] == "/v1/sessions/a%3Fb%23c%2Fd%20%2541%20%E4%BD%A0/messages"


@given(st.text())
def test_parsing_never_fails_otherwise(text: str) -> None:
    try:
        parsed(text)
    except (ValueError, StrataError):
        return


@given(st.text(min_size=1, max_size=128, alphabet=st.characters(exclude_categories=("Cc", "Cs"))))
def test_any_plain_text_is_an_id_as_it_stands(value: str) -> None:
    assert checked_id(value) == value


@pytest.mark.parametrize("value", ["", "x" * 129, "a\x00b", "a\nb", "\ud83d", "a\x7f"])
def test_ids_with_control_characters_or_of_wrong_length_are_refused(value: str) -> None:
    with pytest.raises(ValueError, match="an id"):
        checked_id(value)
