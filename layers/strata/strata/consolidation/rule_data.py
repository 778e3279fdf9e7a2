"""The rule data that ships beside the code: TOML files, read once."""

import tomllib
from functools import cache
from importlib import resources
from typing import Any

_FOLDER = "data"


@cache
def table(name: str) -> dict[str, Any]:
    """Return the parsed file ``consolidation/data/<name>.toml``."""
    source = resources.files("strata.consolidation").joinpath(_FOLDER, f"{name}.toml")
    return tomllib.loads(source.read_text(encoding="utf-8"))
