"""An OpenAI-compatible endpoint on loopback for the real servers of the tests: no model behind it, no key, no chance.

Embeddings hash words and pairs of Han characters, so texts that share words are near each other. Completions keep what
they are shown, one memory per line, in the JSON that either server's extraction prompt asks for.
"""

import hashlib
import json
import math
import re
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import pairwise
from typing import Any

_WORDS = re.compile(r"[a-z0-9]+|[\u3400-\u9fff]")
_HAN = re.compile(r"[\u3400-\u9fff]")
_SPOKEN = re.compile(r"^\s*user:\s*(?:\[[^\]]*\]:\s*)?(\S.*)$", re.MULTILINE)
_NEW_MESSAGES = re.compile(r"## New Messages\s*\n(.*?)(?:\n## |\Z)", re.DOTALL)
_COMMON = 0.7
"""Shared by all: texts without a word in common have a cosine of a third, as with real models."""


class ModelEndpoint(BaseHTTPRequestHandler):
    """``POST …/embeddings`` and ``POST …/chat/completions``."""

    protocol_version = "HTTP/1.1"
    dimensions = 384

    def do_POST(self) -> None:
        """Answer one call."""
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        answer = _embeddings(request, self.dimensions) if self.path.endswith("/embeddings") else _completion(request)
        body = json.dumps(answer, ensure_ascii=False).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_details: object) -> None:
        """Stay silent."""


def embed(text: str, dimensions: int) -> list[float]:
    """Hash a text's words, and its pairs of neighbouring Han characters, to a vector; any two have a part in common."""
    words = _WORDS.findall(text.lower())
    pairs = [left + right for left, right in pairwise(words) if _HAN.match(left)]
    vector = [0.0] * dimensions
    for token in [*words, *pairs]:
        place = int.from_bytes(hashlib.sha256(token.encode()).digest()[:4], "big")
        vector[1 + place % (dimensions - 1)] += 1.0
    length = math.sqrt(sum(value * value for value in vector)) or 1.0
    return [_COMMON, *(value / length for value in vector[1:])]


def _embeddings(request: dict[str, Any], dimensions: int) -> dict[str, Any]:
    texts = request["input"] if isinstance(request["input"], list) else [request["input"]]
    rows = [
        {"object": "embedding", "index": index, "embedding": embed(str(text), dimensions)}
        for index, text in enumerate(texts)
    ]
    usage = {"prompt_tokens": 1, "total_tokens": 1}
    return {"object": "list", "model": "fake", "data": rows, "usage": usage}


def _completion(request: dict[str, Any]) -> dict[str, Any]:
    prompt = "\n".join(_text(message.get("content")) for message in request["messages"])
    message = {"role": "assistant", "content": json.dumps(_extracted(prompt), ensure_ascii=False)}
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    return {
        "id": "fake",
        "object": "chat.completion",
        "created": 0,
        "model": "fake",
        "choices": [choice],
        "usage": usage,
    }


def _extracted(prompt: str) -> dict[str, Any]:
    """What a model would keep: each thing the user says in the last conversation shown."""
    if "memory list" not in prompt:
        return {"memory": []} if '"memory"' in prompt else {}
    said = _SPOKEN.findall(prompt)[-1:]
    kept = [
        {"key": text[:30], "memory_type": "UserMemory", "value": f"The user said: {text}", "tags": []} for text in said
    ]
    return {"memory list": kept, "summary": ""}


def _text(content: object) -> str:
    if isinstance(content, list):
        return "\n".join(str(part.get("text", "")) for part in content)
    return str(content or "")


if __name__ == "__main__":
    port, ModelEndpoint.dimensions = int(sys.argv[1]), int(sys.argv[2])
    ThreadingHTTPServer(("127.0.0.1", port), ModelEndpoint).serve_forever()
