"""The room's data files, which ship beside its code."""

import json
import tomllib
from pathlib import Path

_DATA = Path(__file__).parent / "data"


def load_text(name: str) -> str:
    """The text of one file under ``data/``."""
    return (_DATA / name).read_text(encoding="utf-8")


def load_json(name: str) -> dict[str, str]:
    """One JSON object of strings under ``data/``."""
    return {key: str(value) for key, value in json.loads(load_text(name)).items()}


def load_toml(name: str) -> dict[str, dict[str, str]]:
    """One TOML document of tables of strings under ``data/``."""
    return tomllib.loads(load_text(name))
