"""Regular expressions whose word boundaries stand between Latin letters and Han characters, too."""

import re


def pattern(expression: str) -> re.Pattern[str]:
    """``expression`` compiled so that letters, figures and blanks are ASCII: in 用户two, *two* is a word."""
    return re.compile(expression, re.ASCII)
