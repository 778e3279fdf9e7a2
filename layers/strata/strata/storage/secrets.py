"""Secrets of AWS: fetched late, kept in memory, never logged."""

import json
import threading
from collections.abc import Callable, Mapping
from typing import Any

from strata.errors import ConfigurationError, TransientError


def aws_client(service: str) -> Any:  # noqa: ANN401 boto3 makes its clients at run time
    """Return a client with bounded timeouts, in the region that the environment names."""
    import boto3
    from botocore.config import Config

    connect: Any = boto3.client
    limits = Config(connect_timeout=1, read_timeout=3, retries={"mode": "standard", "total_max_attempts": 2})
    return connect(service, config=limits)


class Secret:
    """One secret of Secrets Manager: fetched at the first use, kept, and fetched again after ``forget``."""

    def __init__(self, arn: str, client: Callable[[str], Any] = aws_client) -> None:
        self._arn = arn
        self._client = client
        self._lock = threading.Lock()
        self._text: str | None = None

    def text(self) -> str:
        """Return the secret.

        Raises:
            TransientError: Secrets Manager cannot be reached or refuses.
        """
        with self._lock:
            if self._text is None:
                self._text = self._fetched()
            return self._text

    def fields(self) -> Mapping[str, str]:
        """Return the secret as a JSON object of texts.

        Raises:
            ConfigurationError: it is not one.
        """
        try:
            parsed = json.loads(self.text())
        except ValueError:
            parsed = None
        if not isinstance(parsed, dict):
            raise ConfigurationError("A secret that should be a JSON object is not one.")
        return {name: str(value) for name, value in parsed.items()}

    def forget(self) -> None:
        """Fetch it anew at the next use."""
        with self._lock:
            self._text = None

    def _fetched(self) -> str:
        from botocore.exceptions import BotoCoreError, ClientError

        try:
            return str(self._client("secretsmanager").get_secret_value(SecretId=self._arn)["SecretString"])
        except (BotoCoreError, ClientError) as error:
            message = f"A secret cannot be read ({type(error).__name__})."
            raise TransientError(message) from error
