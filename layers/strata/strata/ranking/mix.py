"""How much each signal counts, for sentences and for turns of a conversation.

Round numbers, set by hand; none is learned. Those for turns were confirmed by leaving out one of five conversations at
a time: chosen weight by weight on the other four, among three or four round values each, they come out the same or one
step away (``answer``, ``session``, the turn before), and what was chosen without a conversation reaches on it, taken
together, what these reach, within 0.7 points (``tests/training/choose_ranking_weights.py``). Those for sentences do
best, or within a point of it, on two sets of short memories recalled by dialogues, one Chinese and one English.
"""

from dataclasses import dataclass, replace

from strata.model.context import SearchMode


@dataclass(frozen=True, slots=True, kw_only=True)
class Mix:
    """Weights, in standard deviations of a signal."""

    semantic: float
    keyword: float
    common: float = 0.0
    """What is taken off the meaning of a text that is like everything around it."""
    window: float = 0.0
    """BM25 over the turn with its neighbours."""
    date: float = 1.0
    """A date named in the question fits."""
    speaker: float = 0.0
    """Said by the one the question names."""
    neighbours: tuple[float, float, float, float] = (0.0, 0.0, 0.0, 0.0)
    """What the turns one before, one after, two before and two after add of their own score."""
    question: float = 0.0
    """Taken off a turn that only asks."""
    answer: float = 0.0
    """Added to a turn behind one that asks."""
    length: float = 0.0
    """Per natural logarithm of the number of terms; positive where what is longer says more."""
    session: float = 0.0
    """What the best turn of a session adds to all its turns, standardised."""

    def under(self, mode: SearchMode, *, semantic: bool) -> "Mix":
        """Return the weights that a mode leaves, adding up to the same."""
        total = self.semantic + self.keyword + self.window
        if mode is SearchMode.SEMANTIC and semantic:
            return replace(self, semantic=total, keyword=0.0, window=0.0)
        if mode is SearchMode.KEYWORD or not semantic:
            share = total / (self.keyword + self.window)
            return replace(self, semantic=0.0, keyword=self.keyword * share, window=self.window * share)
        return self


FACTS = Mix(semantic=0.6, keyword=0.4, speaker=0.3, length=-0.3)
"""Sentences that stand for themselves. A longer one shares more words with a long question by chance."""
EPISODES = Mix(
    semantic=0.6,
    keyword=0.2,
    window=0.2,
    common=0.6,
    speaker=1.5,
    neighbours=(0.1, 0.1, 0.1, 0.1),
    question=0.6,
    answer=0.3,
    length=0.3,
    session=0.2,
)
"""Turns of a conversation, which are understood by what stands around them."""
