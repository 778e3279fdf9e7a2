"""Requests and answers say nothing of their content where they are written down."""

from typing import Any

import pytest
from pydantic import ValidationError

from strata.edge.schemas.sessions import AppendIn, SkippedOut

SECRET = "my allergy is nobody's business"


def append(**more: Any) -> AppendIn:
    return AppendIn.model_validate({"user_id": "ann", "messages": [{"role": "user", "content": SECRET}], **more})


def test_what_people_said_is_in_no_line_of_a_log() -> None:
    body = append()
    assert body.messages[0].content == SECRET
    assert SECRET not in f"{body} {body!r} {body.messages!r}"
    skipped = SkippedOut(index=0, reason=SECRET)
    assert SECRET not in f"{skipped} {skipped!r}"


def test_a_zone_is_one_of_the_known_ones() -> None:
    assert append(zone="Asia/Shanghai").zone == "Asia/Shanghai"
    for zone in ("Asia/Atlantis", "../../etc/passwd", ""):
        with pytest.raises(ValidationError):
            append(zone=zone)
