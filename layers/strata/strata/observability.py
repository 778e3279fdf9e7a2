"""Structured logs and metrics: event names with fields, never sentences.

``logger.info("run.recorded", extra={...})`` is one JSON line with the correlation id of the request. Counters are kept
as EMF metrics. Secrets and message texts never go into a field.
"""

from collections.abc import Mapping

from aws_lambda_powertools import Logger
from aws_lambda_powertools.metrics import MetricUnit, single_metric

SERVICE = "strata"
NAMESPACE = "Strata"

logger = Logger(service=SERVICE, use_rfc3339=True, utc=True, log_uncaught_exceptions=False)
"""The one logger; its level follows ``STRATA_LOG_LEVEL`` once settings are read."""

_switches = {"metrics": True}


def set_level(level: str) -> None:
    """Set the level of the logs."""
    logger.setLevel(level)


def mute_metrics() -> None:
    """Write no metric lines: on one machine nobody collects them from standard output."""
    _switches["metrics"] = False


def count(name: str, value: int = 1, *, dimensions: Mapping[str, str] | None = None) -> None:
    """Emit one counter, e.g. ``CacheWriteFailed``."""
    if not _switches["metrics"]:
        return
    with single_metric(name=name, unit=MetricUnit.Count, value=value, namespace=NAMESPACE) as metric:
        metric.add_dimension(name="service", value=SERVICE)
        for key, text in (dimensions or {}).items():
            metric.add_dimension(name=key, value=text)
