"""Powertools' HTTP resolver, made safe for threads.

The library keeps the event of the present request on a class attribute, which is right inside Lambda, where an
environment handles one event at a time, and wrong wherever one process serves several requests at once.
"""

import threading
from collections.abc import Mapping
from typing import Any

from aws_lambda_powertools.event_handler import APIGatewayHttpResolver


class ThreadedResolver(APIGatewayHttpResolver):
    """Keeps event, Lambda context and routing context per thread."""

    def __init__(self, **options: Any) -> None:  # noqa: ANN401 handed on as they are
        self._present = threading.local()
        super().__init__(**options)

    @property
    def current_event(self) -> Any:  # noqa: ANN401 the library's event types
        """The event of this thread's request."""
        return self._present.event

    @current_event.setter
    def current_event(self, value: object) -> None:
        self._present.event = value

    @property
    def lambda_context(self) -> Any:  # noqa: ANN401 Lambda's context
        """The Lambda context of this thread's request."""
        return self._present.lambda_context

    @lambda_context.setter
    def lambda_context(self, value: object) -> None:
        self._present.lambda_context = value

    @property
    def context(self) -> dict[str, Any]:
        """The routing context of this thread's request."""
        if not hasattr(self._present, "context"):
            self._present.context = {}
        context: dict[str, Any] = self._present.context
        return context

    @context.setter
    def context(self, value: dict[str, Any]) -> None:
        self._present.context = value

    def tell(self, **facts: object) -> None:
        """Put facts into this thread's routing context; they are forgotten when the request is answered."""
        self.context.update(facts)

    def resolve(self, event: Mapping[str, Any], context: Any) -> dict[str, Any]:  # noqa: ANN401 Lambda's context
        """Answer one request; what this thread knew of it is forgotten afterwards."""
        self.current_event = self._to_proxy_event(dict(event))
        self.lambda_context = context
        try:
            return self._build_response(self._resolve())
        finally:
            self.context.clear()
