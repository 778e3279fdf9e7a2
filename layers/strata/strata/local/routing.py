"""Which route a path takes: concrete segments before variable ones, as API Gateway chooses.

An id may hold any character, so segments are told apart before they are decoded and ``%2F`` stays inside its segment.
(API Gateway's HTTP API decodes first: there a slash in an id makes another path.)
"""

from collections.abc import Iterable
from urllib.parse import unquote_to_bytes

from strata.errors import InputError, MethodNotAllowedError, RouteNotFoundError
from strata.local.deployment import Route
from strata.local.events import Matched


class Router:
    """The routes of one API."""

    def __init__(self, routes: Iterable[Route]) -> None:
        self._routes = sorted(((tuple(route.path.split("/")), route) for route in routes), key=_variables_last)

    def match(self, method: str, path: str) -> tuple[Route, Matched]:
        """Return the route of a request and what it says.

        Raises:
            InputError: the path is not percent-encoded UTF-8.
            RouteNotFoundError: no route has this path.
            MethodNotAllowedError: routes have this path, but not with the method; ``fields["allow"]`` names theirs.
        """
        segments = [_decoded(segment) for segment in path.split("/")]
        fitting = [(pattern, route) for pattern, route in self._routes if _fits(pattern, segments)]
        for pattern, route in fitting:
            if route.method == method:
                named = zip(pattern, segments, strict=True)
                parameters = {name[1:-1]: value for name, value in named if _is_variable(name)}
                return route, Matched(route_key=route.key, path="/".join(segments), parameters=parameters)
        if fitting:
            raise MethodNotAllowedError(fields={"allow": ", ".join(sorted({route.method for _, route in fitting}))})
        raise RouteNotFoundError


def _variables_last(entry: tuple[tuple[str, ...], Route]) -> list[bool]:
    return [_is_variable(segment) for segment in entry[0]]


def _is_variable(segment: str) -> bool:
    return segment.startswith("{")


def _fits(pattern: tuple[str, ...], segments: list[str]) -> bool:
    if len(pattern) != len(segments):
        return False
    return all(
        bool(given) if _is_variable(name) else name == given for name, given in zip(pattern, segments, strict=True)
    )


def _decoded(segment: str) -> str:
    try:
        return unquote_to_bytes(segment).decode()
    except UnicodeDecodeError:
        raise InputError("The path is not UTF-8.") from None
