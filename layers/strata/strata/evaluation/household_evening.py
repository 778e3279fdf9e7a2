"""The five turns of one household with three agents, through append, end and context; what came of each is recorded.

Only the household's own answers know what is true of it: it agrees to a dish that it can eat, names another one if it
cannot, and says which dish it means when asked. The agents know what the context gives them.
"""

import hashlib
import random
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta

from strata.client import MemoryClient
from strata.clock import SystemClock
from strata.evaluation import household_agents
from strata.evaluation.catalogue import Catalogue, Dish, catalogue
from strata.evaluation.household_people import Fact, Household, Kind, wording
from strata.evaluation.household_reading import Line, Reading, is_about_soy, lines, read
from strata.evaluation.household_score import Score, is_decided, is_there
from strata.evaluation.subject import Subject

ADVISER, SHOPPER, COACH = AGENTS = ("recipe_adviser", "shopper", "cooking_coach")
ZONE = {"zh": "Asia/Shanghai", "en": "Europe/London"}
DEADLINE_MS = 5_000
RUN_SECONDS = 300.0
LAST_TALK_DAYS = 3
INDEX_SECONDS, PAUSE_SECONDS = 20.0, 0.05
CHOOSING = frozenset({"dinner", "shopping", "next_day"})
"""Turns about what somebody will eat."""
SIMMERS = frozenset({"stew", "braise", "soup"})


class Evening:
    """One household's five turns with one provider."""

    def __init__(self, subject: Subject, household: Household, provider: str, seed: int, *, top_k: int) -> None:
        self._home = household
        self._words = wording(household.language)
        self._foods: Catalogue = catalogue()
        self._name = f"{household.id}-{provider}"
        self._user = subject.scoped(self._name)
        self._subject = subject
        self._clients = {agent: subject.agent(agent, provider=provider) for agent in AGENTS}
        self._chance = random.Random(f"{seed}/{household.id}/evening")  # noqa: S311 reproducible, no secret
        self._top_k = top_k
        self._clock = SystemClock()
        self._sent: dict[str, int] = {}
        self._is_native = provider == "native"
        self.score = Score()

    def play(self) -> Score:
        """Tell the facts, then go through the turns."""
        self._tell()
        dish = self._dinner()
        self._less_soy(dish)
        self._shopping(dish)
        self._stewing(dish)
        self._next_day(dish)
        return self.score

    def _tell(self) -> None:
        """Earlier conversations, each with another agent, each ended before the next."""
        now = self._clock.now()
        for number, talk in enumerate(self._home.talks):
            agent, session = AGENTS[number % len(AGENTS)], f"talk{number}"
            said = now - timedelta(days=LAST_TALK_DAYS * (len(self._home.talks) - number))
            self._append(agent, session, talk, said)
            self._end(agent, session)

    def _dinner(self) -> Dish:
        ask = self._chance.choice(self._words["turns"]["dinner"])
        reading = self._load("dinner", ADVISER, "dinner", ask, "dinner", [])
        asked = household_agents.questions(reading, self._words["agents"], tastes_too=True)
        self.score.follow_ups["dinner"] += len(asked)
        picked = household_agents.main_dish(reading, self._foods, self._chance)
        self._judge_pick("dinner", picked.id, picked.ingredients)
        is_liked = self._home.suits(picked) and picked.id not in self._home.keys(Kind.REJECTED)
        self.score.hits.append(("dinner", is_liked))
        is_taken = self._home.is_safe(picked, self._foods) and picked.id not in self._home.keys(Kind.REJECTED)
        dish = picked if is_taken else self._chance.choice(self._home.choice(self._foods))
        proposal = self._said("turns", "proposes", dish=self._called(picked))
        reply = self._said("turns", "agrees" if is_taken else "corrects", dish=self._called(dish))
        self._append(ADVISER, "dinner", [("user", ask), ("assistant", proposal), ("user", reply)])
        self._end(ADVISER, "dinner")
        return dish

    def _less_soy(self, dish: Dish) -> None:
        ask = self._chance.choice(self._words["turns"]["less_soy"])
        reading = self._load("less_soy", COACH, "coach", ask, "dish", [dish.id])
        told = self._which_dish("less_soy", reading, dish)
        answer = self._said("agents", "less_soy", dish=self._called(dish))
        self._append(COACH, "coach", [("user", ask), *told, ("assistant", answer)])
        self._end(COACH, "coach")

    def _shopping(self, dish: Dish) -> None:
        ask = self._chance.choice(self._words["turns"]["shopping"])
        reading = self._load("shopping", SHOPPER, "shopper", ask, "shopping", [dish.id])
        asked = household_agents.questions(reading, self._words["agents"], tastes_too=False)
        self.score.follow_ups["shopping"] += len(asked)
        told = self._which_dish("shopping", reading, dish)
        bought = household_agents.shopping(dish, reading, self._foods, self._chance)
        self._judge_pick("shopping", bought.side.id, (*bought.items, *bought.side_items))
        self.score.hits.append(("shopping", reading.less_soy and reading.dish == dish.id))
        self._append(SHOPPER, "shopper", [("user", ask), *told, ("assistant", self._list(dish, bought, reading))])
        self._end(SHOPPER, "shopper")

    def _stewing(self, dish: Dish) -> None:
        ask = self._chance.choice(self._words["turns"]["stewing" if dish.method in SIMMERS else "cooking"])
        reading = self._load("stewing", COACH, "coach", ask, "dish", [dish.id])
        told = self._which_dish("stewing", reading, dish)
        answer = self._said("agents", "minutes", dish=self._called(dish), minutes=dish.minutes)
        self._append(COACH, "coach", [("user", ask), *told, ("assistant", answer)])
        self._end(COACH, "coach")

    def _next_day(self, dish: Dish) -> None:
        ask = self._chance.choice(self._words["turns"]["next_day"])
        reading = self._load("next_day", ADVISER, "again", ask, "again", [dish.id])
        asked = household_agents.questions(reading, self._words["agents"], tastes_too=False)
        self.score.follow_ups["next_day"] += len(asked)
        self._which_dish("next_day", reading, dish)
        self.score.hits.append(("next_day", reading.less_soy and reading.dish == dish.id))

    def _load(self, turn: str, agent: str, session: str, ask: str, hint: str, dishes: Sequence[str]) -> Reading:
        """Load the context of a turn, and record which of the facts it needs are there.

        Who chooses or buys food also asks who can eat it: two questions, as a careful cook would ask them.
        """
        found = self._asked(agent, session, ask, self._words["agents"]["hints"][hint])
        if turn in CHOOSING:
            found += self._asked(agent, session, self._words["agents"]["check"], "")
        reading = read(found, self._foods)
        for fact in self._needed(turn):
            self.score.enter(turn, fact.kind.value, fact.text, is_there=is_there(fact, found, self._foods))
        for dish in dishes:
            self.score.enter(turn, "decision", dish, is_there=is_decided(dish, found, self._foods))
        if turn in {"shopping", "next_day"}:
            self.score.enter(turn, "wish", "soy", is_there=any(map(is_about_soy, found)))
        return reading

    def _asked(self, agent: str, session: str, question: str, hint: str) -> list[Line]:
        loaded = self._clients[agent].load_context(
            self._session_of(session),
            self._user,
            question,
            context=hint,
            top_k=self._top_k,
            deadline_ms=DEADLINE_MS,
        )
        self.score.load_ms.append(loaded.timings_ms.get("total", 0.0))
        self.score.tokens.append(loaded.usage.get("memories", 0))
        self.score.degraded += bool([one for one in loaded.degraded if one["code"] != "long_memory_off"])
        return lines(loaded, question)

    def _needed(self, turn: str) -> list[Fact]:
        if turn == "dinner":
            return list(self._home.facts)
        needed = {Kind.ALLERGY, Kind.TABOO} if turn in CHOOSING else set()
        return [fact for fact in self._home.facts if fact.kind in needed]

    def _which_dish(self, turn: str, reading: Reading, dish: Dish) -> list[tuple[str, str]]:
        """Ask which dish is meant if it is not known, or be corrected if another one is taken for it."""
        self.score.right_dish.append((turn, reading.dish == dish.id))
        if reading.dish == dish.id:
            return []
        self.score.follow_ups[turn] += 1
        answer = self._said("turns", "answers_dish", dish=self._called(dish))
        return [("assistant", self._words["agents"]["which_dish"]), ("user", answer)]

    def _judge_pick(self, turn: str, dish: str, items: Sequence[str]) -> None:
        touched = sorted(self._home.forbidden(self._foods).intersection(items))
        self.score.picks.append((turn, dish, touched))

    def _list(self, dish: Dish, bought: household_agents.Shopping, reading: Reading) -> str:
        words, language = self._words["agents"], self._home.language
        items = {item: self._foods.ingredients[item].words[language][0] for item in bought.items}
        if reading.less_soy and household_agents.SOY in items:
            items[household_agents.SOY] = words["half"].format(item=items[household_agents.SOY])
        return str(words["list"]).format(
            dish=self._called(dish),
            items=words["comma"].join(items.values()),
            side=self._called(bought.side),
            side_items=words["comma"].join(household_agents.named(bought.side_items, self._foods, language)),
        )

    def _session_of(self, name: str) -> str:
        return self._subject.scoped(f"{self._name}-{name}")

    def _said(self, table: str, name: str, **slots: object) -> str:
        sentences = self._words[table][name]
        chosen = sentences if isinstance(sentences, str) else self._chance.choice(sentences)
        text = str(chosen).format(**slots)
        return text[:1].upper() + text[1:]

    def _called(self, dish: Dish) -> str:
        return dish.names[self._home.language][0]

    def _append(self, agent: str, session: str, talk: Sequence[tuple[str, str]], said: datetime | None = None) -> None:
        at = said or self._clock.now()
        messages = [self._message(session, role, text, at) for role, text in talk]
        zone = ZONE[self._home.language]
        self._clients[agent].append(self._session_of(session), self._user, messages, zone=zone)

    def _message(self, session: str, role: str, text: str, at: datetime) -> Mapping[str, str]:
        """The id says what is said where, so that the same evening played again after a kill adds nothing."""
        place = self._sent[session] = self._sent.get(session, 0) + 1
        digest = hashlib.sha256(text.encode()).hexdigest()[:12]
        said_at = (at.astimezone(UTC) + timedelta(milliseconds=place)).isoformat()
        return {"role": role, "content": text, "message_id": f"{session}#{place}-{digest}", "said_at": said_at}

    def _end(self, agent: str, session: str) -> None:
        client = self._clients[agent]
        run = client.wait_for_run(client.end_session(self._session_of(session)), timeout_seconds=RUN_SECONDS)
        self.score.judge = str(run.get("judge") or self.score.judge)
        if self._is_native:
            self._is_native = self._indexed(client)

    def _indexed(self, client: MemoryClient) -> bool:
        """Wait until the turns of the session are indexed, as people take longer than that to go on; tell whether."""
        ends = self._clock.monotonic() + INDEX_SECONDS
        while sum(1 for _ in client.memories(f"user:{self._user}", memory_types=["episode"])) < sum(
            self._sent.values()
        ):
            if self._clock.monotonic() > ends:
                return False
            self._clock.sleep(PAUSE_SECONDS)
        return True
