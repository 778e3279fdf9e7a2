"""What is chosen, and how the budget is filled."""

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from strata.config import Context
from strata.context.choice import chosen, without_window
from strata.context.inject import Inject, Injection
from strata.model.context import Lane
from strata.model.memories import Hit, Memory
from strata.tokens.counter import MESSAGE_TOKENS, TokenCounter
from tests.fakes.ledger import message
from tests.unit.context.memories import NOW, hit, memory

COUNTER = TokenCounter()
INJECT = Inject(COUNTER, Context())
FRAME = INJECT(chosen([], [hit("x")], Context()), 10_000, NOW).tokens


def injected(budget: int, hits: list[Hit], standing: list[Memory] | None = None) -> Injection:
    return INJECT(chosen(standing or [], hits, Context()), budget, NOW)


def contents(injection: Injection) -> list[str]:
    return [one.text for one in injection.memories]


def dropped(injection: Injection) -> set[tuple[str, str]]:
    return {(one.memory_id, one.reason) for one in injection.dropped}


def test_low_scores_are_dropped_and_named() -> None:
    result = injected(1_000, [hit("喜欢绿茶", 0.31), hit("喜欢红茶", 0.29, name="low")])
    assert contents(result) == ["喜欢绿茶"]
    assert dropped(result) == {("low", "below_score")}


def test_what_does_not_fit_is_skipped_and_what_is_behind_it_may_enter() -> None:
    long = " ".join(f"word{number}" for number in range(400))
    hits = [hit("the user likes green tea", 0.9), hit(long, 0.8, name="long"), hit("the dog is called Rex", 0.7)]
    result = injected(FRAME + 120, hits)
    assert contents(result) == ["the user likes green tea", "the dog is called Rex"]
    assert ("long", "over_budget") in dropped(result)


def test_constraints_come_first_and_nothing_enters_while_one_waits() -> None:
    constraints = [memory(f"never serve dish number {number} to anybody in this house") for number in range(50)]
    result = injected(FRAME + 100, [hit("tea", 0.99)], constraints)
    assert {one.lane for one in result.memories} == {Lane.CONSTRAINT}
    assert 0 < len(result.memories) < 50


def test_the_users_share_is_sixty_percent_and_the_rest_is_the_agents() -> None:
    user = [hit(f"about the user, fact number {number}, told on a quiet evening", 0.9) for number in range(60)]
    own = [
        hit(f"from experience, lesson number {number}, learned in the kitchen", 0.9, collection="agent:a")
        for number in range(60)
    ]
    lanes = [one.lane for one in injected(1_000, [*user, *own]).memories]
    assert 1.2 < lanes.count(Lane.USER) / lanes.count(Lane.AGENT) < 1.8
    alone = injected(1_000, user)
    assert 0 < sum(one.tokens for one in alone.memories) <= 0.6 * 1_000
    unused = injected(1_000, [*user[:3], *own])
    assert [one.lane for one in unused.memories].count(Lane.AGENT) > lanes.count(Lane.AGENT)


def test_a_long_memory_is_cut_visibly_and_named() -> None:
    result = injected(4_000, [hit("很长" * 800, name="long")])
    assert result.memories[0].text.endswith("…[cut]")
    assert len(result.memories[0].text) == 1_000
    assert dropped(result) == {("long", "truncated")}


def test_one_fact_is_delivered_once_across_layers() -> None:
    hits = [hit("用户不吃香菜", 0.9), hit("用户不吃香菜。", 0.8, collection="agent:a", name="again")]
    result = injected(1_000, hits, [memory("用户不吃香菜", name="constraint")])
    assert contents(result) == ["用户不吃香菜"]
    assert result.memories[0].lane is Lane.CONSTRAINT


def test_facts_that_only_look_alike_are_both_delivered() -> None:
    assert len(injected(1_000, [hit("不吃香菜"), hit("不吃芹菜")]).memories) == 2


def test_turns_of_conversations_stand_behind_sentences() -> None:
    hits = [hit("user: 我们昨天聊了茶", 0.95, memory_type="episode"), hit("喜欢绿茶", 0.4)]
    assert contents(injected(1_000, hits)) == ["喜欢绿茶", "user: 我们昨天聊了茶"]


def test_a_share_never_leaves_the_block_empty() -> None:
    long = hit(" ".join(f"word{number}" for number in range(60)))
    needed = injected(100_000, [long]).tokens
    assert contents(injected(needed, [long])) == [long.memory.content]
    assert injected(needed - 1, [long]).memories == ()


def test_a_joined_emoji_is_not_cut_in_half() -> None:
    text = "x" * 991 + "👨\u200d👩\u200d👧" * 3
    assert "\u200d…" not in injected(4_000, [hit(text)]).memories[0].text


def test_turns_that_the_window_shows_are_not_told_again() -> None:
    def turn(seq: int, session_id: str) -> Hit:
        one = hit(f"user: tea {seq} {session_id}", memory_type="episode")
        return replace(one, memory=replace(one.memory, metadata={"session_id": session_id, "seq": seq}))

    window = (message(4, "tea", said_at=NOW), message(5, "tea", said_at=NOW))
    hits = [turn(3, "s"), turn(4, "s"), turn(4, "other"), hit("喜欢绿茶")]
    assert without_window(hits, "s", window) == [hits[0], hits[2], hits[3]]


def test_without_budget_there_is_no_block() -> None:
    result = injected(0, [hit("喜欢绿茶")])
    assert (result.prompt, result.tokens, result.memories) == ("", 0, ())


TEXTS = st.text(alphabet=st.sampled_from("茶饭香菜ab <>&.\n{}😀"), min_size=1, max_size=120)
LAYERS = st.sampled_from(["user:u", "agent:a", "household_001"])


@settings(max_examples=60)
@given(
    budget=st.integers(0, 2_000),
    hits=st.lists(st.builds(hit, TEXTS, st.floats(0, 1), collection=LAYERS), max_size=12),
    standing=st.lists(st.builds(memory, TEXTS), max_size=4),
)
def test_the_block_never_costs_more_than_its_budget_and_no_memory_is_split(
    budget: int, hits: list[Hit], standing: list[Memory]
) -> None:
    result = injected(budget, hits, standing)
    exact = COUNTER.count(result.prompt) + MESSAGE_TOKENS if result.prompt else 0
    assert exact <= result.tokens <= max(budget, 0)
    assert all(one.text == one.hit.memory.content for one in result.memories)
    offered = {one.memory_id for one in standing} | {one.memory.memory_id for one in hits}
    told = {one.hit.memory.memory_id for one in result.memories} | {one.memory_id for one in result.dropped}
    assert told == offered


@settings(max_examples=40)
@given(hits=st.lists(st.builds(hit, TEXTS, st.floats(0.3, 1), collection=LAYERS), min_size=1, max_size=8))
def test_the_list_is_never_empty_when_something_relevant_fits(hits: list[Hit]) -> None:
    distinct = [one.hit for one in chosen([], hits, Context()).chosen]
    costs = [injected(100_000, [one]).tokens for one in distinct]
    assert injected(min(costs), hits).memories
