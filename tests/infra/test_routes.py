"""The routes a door serves are those the template sends to it: none is forgotten on either side."""

import inspect
import re
from pathlib import Path

import pytest

from strata.local import template
from strata.local.function import Handler, load_handler

ROOT = Path(__file__).parents[2]
DEPLOYMENT = template.read(ROOT / "template.yaml")
PARAMETER, BRACED = re.compile(r"<(\w+)>"), r"{\1}"
BEHIND_THE_API = sorted({route.function for route in DEPLOYMENT.routes})


def served(handler: Handler) -> set[str]:
    """Return the routes of the resolver inside a handler, as API Gateway names them."""
    resolver = inspect.getclosurevars(handler).nonlocals["resolver"]
    routes = [*resolver._static_routes, *resolver._dynamic_routes]
    return {f"{route.method} {PARAMETER.sub(BRACED, route.path)}" for route in routes}


@pytest.mark.parametrize("name", BEHIND_THE_API)
def test_door_and_template_agree(name: str) -> None:
    handler = load_handler(ROOT / "functions", DEPLOYMENT.functions[name])

    assert served(handler) == {route.key for route in DEPLOYMENT.routes if route.function == name}
