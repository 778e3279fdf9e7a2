"""``strata eval`` as people run it: a process of its own, on conversations made for it."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from strata.evaluation.retrieval.answering import prompt
from tests.doubles.server import Asked, Double, Reply

ROOT = Path(__file__).parents[2]
TIMED = ("_ms", "_ms_p50", "_ms_p95", "_p50", "_p95")
LOADED = ("src=", "href=", "<script", "@import", "url(", "http:", "https:")
"""What a page would load something with."""


@dataclass
class Ran:
    """A finished command."""

    status: int
    screen: str
    errors: str
    out: Path

    @property
    def result(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads((self.out / "result.json").read_text())
        return found

    def numbers(self) -> dict[str, float]:
        """The metrics that do not tell the time."""
        return {name: value for name, value in self.result["metrics"].items() if not name.endswith(TIMED)}


def conversations() -> list[dict[str, Any]]:
    """Two conversations in LoCoMo's format, whose answers share rare words with their questions."""
    things = ["pear tree", "violin", "canoe", "beehive", "telescope", "kiln"]
    found = []
    for name, friend in (("Ann", "Bo"), ("Cleo", "Dan")):
        talk: dict[str, Any] = {"speaker_a": name, "speaker_b": friend}
        asked = []
        for number, thing in enumerate(things[:3] if name == "Ann" else things[3:], start=1):
            lines = [f"I bought a {thing} yesterday.", "How nice, tell me more!", "It was not cheap.", "I see."]
            talk[f"session_{number}_date_time"] = f"1:56 pm on {number} May, 2023"
            talk[f"session_{number}"] = [
                {"speaker": (name, friend)[place % 2], "dia_id": f"D{number}:{place + 1}", "text": line}
                for place, line in enumerate(lines)
            ]
            question = {"question": f"What about the {thing}?", "evidence": [f"D{number}:01"], "answer": thing}
            asked.append({**question, "category": number})
        asked.append({"question": "What about the unicorn?", "evidence": ["D1:1; D2:1"], "category": 5})
        found.append({"sample_id": f"{name}-{friend}", "conversation": talk, "qa": asked})
    return found


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("data") / "talks.json"
    path.write_text(json.dumps(conversations()))
    return path


def command(data: Path, out: Path, *more: str, **settings: str) -> "subprocess.Popen[str]":
    words = [sys.executable, "-m", "strata.cli", "eval", "locomo", "--data", str(data), "--out", str(out), *more]
    environment = {"PATH": os.environ["PATH"], "STRATA_INFERENCE_LOCAL_EMBEDDING": "false", "COLUMNS": "200"}
    pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    return subprocess.Popen(words, cwd=ROOT, env=environment | settings, **pipes)


def ran(data: Path, out: Path, *more: str, **settings: str) -> Ran:
    process = command(data, out, *more, **settings)
    screen, errors = process.communicate(timeout=240)
    return Ran(process.returncode, screen, errors, out)


@pytest.fixture(scope="module")
def first(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Ran:
    done = ran(data, tmp_path_factory.mktemp("out"))
    assert done.status == 0, done.errors
    return done


def test_a_result_names_what_was_measured_and_how(first: Ran, data: Path) -> None:
    result = first.result
    assert (result["task"], result["provider"], result["data"]) == ("locomo", "native", "talks.json")
    assert result["data_sha256"] == sha256(data.read_bytes()).hexdigest()
    assert (result["embedder"], result["judge"], result["model"]) == ("none", "rules", "none")
    assert (result["k"], result["seed"], result["budget"][2]) == ([5, 10, 20], 1, 600)
    assert result["counts"] == {
        "conversations": 2,
        "sessions": 6,
        "turns": 24,
        "questions": 6,
        "questions_apart": 2,
        "facts": result["counts"]["facts"],
        "sessions_not_indexed": 0,
        "failed_runs": 0,
    }


def test_what_shares_rare_words_with_its_question_is_found(first: Ran) -> None:
    metrics = first.result["metrics"]
    assert metrics["turn_recall@5"] == metrics["turn_any@5"] == metrics["recall_in_600_tokens"] == 1.0
    assert metrics["session_any@1"] > 0.7
    assert metrics["full context/turn_recall@5"] == 1.0
    assert metrics["no memory/turn_recall@20"] == 0.0
    assert metrics["bm25/turn_recall@5"] == 1.0
    assert 0.0 < metrics["last messages/turn_recall@10"] < 1.0
    assert "dense/turn_recall@5" not in metrics
    assert all(
        0.0 <= value <= 1.0
        for name, value in first.numbers().items()
        if "tokens@" not in name and "_tokens" not in name[-7:]
    )


def test_intervals_hold_their_numbers(first: Ran) -> None:
    result = first.result
    assert {"turn_recall@10", "turn_any@10", "recall_in_600_tokens", "turn_recall@10/adversarial"} <= set(
        result["intervals"]
    )
    for name, (low, high) in result["intervals"].items():
        assert low - 1e-6 <= result["metrics"][name] <= high + 1e-6, name


def test_the_screen_shows_the_baselines_beside_it(first: Ran) -> None:
    for row in ("native", "bm25", "last messages", "full context", "no memory", "multi-hop", "adversarial"):
        assert f"\n{row} " in first.screen
    assert str(first.out / "result.json") in first.screen


def test_the_page_loads_nothing(first: Ran) -> None:
    page = (first.out / "report.html").read_text()
    assert page.count("<svg") == 2
    assert "prefers-color-scheme: dark" in page
    assert [word for word in LOADED if word in page] == []


def test_a_second_start_asks_nothing_again(first: Ran, data: Path) -> None:
    before = first.result
    again = ran(data, first.out, "--json")
    assert json.loads(again.screen) == {**before, "continued": True}


@pytest.mark.slow
def test_without_a_memory_nothing_is_found(data: Path, tmp_path: Path) -> None:
    done = ran(data, tmp_path, "--provider", "none", "--limit", "1")
    assert done.status == 0, done.errors
    assert done.result["metrics"]["turn_recall@20"] == 0.0
    assert done.result["counts"]["questions"] == 1


@pytest.mark.slow
def test_killed_anywhere_it_ends_as_if_it_had_not_been(first: Ran, data: Path, tmp_path: Path) -> None:
    for lines in (2, 4, 9):
        process = command(data, tmp_path)
        _wait_for_lines(tmp_path / "journal.jsonl", lines, process)
        process.send_signal(signal.SIGKILL)
        process.communicate()
    done = ran(data, tmp_path)
    assert done.status == 0, done.errors
    assert done.result["continued"] is True
    assert done.numbers() == first.numbers()


def _wait_for_lines(path: Path, lines: int, process: "subprocess.Popen[str]") -> None:
    while process.poll() is None:
        if path.exists() and path.read_text().count("\n") >= lines:
            return
        time.sleep(0.01)


class Model:
    """Answers every question with the canoe, and judges as it is told to: by the words."""

    def __init__(self) -> None:
        self.temperatures: set[float] = set()

    def answer(self, asked: Asked) -> Reply:
        system, text = (message["content"] for message in asked.body["messages"][:2])
        self.temperatures.add(asked.body["temperature"])
        said = "{}"
        if system == prompt("answer.en"):
            said = "the canoe"
        elif system == prompt("judge.en"):
            said = "Right." if "Right answer: canoe" in text else "wrong"
        choice = {"message": {"role": "assistant", "content": said}, "finish_reason": "stop"}
        return Reply(body={"model": "stand-in", "choices": [choice], "usage": {}})


@pytest.fixture
def model() -> Iterator[tuple[Model, str]]:
    service = Model()
    with Double(service) as double:
        yield service, double.url


@pytest.mark.slow
def test_with_a_model_answers_are_given_and_judged(data: Path, tmp_path: Path, model: tuple[Model, str]) -> None:
    service, url = model
    settings = {"STRATA_INFERENCE_CHAT_URL": f"{url}/v1", "STRATA_INFERENCE_CHAT_MODEL": "stand-in"}
    done = ran(data, tmp_path, "--limit", "3", **settings)
    assert done.status == 0, done.errors
    result = done.result
    assert result["metrics"]["answer_score"] == pytest.approx(1 / 3, abs=1e-5)
    assert result["metrics"]["answer_score/open-domain"] == 1.0
    assert (result["model"], result["answer_judge"]) == ("stand-in", "stand-in")
    assert "judge.en" in result["prompts"]
    assert service.temperatures == {0}


@pytest.mark.slow
def test_a_running_service_is_measured_over_its_api(first: Ran, data: Path, tmp_path: Path) -> None:
    program = "import sys,pathlib;from strata.local.stack import LocalStack\n"
    program += "s=LocalStack(data_dir=pathlib.Path(sys.argv[1]),port=0);s.start();print(s.url,s.admin_key,flush=True)\n"
    program += "sys.stdin.read();s.stop()"
    environment = {"PATH": os.environ["PATH"], "STRATA_INFERENCE_LOCAL_EMBEDDING": "false"}
    words = [sys.executable, "-c", program, str(tmp_path / "stack")]
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen(words, cwd=ROOT, env=environment, **pipes) as service:
        assert service.stdout is not None
        url, key = service.stdout.readline().split()
        done = ran(data, tmp_path / "out", "--endpoint", url, "--key", key)
        service.communicate("", timeout=30)
    assert done.status == 0, done.errors
    assert done.numbers() == first.numbers()
    assert not (tmp_path / "out" / "stack").exists()
