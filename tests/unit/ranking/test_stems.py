"""English stems: the published examples, and words that must come back as they are."""

import pytest

from strata.ranking.stems import stem

EXAMPLES = """caresses caress ponies poni cats cat feed feed agreed agre plastered plaster bled bled motoring motor
sing sing conflated conflat troubled troubl sized size hopping hop tanned tan falling fall hissing hiss fizzed fizz
failing fail filing file happy happi sky sky relational relat conditional condit rational ration valenci valenc
digitizer digit radicalli radic differentli differ vileli vile analogousli analog vietnamization vietnam
predication predic operator oper feudalism feudal decisiveness decis hopefulness hope callousness callous
formaliti formal sensitiviti sensit sensibiliti sensibl triplicate triplic formative form formalize formal
electriciti electr electrical electr hopeful hope goodness good revival reviv allowance allow inference infer
airliner airlin gyroscopic gyroscop adjustable adjust defensible defens irritant irrit replacement replac
adjustment adjust dependent depend adoption adopt homologou homolog communism commun activate activ
angulariti angular homologous homolog effective effect bowdlerize bowdler probate probat rate rate cease ceas
controll control roll roll""".split()


@pytest.mark.parametrize(("word", "expected"), list(zip(EXAMPLES[::2], EXAMPLES[1::2], strict=True)))
def test_the_published_examples(word: str, expected: str) -> None:
    assert stem(word) == expected


@pytest.mark.parametrize("word", ["", "is", "香菜", "café", "3.5", "don't"])
def test_what_is_no_lower_case_ascii_word_of_some_length_stays(word: str) -> None:
    assert stem(word) == word


def test_forms_of_one_word_meet() -> None:
    assert stem("allergies") == stem("allergy")
    assert stem("cooking") == stem("cooked") == stem("cooks")
