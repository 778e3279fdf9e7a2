"""The rule judge: English and Chinese, its rules and weights as data, every decision with its rule and its evidence."""

from strata.consolidation.rules.judging import RuleJudge, judge

__all__ = ["RuleJudge", "judge"]
