"""A path finds its route as it does in API Gateway."""

import pytest

from strata.errors import InputError, MethodNotAllowedError, RouteNotFoundError
from strata.local.deployment import Route
from strata.local.routing import Router

MEMORIES = "/v1/collections/{collection}/memories"
ROUTER = Router(
    [
        Route(method="GET", path=f"{MEMORIES}/{{memory_id}}", function="units"),
        Route(method="DELETE", path=f"{MEMORIES}/{{memory_id}}", function="units"),
        Route(method="POST", path=f"{MEMORIES}/search", function="units"),
        Route(method="POST", path=f"{MEMORIES}/{{memory_id}}", function="other"),
        Route(method="GET", path="/v1/health", function="units"),
    ]
)


def test_a_concrete_segment_comes_before_a_variable_one() -> None:
    assert ROUTER.match("POST", "/v1/collections/c/memories/search")[0].function == "units"
    assert ROUTER.match("POST", "/v1/collections/c/memories/m1")[0].function == "other"


def test_a_concrete_route_without_the_method_does_not_hide_a_variable_one() -> None:
    route, matched = ROUTER.match("GET", "/v1/collections/c/memories/search")

    assert route.key == f"GET {MEMORIES}/{{memory_id}}"
    assert matched.parameters == {"collection": "c", "memory_id": "search"}


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("user%3Au1", "user:u1"),
        ("user:u1", "user:u1"),
        ("a%2Fb", "a/b"),
        ("a%3Fb%23c", "a?b#c"),
        ("100%25", "100%"),
        ("a%252Fb", "a%2Fb"),
        ("a+b", "a+b"),
        ("a%20b", "a b"),
        ("%E5%AE%B6", "家"),
        ("%F0%9F%91%A9%E2%80%8D%F0%9F%91%A7", "👩‍👧"),
        ("%00", "\0"),
        ("..", ".."),
    ],
)
def test_a_parameter_is_decoded_once(written: str, meant: str) -> None:
    _, matched = ROUTER.match("GET", f"/v1/collections/{written}/memories/m")

    assert matched.parameters["collection"] == meant
    assert matched.path == f"/v1/collections/{meant}/memories/m"


@pytest.mark.parametrize(
    "path", ["/", "/v1", "/v1/health/", "/v1/health/x", "//v1/health", "/v1/collections//memories/m", "/V1/health"]
)
def test_other_paths_are_not_found(path: str) -> None:
    with pytest.raises(RouteNotFoundError):
        ROUTER.match("GET", path)


def test_another_method_is_told_which_ones_there_are() -> None:
    with pytest.raises(MethodNotAllowedError) as refused:
        ROUTER.match("PATCH", "/v1/collections/c/memories/m")

    assert refused.value.fields == {"allow": "DELETE, GET, POST"}


@pytest.mark.parametrize("written", ["%FF", "%E5%AE", "%ED%A0%80"])
def test_what_is_not_utf_8_is_refused(written: str) -> None:
    with pytest.raises(InputError):
        ROUTER.match("GET", f"/v1/collections/{written}/memories/m")
