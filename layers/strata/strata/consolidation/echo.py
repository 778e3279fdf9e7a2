"""Text that Strata itself put into a conversation is never read as something a user said.

A client pastes the rendered memory block into its prompt, and some send the prompt back as a message. What stands
between the block's tags was settled before; extracted again it would come back with a new date after the user had
changed or deleted it.
"""

import re

from strata.model.context import MEMORY_BLOCK_TAG

_NAMES = "|".join((re.escape(MEMORY_BLOCK_TAG), "strata_memor(?:y|ies)", "memory_context"))
_BLOCK = re.compile(rf"<({_NAMES})\b[^>]*>.*?</\1\s*>", re.DOTALL | re.IGNORECASE)


def without_echo(text: str) -> str:
    """Return a text without the memory blocks in it; a tag that nothing closes is somebody's own words."""
    return _BLOCK.sub("", text) if "<" in text else text
