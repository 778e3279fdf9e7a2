"""What every test stands on: servers on demand, settings of nobody in particular, examples found without a clock."""

import os
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

pytest_plugins = ["tests.servers.plugin"]

no_clock: dict[str, Any] = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}
settings.register_profile("here", **no_clock)
settings.register_profile("ci", derandomize=True, database=None, **no_clock)
settings.load_profile("ci" if os.environ.get("CI") else "here")


def pytest_configure(config: pytest.Config) -> None:
    """Keep the tester's own settings and credentials out: of Strata's, none; of AWS's, false ones."""
    for name in [name for name in os.environ if name.startswith(("STRATA_", "AWS_"))]:
        del os.environ[name]
    os.environ.update(
        AWS_ACCESS_KEY_ID="tests",
        AWS_DEFAULT_REGION="eu-west-1",
        AWS_EC2_METADATA_DISABLED="true",
        AWS_SECRET_ACCESS_KEY="tests",
    )
