"""What a caller reads of an error."""

from strata.edge.problems import MAX_FINDING_CHARS, told


def test_the_first_finding_is_told_in_words() -> None:
    found = [{"loc": ("body", "content"), "msg": "Field required"}]
    assert told(found) == "body.content: Field required."
    assert told(found * 3) == "body.content: Field required (2 more)."
    assert told([{"loc": ("body", "ttl"), "msg": "Value error, 不能为负。"}]) == "body.ttl: 不能为负."


def test_a_key_that_somebody_made_up_does_not_fill_the_answer() -> None:
    assert (
        len(told([{"loc": ("body", "x" * 100_000), "msg": "Extra inputs are not permitted"}])) <= MAX_FINDING_CHARS + 1
    )
