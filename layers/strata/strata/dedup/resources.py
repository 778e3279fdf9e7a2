"""The room's data files, read from the package they ship in."""

import json
import tomllib
from importlib.resources import files


def load_text(name: str) -> str:
    """The text of one file under ``data/``."""
    return (files("strata.dedup") / "data" / name).read_text(encoding="utf-8")


def load_json(name: str) -> dict[str, str]:
    """One JSON object of strings under ``data/``."""
    return {key: str(value) for key, value in json.loads(load_text(name)).items()}


def load_toml(name: str) -> dict[str, dict[str, str]]:
    """One TOML document of tables of strings under ``data/``."""
    return tomllib.loads(load_text(name))
