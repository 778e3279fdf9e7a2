"""Long messages in pieces: nothing of the talk is lost, and junk without end leaves next to nothing to read."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strata.consolidation.pieces import LONGEST, readable
from strata.consolidation.rules import judge
from strata.model.messages import Role
from tests.fakes.ledger import message
from tests.unit.consolidation.test_rules import SAID, ZONE

ALLERGY = "我对花生过敏。"


def pieces(text: str) -> list[str]:
    return [str(piece.content) for piece in readable([message(7, text, role=Role.USER, said_at=SAID)])]


@given(st.text(alphabet="ab。. \n我喜欢茶", max_size=5_000))
def test_what_does_not_repeat_without_end_is_all_there(text: str) -> None:
    found = pieces(text)
    assert all(len(piece) <= LONGEST for piece in found)
    assert set("".join(found)) == set(text)


def test_pieces_end_where_sentences_do_and_keep_their_number() -> None:
    text = "".join(f"第{number}天去了公园散步，看见许多人在放风筝。" for number in range(400))
    found = readable([message(7, text, role=Role.USER, said_at=SAID)])
    assert "".join(str(piece.content) for piece in found) == text
    assert {piece.seq for piece in found} == {7}
    assert all(str(piece.content).endswith("。") for piece in found)


@pytest.mark.parametrize(
    "junk", ["。", "，", ",", "...", "…", "👍", "一", "ไ", "\n", " ", "\t", "'", "-", "_", "A", "a\n", "我喜欢", "我,"]
)
def test_a_fact_is_found_among_a_hundred_thousand_signs_of_which_few_are_read(junk: str) -> None:
    text = junk * (100_000 // len(junk)) + "\n" + ALLERGY
    assert sum(map(len, pieces(text))) < 40
    found = judge(readable([message(1, text, role=Role.USER, said_at=SAID)]), zone=ZONE)
    assert any("花生" in candidate.content for candidate in found)
