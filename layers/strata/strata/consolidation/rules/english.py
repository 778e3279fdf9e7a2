"""English statements in the third person: "I'm allergic, my son isn't" → "User is allergic, User's son isn't"."""

import re

_CONTRACTED = {
    "i'm": "User is",
    "i am": "User is",
    "i was": "User was",
    "i've": "User has",
    "i have": "User has",
    "i'd": "User would",
    "i'll": "User will",
    "i do not": "User does not",
    "i don't": "User doesn't",
    "i do": "User does",
    "i haven't": "User hasn't",
    "we're": "User's household is",
    "we are": "User's household is",
    "we were": "User's household was",
    "we've": "User's household has",
    "we have": "User's household has",
    "we'd": "User's household would",
    "we'll": "User's household will",
    "we don't": "User's household doesn't",
    "we do not": "User's household does not",
    "we haven't": "User's household hasn't",
}
_SIMPLE = {
    "i": "User",
    "me": "User",
    "myself": "User",
    "my": "User's",
    "mine": "User's",
    "we": "User's household",
    "us": "User's household",
    "our": "User's",
    "ours": "User's",
    "your": "the assistant's",
}
_ADVERBS = (
    "really|absolutely|just|totally|simply|honestly|always|usually|generally|normally|often|mostly|definitely|also|still"
    "|only|actually|personally|kinda|typically|especially|particularly|genuinely|quite|never|rarely|hardly|all|both|even"
    "|sometimes|currently|now|already|literally|instantly|immediately|physically|seriously|secretly|mainly|much|so|last|first"
)
_WORDS = re.compile(
    rf"\b(?P<subject>i|we)(?P<rest>(?:'(?:m|ve|d|ll|re)|\s+(?:am|are|was|were|have|haven't|do not|don't|do))(?![\w']))"
    rf"|\b(?P<actor>i|we)(?P<adverbs>(?:\s+(?:{_ADVERBS}))*)\s+(?P<verb>[a-z]+)(?![\w'’])"
    r"|\b(?P<you>you)(?=\s+(?:suggest|recommend|pick|g[ia]ve|sen[dt]|ch[oo]se|propose|t[eo]ll?d?|said|book|plan|found|made|had|mention|show|taught|wrote|list|draft))"
    r"|\b(?P<word>i|me|myself|my|mine|we|us|our|ours|your)\b(?!')",
    re.IGNORECASE,
)
_UNCHANGED = frozenset(
    "can could will would should must may might cannot was were did had got went ate came took made saw "
    "said told found felt kept left lost bought brought thought knew grew drew gave broke spoke chose "
    "froze woke wore tore drove rode wrote rose ran began drank sang sank swam rang hid bit slept wept "
    "swept met read cut put set let hit hurt shut quit spent sent built lent bent held sold told stood "
    "understood won sat paid laid heard ought used and or but threw swore swelled stuck struck hung shot "
    "spat lay taught caught fought sought dealt meant dreamt burnt learnt".split()
)
_IRREGULAR = {"have": "has", "do": "does", "go": "goes", "be": "is", "am": "is", "are": "is"}
_PRONOUN = re.compile(r"^(?:he|she)(?P<short>'s(?: (?:been|got|had|gone|\w+ed)\b)?)?(?![\w'])", re.IGNORECASE)
"""*It* is hardly ever a person, and stays."""
_NAMES_NOBODY = re.compile(
    r"^(?:no|never|don't|do not|keep|please|leave|skip|hold|without|stop|use|call|make|avoid|nothing|always)\b",
    re.IGNORECASE,
)


def in_third_person(text: str, person: str) -> str:
    """Return the text about the user instead of by the user; ``person`` replaces a pronoun that opens it."""
    plain = text.replace("’", "'")
    turned = _WORDS.sub(_turned, plain)
    if person:
        turned = _PRONOUN.sub(lambda match: person + _verb(match["short"]), turned, count=1)
    if _NAMES_NOBODY.match(turned) and "User" not in turned:
        return f"User's request: {turned[0].lower()}{turned[1:]}"
    return turned[:1].upper() + turned[1:]


def _verb(short: str | None) -> str:
    """What is left of *he's allergic* or *she's got* when the pronoun has gone."""
    if not short:
        return ""
    return f" has{short[2:]}" if len(short) > len("'s") else " is"


def _turned(match: re.Match[str]) -> str:
    if match["subject"]:
        key = " ".join((match["subject"] + match["rest"]).lower().split())
        return _CONTRACTED.get(key, match.group())
    if match["actor"]:
        return f"{_SIMPLE[match['actor'].lower()]}{match['adverbs']} {_inflected(match['verb'])}"
    if match["you"]:
        return "the assistant"
    return match.group() if match["word"] == "US" else _SIMPLE[match["word"].lower()]


def _inflected(verb: str) -> str:
    """The third person singular of a verb in its base form; other words stay."""
    low = verb.lower()
    if low in _UNCHANGED or (low.endswith("ed") and low not in {"need", "feed", "breed", "bleed", "speed"}):
        return verb
    if low in _IRREGULAR:
        return _IRREGULAR[low]
    if low.endswith(("s", "x", "z", "ch", "sh", "o")):
        return verb + "es"
    if low.endswith("y") and low[-2:-1] not in "aeiou":
        return verb[:-1] + "ies"
    return verb + "s"
