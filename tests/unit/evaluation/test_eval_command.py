"""The command's answers to what cannot be run: a sentence and a status, never a traceback."""

import json
import socket
import sys
from pathlib import Path

import pytest

from strata import cli
from tests.doubles.server import Asked, Double, Reply

GOOD = [{"sample_id": "a", "conversation": {"speaker_a": "A"}, "qa": []}]


def status(monkeypatch: pytest.MonkeyPatch, *words: str) -> int:
    monkeypatch.setattr(sys, "argv", ["strata", "eval", *words])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    return int(ended.value.code or 0)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    contents = {
        "empty.json": "",
        "broken.json": '[{"conversation": ',
        "other.json": json.dumps({"people": 3}),
        "none.json": json.dumps(GOOD),
        "lines.jsonl": '{"a": 1}\n{"b": 2}\n',
    }
    for name, content in contents.items():
        (tmp_path / name).write_text(content)
    (tmp_path / "bytes.json").write_bytes(b"\xff\xfe\xfa")
    return tmp_path


@pytest.mark.parametrize("task", ["locomo", "madial", "memorybank"])
@pytest.mark.parametrize(
    "name", ["empty.json", "broken.json", "other.json", "none.json", "lines.jsonl", "bytes.json", ""]
)
def test_bad_data_ends_with_a_sentence(
    task: str, name: str, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    data = str(folder / (name or "missing.json"))
    assert status(monkeypatch, task, "--data", data, "--out", str(folder / "out")) == 1
    printed = capsys.readouterr().err
    assert printed.startswith("invalid_request: ")
    assert "Traceback" not in printed
    assert not (folder / "out" / "result.json").exists()


@pytest.mark.parametrize(
    "words",
    [
        ["cubes"],
        ["locomo", "--provider", "paper"],
        ["locomo", "--k", "0"],
        ["locomo", "--k", "five"],
        ["locomo", "--budget", ""],
        ["locomo", "--limit", "0"],
        ["locomo", "--seed", "-1"],
    ],
)
def test_bad_options_end_as_usage(words: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    assert status(monkeypatch, *words) == 2


def test_a_task_that_needs_data_says_so(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert status(monkeypatch, "locomo") == 1
    assert "--data" in capsys.readouterr().err


@pytest.fixture
def talk(folder: Path) -> str:
    turn = {"speaker": "A", "dia_id": "D1:1", "text": "hello"}
    conversation = {"speaker_a": "A", "session_1": [turn], "session_1_date_time": "1:56 pm on 8 May, 2023"}
    asked = [{"question": "?", "evidence": ["D1:1"], "category": 1}]
    (folder / "talk.json").write_text(json.dumps([{"sample_id": "a", "conversation": conversation, "qa": asked}]))
    return str(folder / "talk.json")


def test_an_endpoint_that_does_not_answer_ends_with_its_code(
    talk: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}"
        assert status(monkeypatch, "locomo", "--data", talk, "--endpoint", url, "--key", "sk") == 1
    assert capsys.readouterr().err.startswith("unavailable: ")


@pytest.mark.parametrize("url", ["memory", "ftp://127.0.0.1:9", "http://", "http://[", "file:///etc/passwd"])
def test_what_is_no_address_is_refused(
    url: str, talk: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert status(monkeypatch, "locomo", "--data", talk, "--endpoint", url, "--key", "sk") == 1
    assert capsys.readouterr().err.startswith("invalid_request: ")


class Elsewhere:
    """Some other service."""

    def __init__(self, body: object) -> None:
        self.body = body

    def answer(self, asked: Asked) -> Reply:
        return Reply(body=self.body)


@pytest.mark.parametrize("body", [["a list"], {"status": "fine"}, None, "text"])
def test_another_service_is_not_measured(
    body: object, talk: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with Double(Elsewhere(body)) as double:
        assert status(monkeypatch, "locomo", "--data", talk, "--endpoint", double.url, "--key", "sk") == 1
    assert "is not a Strata service" in capsys.readouterr().err


def test_an_endpoint_wants_a_key(
    talk: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("STRATA_CLI_KEY", raising=False)
    assert status(monkeypatch, "locomo", "--data", talk, "--endpoint", "http://127.0.0.1:9") == 1
    assert "--key" in capsys.readouterr().err


def test_a_folder_that_cannot_be_made_is_said(
    talk: str, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    out = str(folder / "talk.json" / "out")
    assert status(monkeypatch, "locomo", "--data", talk, "--out", out) == 1
    assert "cannot be written to" in capsys.readouterr().err
