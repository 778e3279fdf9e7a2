"""The request models of the MemOS server: the real ones where the package is unpacked, its field names in any case.

The package is not installed with what it depends on; its models are imported past everything else in it.
"""

import importlib
import logging
import sys
import types
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError

FOLDER = Path(__file__).parents[2] / ".servers" / "memos-models"
"""Where ``make test`` unpacks it."""

MODELS = {
    "/product/search": "APISearchRequest",
    "/product/add": "APIADDRequest",
    "/product/delete_memory": "DeleteMemoryRequest",
    "/product/get_memory": "GetMemoryRequest",
}
_REQUIRED = {
    "/product/search": {"query": str, "user_id": str},
    "/product/add": {},
    "/product/delete_memory": {},
    "/product/get_memory": {"mem_cube_id": str},
}


def available() -> bool:
    """Whether the real models are here."""
    return (FOLDER / "memos" / "api" / "product_models.py").exists()


def prepare() -> None:
    """Import the models now, where there are any, and not while a request waits."""
    for path in MODELS if available() else ():
        model(path)


def refusal(path: str, body: Mapping[str, Any]) -> tuple[str, str, str] | None:
    """Where, why and by which rule the server refuses a body; None if it takes it."""
    if available():
        try:
            model(path).model_validate(body)
        except ValidationError as error:
            first = error.errors()[0]
            return " -> ".join(["body", *map(str, first["loc"])]), first["msg"], first["type"]
        return None
    missing = [name for name, kind in _REQUIRED[path].items() if not isinstance(body.get(name), kind)]
    return (f"body -> {missing[0]}", "Field required", "missing") if missing else None


@cache
def model(path: str) -> type[BaseModel]:
    """The real model of a route's body."""
    _make_importable()
    found: type[BaseModel] = getattr(importlib.import_module("memos.api.product_models"), MODELS[path])
    return found


def _make_importable() -> None:
    """Stand in for the packages around the models, whose own imports bring in a whole server."""
    for name in ("memos", "memos.api", "memos.memories", "memos.memories.textual", "memos.memories.activation"):
        package = types.ModuleType(name)
        package.__path__ = [str(FOLDER.joinpath(*name.split(".")))]
        sys.modules.setdefault(name, package)
    log: Any = types.ModuleType("memos.log")
    log.get_logger = _silent_logger
    activation: Any = types.ModuleType("memos.memories.activation.item")
    activation.ActivationMemoryItem = dict
    sys.modules.setdefault(log.__name__, log)
    sys.modules.setdefault(activation.__name__, activation)


def _silent_logger(name: str) -> logging.Logger:
    """The models warn of what they ignore; a test that cares looks at the fields."""
    logger = logging.getLogger(name)
    logger.setLevel(logging.ERROR)
    return logger
