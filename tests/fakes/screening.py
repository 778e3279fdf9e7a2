"""What a screen does, as far as the tests of its callers need it."""


def redacted(text: str) -> str:
    """Hide the one secret of the tests."""
    return text.replace("hunter2", "[secret]")


def instructs(text: str) -> bool:
    """The tests' one way of telling a model what to do."""
    return "以后" in text or "from now on" in text
