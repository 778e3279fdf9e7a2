"""Weekly reports as objects in S3."""

from typing import Any
from urllib.parse import quote

from strata.errors import TransientError
from strata.ports import ReportArchive
from strata.storage.secrets import aws_client


class S3ReportArchive:
    """The port ``ReportArchive`` on a bucket."""

    def __init__(self, client: Any, bucket: str) -> None:  # noqa: ANN401 a boto3 client has no class of its own
        self._client = client
        self._bucket = bucket

    def put(self, tenant: str, week: str, suffix: str, media_type: str, body: bytes) -> None:
        """Store one rendering under ``audits/<tenant>/<week>.<suffix>``; a repeat replaces it.

        Raises:
            TransientError: the bucket cannot be reached, or refuses.
        """
        from botocore.exceptions import BotoCoreError, ClientError

        key = f"audits/{quote(tenant, safe='')}/{week}.{suffix}"
        try:
            self._client.put_object(Bucket=self._bucket, Key=key, Body=body, ContentType=media_type)
        except (BotoCoreError, ClientError) as error:
            message = f"The bucket of the reports does not take them ({type(error).__name__})."
            raise TransientError(message, hint="Check STRATA_MAINTENANCE_AUDIT_BUCKET.") from error


class NoReportArchive:
    """The port ``ReportArchive`` where reports stay in the database alone."""

    def put(self, tenant: str, week: str, suffix: str, media_type: str, body: bytes) -> None:
        """Store nothing."""


def open_report_archive(bucket: str) -> ReportArchive:
    """Return where reports go besides the database: a bucket, or nowhere if none is named."""
    return S3ReportArchive(aws_client("s3"), bucket) if bucket else NoReportArchive()
